/**
 * Whether a server's answer is alike the recorded one: status, fault name, body and version headers.
 */
import { compareAcrossProjects, seesAllProjects } from './crossing.ts';
import type { Exchange, Json, JsonObject } from './recordings.ts';
import { compareValue, type Difference, freeKeys, type ReplayState } from './values.ts';

/** An answer as it came in. */
export interface Answer {
  status: number;
  /** By lower-case name. */
  headers: Readonly<Record<string, string | undefined>>;
  /** Null where it is empty or not JSON. */
  body: Json;
}

export interface ComparisonOptions {
  /** The server is the one that the recordings were made from: its own 5xx are what is expected. */
  reference?: boolean;
}

const VERSION = 'X-OpenStack-Manila-API-Version';
const EXPERIMENTAL = 'X-OpenStack-Manila-API-Experimental';

/** All differences; none when alike. Binds the names that the recording captures from this answer. */
export function compareAnswer(
  exchange: Exchange,
  answer: Answer,
  state: ReplayState,
  options: ComparisonOptions = {},
): Difference[] {
  const recorded = exchange.response;
  state.known.remember(answer.body);
  if (recorded.status >= 500) return compareRefusal(recorded.status, answer, options);
  if (recorded.status !== answer.status) {
    return [
      { path: 'status', expected: recorded.status, got: answer.status },
      { path: '$', expected: recorded.body, got: answer.body },
    ];
  }
  const differences = compareHeaders(recorded.headers, answer.headers);
  if (recorded.status === 200 && seesAllProjects(exchange.request)) {
    // Any item may stand at a captured place: its names are bound where they are met next.
    return [...differences, ...compareAcrossProjects(exchange, answer.body, state)];
  }
  differences.push(...compareValue(recorded.body, answer.body, '$', '', state));
  for (const [name, place] of Object.entries(recorded.captures ?? {})) {
    if (state.bindings.has(name)) continue;
    // A value that may be any other one: a key, an address, a host.
    const got = valueAt(answer.body, place);
    if (typeof got === 'string' && isFree(place)) state.bindings.set(name, got);
    else differences.push({ path: `$.${place}`, expected: `{{${name}}}`, got });
  }
  return differences;
}

function isFree(place: string): boolean {
  return freeKeys.has(place.split('.').at(-1)!);
}

/** Where the reference broke down any answer below 500 will do, if it is well-formed. */
function compareRefusal(recorded: number, answer: Answer, options: ComparisonOptions): Difference[] {
  if (options.reference && answer.status === recorded) return [];
  if (answer.status >= 500) return [{ path: 'status', expected: 'below 500', got: answer.status }];
  if (answer.status < 400) return [];
  const faults = Object.values((answer.body ?? {}) as JsonObject) as { code?: number }[];
  if (faults.length === 1 && faults[0]?.code === answer.status) return [];
  return [{ path: '$', expected: `a fault of code ${answer.status}`, got: answer.body }];
}

function compareHeaders(
  recorded: Readonly<Record<string, string>>,
  answered: Answer['headers'],
): Difference[] {
  const differences: Difference[] = [];
  for (const name of [VERSION, EXPERIMENTAL]) {
    const got = answered[name.toLowerCase()];
    if (got !== recorded[name]) differences.push({ path: `header ${name}`, expected: recorded[name], got });
  }
  // Other parts of a server may add names to Vary; the recorded one has to be among them.
  const varies = answered.vary?.split(/,\s*/).map((name) => name.toLowerCase()) ?? [];
  if (recorded.Vary && !varies.includes(recorded.Vary.toLowerCase())) {
    differences.push({ path: 'header Vary', expected: recorded.Vary, got: answered.vary });
  }
  return differences;
}

/** The value at a place such as `volume_types[0].id` or `access_list.0.state`. */
export function valueAt(value: Json, place: string): Json | undefined {
  let at: Json | undefined = value;
  for (const step of place.split(/[.[\]]+/).filter((name) => name !== '')) {
    if (at === null || typeof at !== 'object') return undefined;
    at = Array.isArray(at) ? at[Number(step)] : at[step];
  }
  return at;
}
