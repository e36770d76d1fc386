/** What must be true of every answer, whatever was asked. */
import { type Agent, request as startRequest } from 'node:http';
import type { BadRequest } from './requests.ts';

export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
}

/** No request may take longer, however odd. */
const DEADLINE_MS = 10_000;

/** Sends it exactly as it is. Fails when no answer comes in time, or the connection breaks first. */
export function send(base: URL, agent: Agent, bad: BadRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method, path, headers, body } = bad;
    const outgoing = startRequest({
      ...{ host: base.hostname, port: base.port, method, path, headers, agent },
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    let answered = false;
    outgoing.on('response', async (response) => {
      answered = true;
      try {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode!, headers: response.headers, text });
      } catch (error) {
        reject(error);
      }
    });
    outgoing.on('error', (error) => {
      // The server may hang up on a body that is too large before it is all sent; its answer counts.
      if (!answered) reject(error);
    });
    outgoing.end(body);
  });
}

const faultNames: Readonly<Record<number, string>> = {
  400: 'badRequest',
  403: 'forbidden',
  404: 'itemNotFound',
  405: 'badMethod',
  409: 'conflictingRequest',
  413: 'overLimit',
  415: 'badMediaType',
  501: 'notImplemented',
};

/** Operations that say of themselves, by 501, that they aren't served yet. */
const notServed = new Set(['ensureShares']);

/** What is wrong with an answer of an operation; undefined when it is as any of the API must be. */
export function problemOf({ status, headers, text }: Answer, operation: string): string | undefined {
  if (status >= 500 && !(status === 501 && notServed.has(operation))) return `answered ${status}`;
  if (!/^req-[0-9a-f-]{36}$/.test(String(headers['x-openstack-request-id'])))
    return 'x-openstack-request-id is missing';
  if (status < 400) return undefined;
  const body = parse(text);
  if (body === undefined) return `the body of the ${status} is not JSON`;
  return isFault(status, body) ? undefined : `the body of the ${status} is not a fault`;
}

function isFault(status: number, body: unknown): boolean {
  if (!isObject(body)) return false;
  // Of no operation: what matches no route, or is too large to be looked at.
  const plain = typeof body.title === 'string' && body.code === `${status} ${body.title}`;
  if ((status === 404 || status === 413) && plain) return typeof body.message === 'string';
  const names = Object.keys(body);
  const name = status === 401 ? 'error' : (faultNames[status] ?? 'computeFault');
  if (names.length !== 1 || names[0] !== name) return false;
  const fault = body[name];
  return isObject(fault) && fault.code === status && typeof fault.message === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
