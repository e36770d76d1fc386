/**
 * Whatever is sent to whichever operation, the answer is one that the API gives: no 5xx, none that never comes, a
 * fault in the API's form, and a request id. Against SHOAL_TEST_BASE or a stack started here.
 *
 * SHOAL_TEST_SEED repeats a run, SHOAL_TEST_RUNS (of each operation) makes it longer.
 */
import { Agent } from 'node:http';
import fc from 'fast-check';
import { type Stack, testServer } from '../stack.ts';
import { problemOf, send } from './answers.ts';
import { endpoints } from './endpoints.ts';
import { type BadRequest, requestsAnywhere, requestsTo } from './requests.ts';
import { Settlement } from './settlement.ts';

const seed = Number(process.env.SHOAL_TEST_SEED ?? Date.now() % 2 ** 31);
const runs = Number(process.env.SHOAL_TEST_RUNS ?? 80);
/** Of one operation: what it didn't get to by then is left for another seed. */
const MOST_MS = Math.max(2_000, runs * 50);
const SHOWN = 2_000;

let stack: Stack;
let base: URL;
let settlement: Settlement;
const agent = new Agent({ keepAlive: true, maxSockets: 2 });

beforeAll(async () => {
  stack = await testServer();
  base = new URL(stack.base);
  settlement = new Settlement(base);
}, 120_000);

afterAll(async () => {
  agent.destroy();
  await stack?.stop();
}, 30_000);

test.each(endpoints.map((endpoint) => [endpoint.title, endpoint] as const))(
  '%s',
  async (_title, endpoint) => {
    const found = await firstBadAnswer(
      requestsTo(endpoint, await settlement.world()),
      endpoint.operation.id,
      runs,
    );
    if (endpoint.operation.method !== 'GET') settlement.abandon();
    if (found) throw new Error(found);
  },
  60_000,
);

test('paths that nobody made', async () => {
  const found = await firstBadAnswer(requestsAnywhere(await settlement.world()), '', runs * 5);
  settlement.abandon();
  if (found) throw new Error(found);
}, 60_000);

test('after all that it serves as before', async () => {
  settlement.abandon();
  expect((await settlement.world()).ids.length).toBeGreaterThan(5);
}, 60_000);

/** Sends as many requests; tells of the simplest one whose answer isn't right, with what repeats it. */
async function firstBadAnswer(
  requests: fc.Arbitrary<BadRequest>,
  operation: string,
  count: number,
): Promise<string | undefined> {
  let answer = '';
  const property = fc.asyncProperty(requests, async (bad) => {
    answer = 'nothing';
    const got = await send(base, agent, bad);
    answer = `${got.status} ${got.text}`;
    const problem = problemOf(got, operation);
    if (problem) throw new Error(problem);
  });
  const found = await fc.check(property, {
    seed,
    numRuns: count,
    interruptAfterTimeLimit: MOST_MS,
    markInterruptAsFailure: false,
  });
  if (!found.failed) return undefined;
  const reason = `${(found.errorInstance as Error)?.message}, with seed ${seed}`;
  if (!found.counterexample) return reason;
  return [
    `${reason}, to`,
    describeRequest(found.counterexample[0]),
    `last answer: ${answer.slice(0, SHOWN)}`,
  ].join('\n');
}

function describeRequest({ method, path, headers, body }: BadRequest): string {
  const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${value}`);
  const text =
    body === undefined ? '  (no body)' : `  ${JSON.stringify(body.toString())} (${body.length} bytes)`;
  return [`  ${method} ${path}`, ...lines, text].map((line) => line.slice(0, SHOWN)).join('\n');
}
