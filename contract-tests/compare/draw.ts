/**
 * Requests to one operation, drawn from the contract: at a random version, as one of four, valid or nearly so. They
 * speak of things by the world's names.
 */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { MAX_VERSION, MIN_VERSION } from '#generated/versions.ts';
import type { Endpoint } from '../properties/endpoints.ts';
import { namesOf } from '../recorder/refusals.ts';
import { fill, NOWHERE, succeeded } from '../recorder/samples.ts';
import { isOperation } from '../replayer/coverage.ts';
import type { RecordedRequest } from '../replayer/recordings.ts';
import { bodyOf, sampleBodies } from './bodies.ts';
import { textFor } from './words.ts';

const samples = succeeded();

/** The same requests for the same seed; each operation has its own. */
export function drawRequests(endpoint: Endpoint, seed: number, count: number): RecordedRequest[] {
  const own = createHash('sha256').update(`${seed} ${endpoint.operation.id}`).digest().readInt32BE();
  return fc.sample(requestsTo(endpoint), { seed: own, numRuns: count });
}

function requestsTo(endpoint: Endpoint): fc.Arbitrary<RecordedRequest> {
  const { operation } = endpoint;
  const spellings = namesOf(operation);
  const own = samples.filter((request) => spellings.some((name) => isOperation(name, request)));
  const bodies = sampleBodies(operation, own);
  return minorFor(endpoint).chain((minor) => {
    const path = at(operation.paths, minor).path;
    const key = operation.actions && at(operation.actions, minor).name;
    return fc
      .record({
        as: asWhom,
        path: pathOf(path),
        query: operation.method === 'GET' ? queryOf(endpoint) : fc.constant(''),
        experimental: oneIn(8, fc.constant(false), fc.constant(true)),
        body: bodyOf(endpoint, bodies, key),
        version: oneIn(40, fc.constant(undefined), fc.constant(`2.${minor}`)),
      })
      .map(
        ({ as, path: filled, query, experimental, body, version }): RecordedRequest => ({
          method: operation.method,
          path: `/v2${filled}${query}`,
          as,
          ...(version === undefined ? {} : { version }),
          ...(experimental ? { experimental } : {}),
          ...body,
        }),
      );
  });
}

function oneIn<T>(n: number, rare: fc.Arbitrary<T>, usual: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 1, arbitrary: rare }, { weight: n - 1, arbitrary: usual });
}

const asWhom = fc.oneof(
  { weight: 5, arbitrary: fc.constant('admin') },
  { weight: 5, arbitrary: fc.constant('demo') },
  { weight: 2, arbitrary: fc.constantFrom('alt', 'reader') },
);

/** Mostly a version at which the operation is there. */
function minorFor({ operation }: Endpoint): fc.Arbitrary<number> {
  return oneIn(
    8,
    fc.integer({ min: MIN_VERSION, max: MAX_VERSION }),
    fc.integer({ min: operation.since, max: operation.until }),
  );
}

/** What stands at a version, or stood last. */
function at<T extends { since: number; until: number }>(windows: readonly T[], minor: number): T {
  return windows.find(({ since, until }) => minor >= since && minor <= until) ?? windows.at(-1)!;
}

function pathOf(path: string): fc.Arbitrary<string> {
  const filled = fill(path).filled.replace(/^\/v2/, '');
  const prefix = fc.oneof(
    { weight: 10, arbitrary: fc.constant('') },
    { weight: 2, arbitrary: fc.constant('/{{project_demo}}') },
    { weight: 1, arbitrary: fc.constantFrom('/{{project_admin}}', '/{{project_alt}}') },
  );
  const astray = fc
    .constantFrom(NOWHERE, 'x', '{{share_1}}')
    .map((id) => filled.replace(/\{\{\w+\}\}/, () => id));
  return fc.tuple(prefix, oneIn(8, astray, fc.constant(filled))).map((parts) => parts.join(''));
}

const usualNames = ['limit', 'offset', 'sort_key', 'sort_dir', 'all_tenants', 'name', 'status', 'metadata'];

function queryOf({ queryNames }: Endpoint): fc.Arbitrary<string> {
  const name = queryNames.length > 0 ? fc.constantFrom(...queryNames) : fc.constantFrom(...usualNames);
  const pair = oneIn(10, fc.constantFrom(...usualNames), name).chain((key) =>
    textFor(key).map((text) => `${key}=${/\{\{/.test(text) ? text : encodeURIComponent(text)}`),
  );
  return fc.array(pair, { maxLength: 3 }).map((pairs) => (pairs.length > 0 ? `?${pairs.join('&')}` : ''));
}
