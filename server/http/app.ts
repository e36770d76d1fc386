/**
 * The HTTP server: fastify in front (body limit, CORS, graceful close), then the order every request takes:
 * body size, token, path, version, body, project in the path, operation, and the engine.
 */
import { randomUUID } from 'node:crypto';
import cors from '@fastify/cors';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Fault, fault } from '#domain/faults.ts';
import type { Operation } from '#generated/operations.ts';
import type { Caller, Identity } from '../identity/identity.ts';
import { isObject, parseBody } from './body.ts';
import { RequestCtx, type Shared } from './ctx.ts';
import type { Engine } from './engine.ts';
import { faultBody, plainBody, unauthorizedBody } from './faults.ts';
import { type LinkBases, project } from './projection.ts';
import { type Match, matchPath, paramsFor } from './router.ts';
import { EXPERIMENTAL_HEADER, readVersion, VERSION_HEADER } from './version.ts';
import { versionDocument } from './versions.ts';

export interface AppOptions {
  shared: Shared;
  engine: Engine;
  identity: Identity;
  /** which texts in a path's first segment are taken for a project id */
  projectIdRegex: string;
  /** the address clients are told; made from the Host header when null */
  endpoint: string | null;
  allowedOrigins: readonly string[];
  /** adds `X-Shoal-Statements`, the number of SQL statements a request took */
  showStatements: boolean;
  log: RequestLog;
}

/** One line for each request; `error` is what a 5xx hid from the client. */
export type RequestLog = (entry: {
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
}) => void;

const BODY_LIMIT = 114_688;
const JSON_TYPE = 'application/json';

/** What a request has come to, as far as it got: headers and the log are written from it. */
interface Progress {
  requestId: string;
  started: number;
  version?: number;
  versioned: boolean;
  experimental: boolean;
  caller?: Caller;
  operation?: Operation;
  ctx?: RequestCtx;
}

declare module 'fastify' {
  interface FastifyRequest {
    progress: Progress;
  }
}

export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const app = Fastify({
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: 'idle',
    requestTimeout: 60_000,
    keepAliveTimeout: 65_000,
    genReqId: () => '',
    exposeHeadRoutes: false,
    frameworkErrors: (_error, _request, reply) =>
      plain(reply as unknown as FastifyReply, 404, 'Not Found', NOTHING),
  });
  app.decorateRequest('progress');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, (_request, body, done) =>
    done(null, body),
  );
  if (options.allowedOrigins.length > 0) await app.register(cors, corsOptions(options.allowedOrigins));

  app.addHook('onRequest', async (request) => {
    request.progress = {
      requestId: `req-${randomUUID()}`,
      started: performance.now(),
      versioned: false,
      experimental: false,
    };
  });
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, options.log));
  app.get('/healthcheck', async (_request, reply) => reply.type('text/plain; charset=UTF-8').send('OK'));
  app.get('/', (request, reply) => {
    reply
      .code(300)
      .header('Content-Type', JSON_TYPE)
      .send(Buffer.from(versionDocument(endpointOf(request, options))));
  });
  const answer = (request: FastifyRequest, reply: FastifyReply) => route(request, reply, options);
  app.route({
    method: ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'],
    url: '/*',
    handler: answer,
  });
  return app;
}

const NOTHING = 'The resource could not be found.';

async function route(request: FastifyRequest, reply: FastifyReply, options: AppOptions): Promise<unknown> {
  const { progress } = request;
  const [path, search = ''] = splitUrl(request.raw.url!);
  const segments = segmentsOf(path);
  if (segments?.[0] !== 'v2') return plain(reply, 404, 'Not Found', NOTHING);
  if (segments.length === 1)
    return reply
      .code(302)
      .header('Location', `${endpointOf(request, options)}/v2/`)
      .type('text/plain')
      .send('');
  if (request.method === 'OPTIONS') return reply.code(200).send('');

  const caller = await options.identity.authenticate(header(request, 'x-auth-token'), progress.requestId);
  if (!caller) return unauthorized(reply, options.identity, progress);
  progress.caller = caller;

  const rest = segments.slice(1);
  const root = rest.length === 1 && rest[0] === '';
  const found = root ? null : find(request.method, rest, new RegExp(`^(?:${options.projectIdRegex})$`));
  if (found === undefined) return plain(reply, 404, 'Not Found', NOTHING, progress);

  progress.versioned = true;
  progress.experimental = header(request, EXPERIMENTAL_HEADER.toLowerCase())?.toLowerCase() === 'true';
  progress.version = readVersion(header(request, VERSION_HEADER.toLowerCase()));
  const endpoint = endpointOf(request, options);
  if (!found) return send(reply, progress, 200, versionDocument(endpoint));

  const query = Object.fromEntries(new URLSearchParams(search));
  const { operation, params, body } = select(request, found.match, progress);
  if (found.projectId !== undefined && found.projectId !== caller.projectId) throw fault('wrongProjectInUrl');
  progress.operation = operation;
  const ctx = new RequestCtx(options.shared, caller, {
    id: progress.requestId,
    version: progress.version,
    links: linkBases(endpoint, found.projectId),
    url: request.raw.url!,
  });
  progress.ctx = ctx;
  const result = await options.engine.handle({ operation, params, query, body, ctx });
  const projected = project(operation, result, ctx);
  if (options.showStatements) reply.header('X-Shoal-Statements', ctx.db.statements);
  options.log(logEntry(request, operation.success));
  return send(reply, progress, operation.success, projected === undefined ? '' : JSON.stringify(projected));
}

/** The operation among those that share this path and method: by action name, then by version. */
function select(
  request: FastifyRequest,
  match: Match,
  progress: Progress,
): { operation: Operation; params: Record<string, string>; body: unknown } {
  const version = progress.version!;
  const isAction = match.candidates.some(({ operation }) => operation?.actions);
  let name: string | undefined;
  let body: unknown;
  if (isAction) {
    body = parseBody(request.body as Buffer | undefined, header(request, 'content-type'));
    const keys = isObject(body) ? Object.keys(body) : [];
    if (keys.length !== 1) throw fault('oneAction', { count: keys.length });
    name = keys[0]!;
    if (
      !match.candidates.some(({ operation }) => operation?.actions?.some((action) => action.name === name))
    ) {
      throw fault('unknownAction', { action: name, version: `2.${version}` }, 400);
    }
  }
  const candidate = match.candidates.find(({ operation, since, until }) => {
    if (!operation || version < since || version > until) return false;
    if (version < operation.since || version > operation.until) return false;
    return (
      !operation.actions ||
      operation.actions.some((a) => a.name === name && version >= a.since && version <= a.until)
    );
  });
  if (!candidate) throw fault('notFound');
  const operation = candidate.operation!;
  if (!progress.experimental && operation.experimental?.some((w) => version >= w.since && version <= w.until))
    throw fault('notFound');
  if (!isAction && operation.body)
    body = parseBody(request.body as Buffer | undefined, header(request, 'content-type'));
  return { operation, params: paramsFor(match, candidate), body };
}

/** With and without the project id in front, and with the `.json` that some clients append. */
function find(
  method: string,
  segments: readonly string[],
  projectId: RegExp,
): { match: Match; projectId?: string } | undefined {
  const bare = matchPath(method, segments);
  if (bare) return { match: bare };
  if (segments.length > 1 && projectId.test(segments[0]!)) {
    const match = matchPath(method, segments.slice(1));
    if (match) return { match, projectId: segments[0]! };
  }
  const last = segments.at(-1)!;
  return last.endsWith('.json')
    ? find(method, [...segments.slice(0, -1), last.slice(0, -5)], projectId)
    : undefined;
}

function splitUrl(url: string): [path: string, search?: string] {
  const at = url.indexOf('?');
  return at < 0 ? [url] : [url.slice(0, at), url.slice(at + 1)];
}

/** Decoded segments; doubled slashes at the front count once. undefined when the encoding is broken. */
function segmentsOf(path: string): string[] | undefined {
  try {
    const raw = path.replace(/^\/+/, '').split('/');
    return path.includes('%') ? raw.map(decodeURIComponent) : raw;
  } catch {
    return undefined;
  }
}

function header(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function endpointOf(request: FastifyRequest, options: AppOptions): string {
  return options.endpoint ?? `http://${request.headers.host ?? 'localhost'}`;
}

function linkBases(endpoint: string, projectId: string | undefined): LinkBases {
  const project = projectId === undefined ? '' : `/${projectId}`;
  return { self: `${endpoint}/v2${project}`, bookmark: `${endpoint}${project}` };
}

/** Sends an answer under /v2 with the headers that all of them carry. */
function send(reply: FastifyReply, progress: Progress, status: number, body: string): FastifyReply {
  reply.code(status);
  reply.header('x-compute-request-id', progress.requestId);
  reply.header('x-openstack-request-id', progress.requestId);
  if (progress.versioned) {
    reply.header(VERSION_HEADER, progress.version === undefined ? '2.0' : `2.${progress.version}`);
    if (progress.experimental) reply.header(EXPERIMENTAL_HEADER, 'True');
    reply.header('Vary', VERSION_HEADER);
  }
  if (body === '') return reply.send('');
  // As bytes: to a text, fastify would append a charset that the API doesn't have.
  reply.header('Content-Type', JSON_TYPE);
  return reply.send(Buffer.from(body));
}

function plain(
  reply: FastifyReply,
  code: number,
  title: string,
  message: string,
  progress?: Progress,
): FastifyReply {
  if (progress) reply.header('x-openstack-request-id', progress.requestId);
  return reply
    .code(code)
    .header('Content-Type', JSON_TYPE)
    .send(Buffer.from(plainBody(code, title, message)));
}

function unauthorized(reply: FastifyReply, identity: Identity, progress: Progress): FastifyReply {
  reply.header('WWW-Authenticate', identity.challenge).header('x-openstack-request-id', progress.requestId);
  return reply
    .code(401)
    .header('Content-Type', JSON_TYPE)
    .send(Buffer.from(unauthorizedBody('The request needs a valid token in X-Auth-Token.')));
}

/** Values that the database can't hold are the client's mistake, found late: the column says where. */
const VALUE_ERRORS = new Set([1366, 1406, 1264, 1292, 3988, 1300]);

function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  log: RequestLog,
): FastifyReply {
  const known = asFault(error);
  if (!known) {
    return plain(
      reply,
      413,
      'Request Entity Too Large',
      `The request body is larger than ${BODY_LIMIT} bytes.`,
    );
  }
  log({ ...logEntry(request, known.status), ...(known.status >= 500 ? { error } : {}) });
  if (known.retryAfter !== undefined) reply.header('Retry-After', String(known.retryAfter));
  return send(reply, request.progress, known.status, faultBody(known));
}

/** What an error is to the client; undefined for a body over the limit. Anything unforeseen is a 500 without details. */
function asFault(error: unknown): Fault | undefined {
  if (error instanceof Fault) return error;
  const { code, errno, sqlMessage, statusCode } = error as {
    code?: string;
    errno?: number;
    sqlMessage?: string;
    statusCode?: number;
  };
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return undefined;
  if (errno !== undefined && VALUE_ERRORS.has(errno)) {
    const column = /column .*?[`']?(\w+)[`']? at row/i.exec(sqlMessage ?? '')?.[1];
    return fault('invalidInput', {
      reason: `a value can't be stored${column ? ` as ${column}` : ''}: it is too long, out of range or has characters outside the Basic Multilingual Plane`,
    });
  }
  if (
    code === 'ECONNREFUSED' ||
    code === 'PROTOCOL_CONNECTION_LOST' ||
    code === 'ECONNRESET' ||
    code === 'ETIMEDOUT' ||
    code === 'ENOENT'
  ) {
    return new Fault('unavailable', { reason: 'the database does not answer' }, undefined, 1);
  }
  if (statusCode !== undefined && statusCode < 500)
    return fault('invalidInput', { reason: (error as Error).message }, statusCode);
  return fault('internal');
}

function logEntry(request: FastifyRequest, status: number): Parameters<RequestLog>[0] {
  const { progress } = request;
  return {
    requestId: progress.requestId,
    method: request.method,
    path: splitUrl(request.raw.url!)[0],
    status,
    durationMs: Math.round((performance.now() - progress.started) * 1000) / 1000,
    operation: progress.operation?.id,
    projectId: progress.caller?.projectId,
    userId: progress.caller?.userId,
    statements: progress.ctx?.db.statements,
  };
}

function corsOptions(origins: readonly string[]) {
  return {
    origin: [...origins],
    methods: ['GET', 'POST', 'PUT', 'DELETE'],
    allowedHeaders: ['Content-Type', 'X-Auth-Token', VERSION_HEADER, EXPERIMENTAL_HEADER],
    exposedHeaders: [VERSION_HEADER, 'X-OpenStack-Request-ID'],
  };
}
