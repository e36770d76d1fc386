/**
 * Every recorded exchange whose operation is covered gets an answer alike the recorded one.
 * Against SHOAL_TEST_BASE, whose database has to be empty, or a stack started here.
 */
import { operations } from '#generated/operations.ts';
import { loadChances } from './replayer/chances.ts';
import {
  describeOperation,
  isOperation,
  leftOut,
  loadCoverage,
  type OperationName,
} from './replayer/coverage.ts';
import { loadDepartures } from './replayer/departures.ts';
import { loadScenario, type RecordedRequest, scenarioNames } from './replayer/recordings.ts';
import { countOutcomes, describeCounts, describeOutcome } from './replayer/report.ts';
import { type Outcome, replayScenario } from './replayer/runner.ts';
import { loadWaits } from './replayer/waits.ts';
import { Wire } from './replayer/wire.ts';
import { type Stack, testServer } from './stack.ts';

const coverage = loadCoverage();

/** What the contract says is served, one entry for each spelling of path and action. */
const served: OperationName[] = Object.values(operations).flatMap(({ method, paths, actions }) =>
  paths.flatMap(({ path }) =>
    actions ? actions.map(({ name }) => ({ method, path, action: name })) : [{ method, path }],
  ),
);

describe('replayed', () => {
  const outcomes: Outcome[] = [];
  let stack: Stack;
  let wire: Wire;

  beforeAll(async () => {
    stack = await testServer();
    wire = new Wire(stack.base);
  }, 90_000);

  afterAll(async () => {
    console.log(`recordings: ${describeCounts(countOutcomes(outcomes))}`);
    wire?.close();
    await stack?.stop();
  }, 30_000);

  // In order: the first makes the share types of the others.
  test.each(scenarioNames())(
    '%s',
    async (name) => {
      const done = await replayScenario(wire, loadScenario(name), {
        coverage,
        chances: loadChances(),
        departures: loadDepartures(),
        waits: loadWaits(),
      });
      outcomes.push(...done);
      const different = done.filter(({ result }) => result === 'different');
      expect(different.map(describeOutcome).join('\n')).toBe('');
    },
    300_000,
  );

  test('no operation that is listed as not covered is served', async () => {
    const wrong: string[] = [];
    for (const operation of coverage.notCovered) {
      const status = await answerTo(wire, operation);
      if (!refusals(operation).includes(status)) wrong.push(`${describeOperation(operation)}: ${status}`);
    }
    expect(wrong).toEqual([]);
  }, 60_000);
});

/** What an operation answers that is not there: an unknown action of a resource that is there is a bad request. */
function refusals({ method, path, action }: OperationName): number[] {
  const onServedPath = served.some((each) => each.method === method && each.path === path);
  return action !== undefined && onServedPath ? [400, 404, 501] : [404, 501];
}

/** The status that an operation answers with, asked for something that does not exist. */
async function answerTo(wire: Wire, { method, path, action }: OperationName): Promise<number> {
  const { status } = await wire.send({
    method,
    path: `/v2${path.replaceAll(/\{\w+\}/g, '00000000-0000-4000-8000-000000000000')}`,
    headers: {
      'X-Auth-Token': 'aa:bb:admin,member,reader',
      'X-OpenStack-Manila-API-Version': path.startsWith('/os-') ? '2.6' : '2.99',
      'X-OpenStack-Manila-API-Experimental': 'true',
      'Content-Type': 'application/json',
    },
    body:
      method === 'GET' || method === 'DELETE' ? undefined : JSON.stringify(action ? { [action]: {} } : {}),
  });
  return status;
}

describe('the list of what is not covered', () => {
  test('only shrinks', () => {
    // Lower this with the list.
    expect(coverage.notCovered.length).toBeLessThanOrEqual(47);
  });

  test('holds nothing that the contract has', () => {
    const shape = ({ method, path, action }: OperationName) =>
      describeOperation({ method, path: path.replaceAll(/\{\w+\}/g, '{}'), action });
    const listed = new Set(coverage.notCovered.map(shape));
    expect(served.map(shape).filter((name) => listed.has(name))).toEqual([]);
  });

  test('holds all that was recorded and the contract has not', () => {
    const unknown = scenarioNames().flatMap((name) => {
      const scenario = loadScenario(name);
      const out = leftOut(scenario, coverage);
      const replayed = scenario.exchanges.filter(({ n, response }) => !out.has(n) && response.status < 300);
      return replayed
        .map(({ request }) => request)
        .filter((request) => isResource(request) && !isServed(request));
    });
    expect(unknown.map(({ method, path, body }) => [method, path, body])).toEqual([]);
  });
});

function isServed(request: RecordedRequest): boolean {
  const path = request.path.replace(/\.json$/, '');
  return served.some((operation) => isOperation(operation, { ...request, path }));
}

/** Whether a request is for a resource, not for a version document or what any path answers. */
function isResource({ method, path }: RecordedRequest): boolean {
  return method !== 'OPTIONS' && /^\/+v2\/./.test(path);
}
