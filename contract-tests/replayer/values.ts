/**
 * Whether an answered JSON value is what a recording says, but for what differs from run to run: ids are matched
 * through their names, times and other volatile values by type, lists as they are ordered.
 * Binds the names of ids that are first seen here.
 */
import { type Chance, chanceKeys } from './chances.ts';
import { fieldsOf, typesAgree } from './fields.ts';
import { type KnownItems, type ListOrder, orderOf } from './ordering.ts';
import type { Json, JsonObject } from './recordings.ts';
import { settledKeys } from './states.ts';
import { type Bindings, matchText, showText } from './templating.ts';

export interface Difference {
  /** Place in the answer: `status`, `header Vary`, `$.share.size`. */
  path: string;
  /** Undefined: should not be there. */
  expected: Json | undefined;
  /** Undefined: is not there. */
  got: Json | undefined;
}

/** What a comparison needs to know of the replay so far. */
export interface ReplayState {
  bindings: Bindings;
  known: KnownItems;
  /** The sort key of the request. */
  sortKey: string;
  /** Id recorded at a place of a list to the id that a tie has put there. */
  swaps: Map<string, string>;
  /** Values of the recorded answer that chance decided. */
  chances: readonly Chance[];
}

/** Values that are free as long as their type is the recorded one. */
export const freeKeys = new Set([
  'auth_key',
  'capabilities',
  'created_at',
  'details',
  'expires_at',
  'host',
  'identifier',
  'message',
  'path',
  'provider_location',
  'request_id',
  'retryAfter',
  'updated_at',
  'user_message',
]);

const TIMESTAMP = '<timestamp>';

/** Compares a value at `path`, which stands under `key` there. */
export function compareValue(
  expected: Json,
  got: Json,
  path: string,
  key: string,
  state: ReplayState,
): Difference[] {
  const differs = () => [{ path, expected: readable(expected, state), got }];
  if (kind(expected) !== kind(got)) return differs();
  if (Array.isArray(expected)) {
    if (freeKeys.has(key)) return [];
    const top = path === `$.${key}`;
    return compareList(expected, got as Json[], path, orderOf(key, top), key, state);
  }
  if (expected !== null && typeof expected === 'object') {
    if (freeKeys.has(key) && key !== 'message') return [];
    return compareObject(expected, got as JsonObject, path, state);
  }
  if (freeKeys.has(key) || (key === 'id' && typeof expected === 'number')) return [];
  if (typeof expected === 'string') return matches(expected, got as string, state) ? [] : differs();
  return expected === got ? [] : differs();
}

function compareObject(
  expected: JsonObject,
  got: JsonObject,
  path: string,
  state: ReplayState,
): Difference[] {
  const differences: Difference[] = [];
  const free = new Set([...settledKeys(expected, got), ...chanceKeys(got, state.chances)]);
  for (const [key, value] of Object.entries(expected)) {
    const at = `${path}.${key}`;
    if (!Object.hasOwn(got, key)) {
      differences.push({ path: at, expected: readable(value, state), got: undefined });
    } else if (!free.has(key)) {
      differences.push(...compareValue(value, got[key]!, at, key, state));
    }
  }
  for (const [key, value] of Object.entries(got)) {
    if (!Object.hasOwn(expected, key)) {
      differences.push({ path: `${path}.${key}`, expected: undefined, got: value });
    }
  }
  return differences;
}

function compareList(
  expected: Json[],
  got: Json[],
  path: string,
  order: ListOrder,
  key: string,
  state: ReplayState,
): Difference[] {
  if (order === 'none') return compareUnordered(expected, got, path, key, state);
  const differences: Difference[] = [];
  for (let index = 0; index < Math.max(expected.length, got.length); index++) {
    const at = `${path}[${index}]`;
    const recorded = expected[index];
    const answered = got[index];
    if (recorded === undefined || answered === undefined) {
      const shown = recorded === undefined ? undefined : readable(recorded, state);
      differences.push({ path: at, expected: shown, got: answered });
    } else if (order === 'sorted') {
      differences.push(...compareSorted(expected, index, answered, at, state));
    } else {
      differences.push(...compareValue(recorded, answered, at, key, state));
    }
  }
  return differences;
}

/** Compares an item of a sorted list, where one that ties with the recorded one may stand in its place. */
function compareSorted(
  expected: Json[],
  index: number,
  got: Json,
  path: string,
  state: ReplayState,
): Difference[] {
  const recorded = expected[index]!;
  const wanted = idOf(recorded, state);
  const found = idOf(got, state);
  if (!wanted || !found || wanted === found || !state.known.tie(wanted, found, state.sortKey)) {
    return compareValue(recorded, got, path, '', state);
  }
  state.swaps.set(wanted, found);
  const same = expected.find((item) => idOf(item, state) === found);
  if (same !== undefined) return compareValue(same, got, path, '', state);
  return compareItemFields([recorded], [got], path);
}

/** The id of a resource, if it is known already. */
function idOf(item: Json, state: ReplayState): string | undefined {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return undefined;
  if (typeof item.id !== 'string') return undefined;
  const id = showText(item.id, state.bindings);
  return id.includes('{{') ? undefined : id;
}

/**
 * Pairs the items of two lists by their content. Items whose ids are all known choose first; the ids that a recording
 * names for the first time go to whichever item has the content.
 */
function compareUnordered(
  expected: Json[],
  got: Json[],
  path: string,
  key: string,
  state: ReplayState,
): Difference[] {
  const left = new Map(got.entries());
  const tries = [...expected].sort((a, b) => unknownNames(a, state) - unknownNames(b, state));
  const unmatched: Json[] = [];
  for (const recorded of tries) {
    const place = [...left].find(([, item]) => alike(recorded, item, path, key, state))?.[0];
    if (place === undefined) unmatched.push(recorded);
    else left.delete(place);
  }
  const differences: Difference[] = [];
  for (const recorded of unmatched) {
    const nearest = nearestTo(recorded, left, path, key, state);
    if (nearest === undefined) {
      differences.push({ path: `${path}[]`, expected: readable(recorded, state), got: undefined });
    } else {
      left.delete(nearest.place);
      differences.push(...nearest.differences);
    }
  }
  for (const [place, item] of left) {
    differences.push({ path: `${path}[${place}]`, expected: undefined, got: item });
  }
  return differences;
}

/** Whether an item is the recorded one; only then are its new names bound. */
function alike(recorded: Json, item: Json, path: string, key: string, state: ReplayState): boolean {
  const bindings = new Map(state.bindings);
  if (compareValue(recorded, item, path, key, { ...state, bindings }).length > 0) return false;
  for (const [name, id] of bindings) state.bindings.set(name, id);
  return true;
}

function nearestTo(
  recorded: Json,
  items: Map<number, Json>,
  path: string,
  key: string,
  state: ReplayState,
): { place: number; differences: Difference[] } | undefined {
  const candidates = [...items].map(([place, item]) => {
    const bindings = new Map(state.bindings);
    const at = `${path}[${place}]`;
    return { place, differences: compareValue(recorded, item, at, key, { ...state, bindings }) };
  });
  return candidates.sort((a, b) => a.differences.length - b.differences.length)[0];
}

/**
 * Compares lists whose items can't be known: each has the fields that all recorded items share, and none that no
 * recorded item has.
 */
export function compareItemFields(expected: Json[], got: Json[], path: string): Difference[] {
  if (expected.length === 0) return [];
  const recorded = expected.map((item) => fieldsOf(item));
  const differences: Difference[] = [];
  for (const [index, item] of got.entries()) {
    const seen = fieldsOf(item);
    for (const [field, types] of seen) {
      const ofRecorded = recorded.flatMap((fields) => [...(fields.get(field) ?? [])]);
      const at = `${path}[${index}].${field}`;
      if (ofRecorded.length === 0) differences.push({ path: at, expected: undefined, got: [...types] });
      else if (!typesAgree(new Set(ofRecorded), types)) {
        differences.push({ path: at, expected: ofRecorded, got: [...types] });
      }
    }
    const shared = [...recorded[0]!.keys()].filter((field) => recorded.every((fields) => fields.has(field)));
    for (const field of shared.filter((name) => !seen.has(name))) {
      const types = [...recorded[0]!.get(field)!];
      differences.push({ path: `${path}[${index}].${field}`, expected: types, got: undefined });
    }
  }
  return differences;
}

function matches(expected: string, got: string, state: ReplayState): boolean {
  if (expected === TIMESTAMP) return !Number.isNaN(Date.parse(got));
  if (!expected.includes('{{')) return expected === got;
  if (matchText(expected, got, state.bindings)) return true;
  if (state.swaps.size === 0) return false;
  const swapped = [...state.bindings].map(([name, id]) => [name, state.swaps.get(id) ?? id] as const);
  return matchText(expected, got, new Map(swapped));
}

/** The type, where null is a type of its own. */
function kind(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function unknownNames(value: Json, state: ReplayState): number {
  return showText(JSON.stringify(value), state.bindings).split('{{').length - 1;
}

/** A recorded value with the ids of this replay, as far as they are known. */
function readable(value: Json, state: ReplayState): Json {
  return JSON.parse(showText(JSON.stringify(value), state.bindings)) as Json;
}
