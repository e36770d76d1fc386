/**
 * Views across projects also show what other scenarios left behind: only the fields of their items count. Types and
 * services are known by name, though, and compared whole where they are found.
 */
import type { Exchange, Json, JsonObject, RecordedRequest } from './recordings.ts';
import { compareItemFields, compareValue, type Difference, type ReplayState } from './values.ts';

const everyonesPaths = [
  /\/share_instances$/,
  /\/snapshot-instances(\/detail)?$/,
  /\/(os-)?services$/,
  /\/types$/,
  /\/qos-types$/,
];

/** What tells the items of a list apart, whoever made them. */
const nameKeys: Readonly<Record<string, readonly string[]>> = {
  services: ['binary', 'host'],
  share_types: ['name'],
  volume_types: ['name'],
};

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

export function compareAcrossProjects(exchange: Exchange, got: Json, state: ReplayState): Difference[] {
  const recorded = exchange.response.body as JsonObject;
  const answered = (got ?? {}) as JsonObject;
  // Where shares were placed on a host is chance, so that their list by host may be empty.
  const mayBeEmpty = /\/shares\?.*host=/.test(exchange.request.path);
  const differences: Difference[] = [];
  for (const [key, value] of Object.entries(recorded)) {
    const path = `$.${key}`;
    const found = answered[key];
    if (Array.isArray(value) && Array.isArray(found)) {
      const empty = value.length > 0 && found.length === 0 && !mayBeEmpty;
      if (empty) differences.push({ path, expected: value, got: found });
      differences.push(...compareItemFields(value, found, path), ...compareNamed(value, found, key, state));
    } else if (typeof value !== typeof found) {
      differences.push({ path, expected: value, got: found });
    }
  }
  for (const key of Object.keys(answered)) {
    if (!Object.hasOwn(recorded, key)) {
      differences.push({ path: `$.${key}`, expected: undefined, got: answered[key] });
    }
  }
  return differences;
}

/** Compares the recorded items that are found again by name. */
function compareNamed(expected: Json[], got: Json[], key: string, state: ReplayState): Difference[] {
  const keys = nameKeys[key];
  if (!keys) return [];
  const nameOf = (item: Json) => JSON.stringify(keys.map((each) => (item as JsonObject)[each]));
  const places = new Map(got.map((item, place) => [nameOf(item), place]));
  return expected.flatMap((item) => {
    const place = places.get(nameOf(item));
    if (place === undefined) return [];
    return compareValue(item, got[place]!, `$.${key}[${place}]`, key, state);
  });
}
