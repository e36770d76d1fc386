/**
 * Whether a server's answer is alike the recorded one: status, fault name, body and version headers.
 */
import type { Exchange, Json, JsonObject, RecordedRequest } from './recordings.ts';
import { compareItemFields, compareValue, type Difference, type ReplayState } from './values.ts';

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
    return [...differences, ...compareAcrossProjects(exchange, answer.body)];
  }
  differences.push(...compareValue(recorded.body, answer.body, '$', '', state));
  for (const [name, place] of Object.entries(recorded.captures ?? {})) {
    if (state.bindings.has(name)) continue;
    differences.push({ path: `$.${place}`, expected: `{{${name}}}`, got: valueAt(answer.body, place) });
  }
  return differences;
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

const everyonesPaths = [
  /\/share_instances$/,
  /\/snapshot-instances(\/detail)?$/,
  /\/(os-)?services$/,
  /\/types$/,
];

/**
 * Whether a request lists what other projects, and so other scenarios, have. One that asks for a certain resource or
 * project by id does not.
 */
export function seesAllProjects(request: RecordedRequest): boolean {
  if (request.method !== 'GET') return false;
  const [path, query = ''] = request.path.split('?', 2) as [string, string?];
  if (query.includes('{{')) return false;
  if (everyonesPaths.some((pattern) => pattern.test(path))) return true;
  return request.as === 'admin' && /(^|&)all_(tenants|projects)=(1|true)(&|$)/i.test(query);
}

function compareAcrossProjects(exchange: Exchange, got: Json): Difference[] {
  const recorded = exchange.response.body as JsonObject;
  const answered = (got ?? {}) as JsonObject;
  // Where shares were placed on a host is chance, so that a list by host may be empty.
  const mayBeEmpty = exchange.request.path.includes('host=');
  const differences: Difference[] = [];
  for (const [key, value] of Object.entries(recorded)) {
    const found = answered[key];
    if (Array.isArray(value) && Array.isArray(found)) {
      const empty = value.length > 0 && found.length === 0 && !mayBeEmpty;
      if (empty) differences.push({ path: `$.${key}`, expected: value, got: found });
      differences.push(...compareItemFields(value, found, `$.${key}`));
    } else if (typeof value !== typeof found) {
      differences.push({ path: `$.${key}`, expected: value, got: found });
    }
  }
  for (const key of Object.keys(answered)) {
    if (!Object.hasOwn(recorded, key)) {
      differences.push({ path: `$.${key}`, expected: undefined, got: answered[key] });
    }
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
