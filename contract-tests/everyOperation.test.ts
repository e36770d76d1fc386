/**
 * Every operation is proven by recorded exchanges in each way in which it can answer: it succeeds, it refuses whom
 * the policy doesn't admit, what isn't there, what belongs to another project, a body that can't be read.
 */
import { type Operation, operations } from '#generated/operations.ts';
import { namesOf } from './recorder/refusals.ts';
import { owned } from './recorder/world.ts';
import { isOperation } from './replayer/coverage.ts';
import { departureOf, loadDepartures } from './replayer/departures.ts';
import { loadScenario, recordingsFile, scenarioNames } from './replayer/recordings.ts';

const kinds = ['success', 'refused by policy', 'unknown', "another project's", 'malformed'] as const;
type Kind = (typeof kinds)[number];

/** By operation: the kinds that no recording shows, with the reason. May only shrink. */
const unproven = JSON.parse(recordingsFile('unproven.json')) as Record<string, Partial<Record<Kind, string>>>;
const departures = loadDepartures();
/** As they are answered: otherwise than recorded where that is on purpose. */
const exchanges = scenarioNames().flatMap((name) =>
  loadScenario(name).exchanges.map((exchange) => {
    const status = departureOf(exchange, departures[name])?.status ?? exchange.response.status;
    return { request: exchange.request, status };
  }),
);

test.each(Object.values(operations).map((operation) => [operation.id, operation] as const))(
  '%s',
  (id, operation) => {
    const shown = shownOf(operation);
    const missing = kinds.filter((kind) => canHappen(operation, kind) && !shown.has(kind));
    expect(missing).toEqual(Object.keys(unproven[id] ?? {}));
  },
);

test('every operation that is said to be unproven is there, with its reasons', () => {
  const strange = Object.keys(unproven).filter((id) => !Object.hasOwn(operations, id));
  expect(strange).toEqual([]);
  for (const reasons of Object.values(unproven))
    for (const reason of Object.values(reasons)) expect(reason).toMatch(/\w{3}/);
});

function canHappen(operation: Operation, kind: Kind): boolean {
  const segments = operation.paths.at(-1)!.path.split('/');
  switch (kind) {
    case 'success':
      return true;
    case 'refused by policy':
      return operation.policy !== null;
    case 'unknown':
      return segments.some((segment) => segment.startsWith('{'));
    case "another project's":
      return segments.some((segment, i) => owned.has(segment) && segments[i + 1]?.startsWith('{'));
    case 'malformed':
      return operation.body !== null || operation.actions !== undefined;
  }
}

function shownOf(operation: Operation): Set<Kind> {
  const shown = new Set<Kind>();
  const spellings = namesOf(operation);
  for (const exchange of exchanges) {
    const kind = kindOf(exchange);
    // A body that can't be read names no action: one for all actions of a path.
    const names = kind === 'malformed' ? spellings.map(({ action: _, ...rest }) => rest) : spellings;
    if (kind && names.some((name) => isOperation(name, exchange.request))) shown.add(kind);
  }
  return shown;
}

function kindOf({ request, status }: (typeof exchanges)[number]): Kind | undefined {
  if (request.raw_body !== undefined) return status === 400 ? 'malformed' : undefined;
  if (status < 400) return 'success';
  if (request.as === 'alt' && (status === 404 || status === 403)) return "another project's";
  if (status === 403) return 'refused by policy';
  return status === 404 ? 'unknown' : undefined;
}
