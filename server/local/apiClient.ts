/** What a stack needs of its own API: requests as one identity at the newest version, and waiting for states. */
import { poll } from './poll.ts';

export interface ApiClient {
  /** The body of the answer, null when there is none; throws with the fault's text when refused. */
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
  /** Asks for `path` until `ready` answers something; fails when `failed` does, or after a minute. */
  until<T, R>(path: string, what: string, ready: (answer: T) => R | null | undefined): Promise<R>;
}

/** `url` as `http://127.0.0.1:8786/v2`. */
export function apiClient(url: string, token: string): ApiClient {
  const headers = {
    'X-Auth-Token': token,
    'X-OpenStack-Manila-API-Version': '2.99',
    'X-OpenStack-Manila-API-Experimental': 'true',
    'Content-Type': 'application/json',
  };
  async function request<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${url}${path}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
      signal: AbortSignal.timeout(15_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${faultText(text)}`);
    return (text === '' ? null : JSON.parse(text)) as T;
  }
  return {
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, body),
    until<T, R>(path: string, what: string, ready: (answer: T) => R | null | undefined): Promise<R> {
      return poll<R>(async () => ready(await request<T>('GET', path)), {
        what,
        withinMs: 60_000,
        everyMs: 100,
      });
    },
  };
}

function faultText(text: string): string {
  try {
    const [fault] = Object.values(JSON.parse(text) as Record<string, { message?: string }>);
    return fault?.message ?? text;
  } catch {
    return text.slice(0, 200);
  }
}
