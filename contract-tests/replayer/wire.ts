/**
 * HTTP as it is: requests go out with exactly the method, path, headers and body given, however odd, over connections
 * that are kept open.
 */
import { Agent, type IncomingMessage, request as startRequest } from 'node:http';
import type { Answer } from './comparison.ts';
import type { Json } from './recordings.ts';

export interface WireRequest {
  method: string;
  /** Path and query; characters that a request line can't hold are escaped, all others stay. */
  path: string;
  headers: Record<string, string>;
  body?: string;
}

const DEADLINE = 60_000;

export class Wire {
  /** Without a slash at the end. */
  readonly base: string;
  readonly #url: URL;
  readonly #agent: Agent;

  /** `base` is a http URL without `/v2`, such as `http://127.0.0.1:8786`. */
  constructor(base: string, connections = 4) {
    this.base = base.replace(/\/+$/, '');
    this.#url = new URL(this.base);
    if (this.#url.protocol !== 'http:')
      throw new Error(`the base URL has to begin with http://, not ${base}`);
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Sends a request. Fails when no answer comes within a minute, or the connection does. */
  async send(request: WireRequest): Promise<Answer> {
    try {
      return await this.#sendOnce(request);
    } catch (error) {
      // The server may close an idle connection just as it is used again; nothing was processed then.
      if (error instanceof StaleConnection) return await this.#sendOnce(request);
      throw error;
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #sendOnce(request: WireRequest): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { method, headers } = request;
      const outgoing = startRequest({
        host: this.#url.hostname,
        port: this.#url.port || 80,
        method,
        path: this.#url.pathname.replace(/\/$/, '') + escapePath(request.path),
        headers: { ...headers, ...lengthOf(request) },
        agent: this.#agent,
        setHost: true,
        signal: AbortSignal.timeout(DEADLINE),
      });
      let answered = false;
      outgoing.on('response', (response) => {
        answered = true;
        readAnswer(response).then(resolve, reject);
      });
      outgoing.on('error', (error) => {
        // A server that refuses a body may hang up before it is all sent; its answer counts.
        if (answered) return;
        const stale = outgoing.reusedSocket && 'code' in error && error.code === 'ECONNRESET';
        reject(stale ? new StaleConnection() : error);
      });
      outgoing.end(request.body);
    });
  }
}

class StaleConnection extends Error {}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
  return {
    status: response.statusCode!,
    headers: Object.fromEntries(headers) as Answer['headers'],
    body: parseJson(Buffer.concat(chunks).toString('utf8')),
  };
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

function lengthOf({ method, body }: WireRequest): Record<string, string> {
  if (body === undefined && ['GET', 'HEAD', 'OPTIONS', 'DELETE'].includes(method)) return {};
  return { 'Content-Length': String(Buffer.byteLength(body ?? '')) };
}

function escapePath(path: string): string {
  return path.replace(/[^!#-;=?-[\]_a-z~]/gu, (character) => encodeURIComponent(character));
}
