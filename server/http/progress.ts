/** What a request has come to, as far as it got: its answer's headers and its line in the log are written from it. */
import type { FastifyRequest } from 'fastify';
import type { Operation } from '#generated/operations.ts';
import type { Caller } from '../identity/identity.ts';
import type { RequestCtx } from './ctx.ts';

export interface Progress {
  requestId: string;
  started: number;
  /** the version asked for, as it was written: answers repeat it */
  versionText?: string;
  version?: number;
  experimental: boolean;
  caller?: Caller;
  operation?: Operation;
  ctx?: RequestCtx;
  /** the answer tells how many SQL statements it took */
  showStatements?: boolean;
  /** what a 5xx hid from the client */
  error?: unknown;
}

declare module 'fastify' {
  interface FastifyRequest {
    progress: Progress;
  }
}

/** One line for each request. */
export interface RequestLogEntry {
  requestId: string;
  method: string;
  path: string;
  status: number;
  durationMs: number;
  operation?: string;
  projectId?: string;
  userId?: string;
  statements?: number;
  error?: unknown;
}

export function logEntry({ progress, method, raw }: FastifyRequest, status: number): RequestLogEntry {
  return {
    requestId: progress.requestId,
    method,
    path: raw.url!.split('?', 1)[0]!,
    status,
    durationMs: Math.round((performance.now() - progress.started) * 1000) / 1000,
    operation: progress.operation?.id,
    projectId: progress.caller?.projectId,
    userId: progress.caller?.userId,
    statements: progress.ctx?.db.statements,
    ...(progress.error === undefined ? {} : { error: progress.error }),
  };
}
