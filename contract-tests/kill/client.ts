/** A client that outlives the servers it talks to: it asks again while nobody answers. */
import { setTimeout as sleep } from 'node:timers/promises';

const VERSION = '2.99';
const REQUEST_DEADLINE_MS = 15_000;
const AGAIN_MS = 200;
/** Longer than any part of the service may be away. */
const PATIENCE_MS = 60_000;

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every operation
  body: any;
}

export class PatientClient {
  readonly #base: string;
  readonly #token: string;
  readonly projectId: string;

  constructor(base: string, projectId: string, roles = 'member,reader') {
    this.#base = base;
    this.projectId = projectId;
    this.#token = `${projectId}:${projectId}:${roles}`;
  }

  /** One answer that isn't a failure of the moment (no connection, 503); 5xx of any other kind is a bug. */
  async ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const answer = await this.#once(method, path, body).catch(() => undefined);
      if (answer && answer.status !== 503) {
        if (answer.status >= 500)
          throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
        return answer;
      }
      if (Date.now() > end) throw new Error(`${method} ${path}: no answer within ${PATIENCE_MS / 1000} s`);
      await sleep(AGAIN_MS);
    }
  }

  /** Asks until `done` holds of the answer; fails with the last one. */
  async until(path: string, done: (answer: Answer) => boolean, what: string): Promise<Answer> {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      const answer = await this.ask('GET', path);
      if (done(answer)) return answer;
      if (Date.now() > end) throw new Error(`${path} never was ${what}: ${JSON.stringify(answer.body)}`);
      await sleep(AGAIN_MS);
    }
  }

  async #once(method: string, path: string, body: unknown): Promise<Answer> {
    const response = await fetch(`${this.#base}/v2${path}`, {
      method,
      signal: AbortSignal.timeout(REQUEST_DEADLINE_MS),
      headers: {
        'X-Auth-Token': this.#token,
        'X-OpenStack-Manila-API-Version': VERSION,
        'X-OpenStack-Manila-API-Experimental': 'true',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text ? JSON.parse(text) : null };
  }
}
