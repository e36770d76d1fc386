/**
 * The recorded exchanges, as they lie in contract-tests/recordings/: scenarios in their order, each a list of
 * requests and the answers that the reference gave to them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface RecordedRequest {
  method: string;
  /** As sent, with `{{names}}`; may hold characters that a URL has to escape. */
  path: string;
  /** Microversion header; none is sent when absent. */
  version?: string;
  /** Identity; no token is sent when absent. */
  as?: string;
  experimental?: boolean;
  body?: Json;
  /** Sent as it is, in place of `body`. */
  raw_body?: string | { repeat: string; times: number };
  /** Over those that `version` and `body` give. */
  headers?: Record<string, string>;
}

/** Until a field (`share.status`, `access_list.0.state`) has one of the values, or the path answers with the status. */
export type Until = { field: string; in: Json[] } | { status: number };

export interface Exchange {
  n: number;
  request: RecordedRequest;
  response: {
    status: number;
    /** Name to the place of an id that is first seen here: `{"share_1": "share.id"}`. */
    captures: Record<string, string> | null;
    /** Null where the answer was empty or not JSON. */
    body: Json;
    headers: Record<string, string>;
  };
  until?: Until;
}

export interface Scenario {
  name: string;
  exchanges: Exchange[];
}

/** The scenario that makes the share types; it runs first, whatever else is asked for. */
export const SETUP_SCENARIO = 'a00-setup-types';

const directory = join(import.meta.dirname, '..', 'recordings');

export function recordingsFile(name: string): string {
  return readFileSync(join(directory, name), 'utf8');
}

/** Reads a file of one JSON value a line. */
export function recordingsLines<T>(name: string): T[] {
  const lines = recordingsFile(name).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}

export function scenarioNames(): string[] {
  return JSON.parse(recordingsFile('order.json')) as string[];
}

export function loadScenario(name: string): Scenario {
  return { name, exchanges: recordingsLines<Exchange>(`exchanges/${name}.jsonl`) };
}

/** The scenarios asked for, in order and behind the set-up one; all of them when none is named. */
export function loadScenarios(wanted: readonly string[] = []): Scenario[] {
  const names = scenarioNames();
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown) throw new Error(`no scenario is called "${unknown}"; there are: ${names.join(', ')}`);
  const chosen = names.filter(
    (name) => wanted.length === 0 || name === SETUP_SCENARIO || wanted.includes(name),
  );
  return chosen.map(loadScenario);
}
