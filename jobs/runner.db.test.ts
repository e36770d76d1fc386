import { randomUUID } from 'node:crypto';
import { jest } from '@jest/globals';
import { Redis } from 'ioredis';
import { connect, type Db } from '#db/connection.ts';
import { enqueue, onOutboxWrite, outboxDepth, unsent } from '#db/outbox.ts';
import { DriverError } from '#drivers/driver.ts';
import {
  startTestDatabase,
  startTestRedis,
  type TestDatabase,
  type TestRedis,
} from '../server/local/testing/services.ts';
import { type AnyJob, type Job, job, type Tools, writeMidway } from './job.ts';
import { type Relay, startRelay } from './relay.ts';
import { type Runner, runJob, startRunner } from './runner.ts';

let database: TestDatabase;
let redisServer: TestRedis;
let db: Db;
let redis: Redis;
let relay: Relay;
let runner: Runner | undefined;
beforeAll(async () => {
  [database, redisServer] = await Promise.all([startTestDatabase(), startTestRedis()]);
  db = connect(database.address);
  redis = new Redis(redisServer.url, { maxRetriesPerRequest: null });
});
beforeEach(async () => {
  relay = await startRelay({ db, redis, subscriber: null, log: () => {} });
  onOutboxWrite(() => relay.poke());
});
afterEach(async () => {
  await runner?.stop();
  runner = undefined;
  await relay.stop();
  await db.run`DELETE FROM shoal_outbox`;
});
afterAll(async () => {
  redis.disconnect();
  await db.close();
  await Promise.all([database.stop(), redisServer.stop()]);
});

const tools = () =>
  ({ db, settings: {}, log: () => {}, driver: () => undefined, reports: async () => [] }) as unknown as Tools;
const never = new AbortController().signal;
const jobsOf = (...list: AnyJob[]) => new Map(list.map((each) => [each.kind, each]));

function testJob(over: Partial<Job<object, unknown>> = {}): Job<object, unknown> {
  return job<object, unknown>({
    kind: 'test.run',
    deadlineMs: 5_000,
    load: async () => ({}),
    perform: async () => {},
    succeed: async () => {},
    fail: async () => {},
    ...over,
  });
}
function add(
  resource: string = randomUUID(),
  payload: Record<string, unknown> = {},
  kind = 'test.run',
): Promise<number> {
  return db.transaction((tx) => enqueue(tx, { queue: 'test', kind, resource, payload }));
}
function start(...list: AnyJob[]): void {
  runner = startRunner({
    queues: ['test', 'other'],
    jobs: jobsOf(...list),
    tools: tools(),
    redis,
    concurrency: 8,
  });
}
async function idle(): Promise<void> {
  const end = Date.now() + 15_000;
  while ((await outboxDepth(db)).depth > 0) {
    if (Date.now() > end) throw new Error('jobs are left');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('jobs of one resource run one at a time and in order, others beside them', async () => {
  const [one, two] = [randomUUID(), randomUUID()];
  const running = new Map<string, number>();
  const order: Record<string, number[]> = { [one]: [], [two]: [] };
  let most = 0;
  start(
    testJob({
      async perform(_subject, { row }) {
        running.set(row.resource, (running.get(row.resource) ?? 0) + 1);
        expect(running.get(row.resource)).toBe(1);
        most = Math.max(
          most,
          [...running.values()].reduce((a, b) => a + b),
        );
        order[row.resource]!.push(row.payload.n as number);
        await new Promise((resolve) => setTimeout(resolve, 30));
        running.set(row.resource, 0);
      },
    }),
  );
  for (let n = 0; n < 6; n++) for (const resource of [one, two]) await add(resource, { n });
  await idle();
  expect(order).toEqual({ [one]: [0, 1, 2, 3, 4, 5], [two]: [0, 1, 2, 3, 4, 5] });
  expect(most).toBe(2);
});

test('what Redis loses is sent again', async () => {
  const ran = jest.fn(async () => {});
  await add();
  await new Promise((resolve) => setTimeout(resolve, 200));
  await redis.flushdb();
  start(testJob({ perform: ran }));
  await idle();
  expect(ran).toHaveBeenCalled();
}, 20_000);

test('the outcome and the end of the job are one transaction', async () => {
  const succeed = jest.fn(async () => {
    throw new Error('the outcome can not be written');
  });
  const id = await add();
  await expect(runJob(id, jobsOf(testJob({ succeed })), tools(), never)).rejects.toThrow(
    'can not be written',
  );
  expect((await outboxDepth(db)).depth).toBe(1);
});

test('two runs of one job write its outcome once', async () => {
  const succeed = jest.fn(async () => {});
  const id = await add();
  const slow = testJob({ succeed, perform: () => new Promise((resolve) => setTimeout(resolve, 50)) });
  await Promise.all([runJob(id, jobsOf(slow), tools(), never), runJob(id, jobsOf(slow), tools(), never)]);
  expect(succeed).toHaveBeenCalledTimes(1);
});

test('a failure is undone, then written, and a broken undo hides nothing', async () => {
  const calls: string[] = [];
  const id = await add();
  const failing = testJob({
    perform: async () => {
      throw new DriverError('noSpace', 'full');
    },
    undo: async () => {
      calls.push('undo');
      throw new Error('undo broke too');
    },
    fail: async (_tx, _subject, error) => {
      calls.push((error as DriverError).code);
    },
  });
  await runJob(id, jobsOf(failing), tools(), never);
  expect(calls).toEqual(['undo', 'noSpace']);
  expect((await outboxDepth(db)).depth).toBe(0);
});

test('the deadline ends a job that hangs', async () => {
  let code: string | undefined;
  const id = await add();
  const hanging = testJob({
    deadlineMs: 50,
    perform: (_subject, { signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    fail: async (_tx, _subject, error) => {
      code = (error as DriverError).code;
    },
  });
  await runJob(id, jobsOf(hanging), tools(), never);
  expect(code).toBe('timeout');
});

test('a worker that stops leaves its job to be run again', async () => {
  const stopping = new AbortController();
  const fail = jest.fn(async () => {});
  const id = await add();
  const running = runJob(
    id,
    jobsOf(
      testJob({
        fail,
        perform: (_s, { signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      }),
    ),
    tools(),
    stopping.signal,
  );
  setTimeout(() => stopping.abort(new Error('stop')), 30);
  await expect(running).rejects.toThrow('stop');
  expect(fail).not.toHaveBeenCalled();
  expect((await outboxDepth(db)).depth).toBe(1);
});

test('a job that is handed on keeps its place before what came after it', async () => {
  const resource = randomUUID();
  const seen: string[] = [];
  start(
    testJob({
      perform: async (_subject, { row }) => void seen.push(`first ${row.payload.n}`),
      succeed: async () => ({ queue: 'other', kind: 'test.second' }),
    }),
    testJob({
      kind: 'test.second',
      perform: async (_subject, { row }) => void seen.push(`second ${row.payload.n}`),
    }),
  );
  await add(resource, { n: 1 });
  await add(resource, { n: 2 });
  await idle();
  expect(seen).toEqual(['first 1', 'second 1', 'first 2', 'second 2']);
});

test('a subject that is gone ends its job', async () => {
  const resource = randomUUID();
  const id = await add(resource);
  await runJob(id, jobsOf(testJob({ load: async () => undefined })), tools(), never);
  expect((await outboxDepth(db)).depth).toBe(0);
});

test('a run that another one has overtaken writes nothing midway, undoes nothing and ends', async () => {
  const id = await add();
  const [write, undo, fail] = [jest.fn(async () => {}), jest.fn(async () => {}), jest.fn(async () => {})];
  const overtaken = testJob({
    undo,
    fail,
    perform: async (_subject, run) => {
      await db.run`DELETE FROM shoal_outbox WHERE id = ${id}`;
      await writeMidway(run, write);
    },
  });
  await runJob(id, jobsOf(overtaken), tools(), never);
  const broken = await add();
  const failing = testJob({
    undo,
    fail,
    perform: async () => {
      await db.run`DELETE FROM shoal_outbox WHERE id = ${broken}`;
      throw new DriverError('failed', 'it is gone');
    },
  });
  await runJob(broken, jobsOf(failing), tools(), never);
  for (const never of [write, undo, fail]) expect(never).not.toHaveBeenCalled();
});

test('a row that has been handed on to another queue is left to that one', async () => {
  const perform = jest.fn(async () => {});
  const id = await add();
  await db.run`UPDATE shoal_outbox SET queue = 'other' WHERE id = ${id}`;
  await runJob(id, jobsOf(testJob({ perform })), tools(), never, { queue: 'test', again: false });
  expect(perform).not.toHaveBeenCalled();
  expect((await outboxDepth(db)).depth).toBe(1);
});

test('a transaction that is rolled back leaves no job, and none is sent', async () => {
  const rolledBack = db.transaction(async (tx) => {
    await enqueue(tx, { queue: 'test', kind: 'test.run', resource: randomUUID(), payload: {} });
    throw new Error('no');
  });
  await expect(rolledBack).rejects.toThrow('no');
  expect(await unsent(db, 10)).toEqual([]);
});
