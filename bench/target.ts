/** A service that is measured, and how to speak to it. */
import { Connection } from './connection.ts';

export interface Target {
  name: 'Shoal' | 'reference';
  host: string;
  port: number;
  /** the processes whose CPU time counts: those of the API */
  pids: readonly number[];
}

/** Hex, as project ids are; of the bench alone. */
export const projects = {
  /** holds the shares that are read */
  reads: 'be5c03000a',
  /** gets the shares that are created */
  creates: 'be5c03000b',
} as const;

export interface Call {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  project?: string;
  admin?: boolean;
  body?: unknown;
}

export interface JsonAnswer {
  status: number;
  /** undefined when there is none, or it isn't JSON */
  body: unknown;
  head: string;
}

/** A whole request as it goes over the wire. */
export function requestText(target: Target, call: Call): string {
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const roles = call.admin ? 'admin,member,reader' : 'member,reader';
  const lines = [
    `${call.method ?? 'GET'} ${call.path} HTTP/1.1`,
    `Host: ${target.host}:${target.port}`,
    `X-Auth-Token: be5c0001:${call.project ?? projects.reads}:${roles}`,
    'X-OpenStack-Manila-API-Version: 2.99',
    'Accept: application/json',
    ...(body === undefined
      ? []
      : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

export async function send(target: Target, connection: Connection, call: Call): Promise<JsonAnswer> {
  const { status, head, body } = await connection.send(requestText(target, call));
  return { status, head, body: json(body) };
}

/** One call on a connection of its own. Throws, with the answer, when the status isn't one of the 200s. */
export async function call<T = unknown>(target: Target, call: Call): Promise<T> {
  const connection = new Connection(target.host, target.port);
  try {
    const { status, body } = await send(target, connection, call);
    if (status < 200 || status > 299)
      throw new Error(
        `${target.name} answered ${call.method ?? 'GET'} ${call.path} with ${status} ${JSON.stringify(body)}`,
      );
    return body as T;
  } finally {
    connection.close();
  }
}

/** Does `work` for 0…count-1, at most `width` at once, each with a connection of its worker's own. */
export async function inParallel(
  target: Target,
  count: number,
  width: number,
  work: (i: number, connection: Connection) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    const connection = new Connection(target.host, target.port);
    try {
      while (next < count) await work(next++, connection);
    } finally {
      connection.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(width, count) }, worker));
}

function json(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
