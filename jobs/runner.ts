/** Runs jobs: one BullMQ worker for each queue that this process serves. */
import { type Job as BullJob, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Tx } from '#db/connection.ts';
import { DatabaseAway, isDeadlock } from '#db/databaseAway.ts';
import { countAttempt, finishJob, forwardJob, loadJob, lockJob, type OutboxRow } from '#db/outbox.ts';
import { DriverError } from '#drivers/driver.ts';
import { type AnyJob, type Requester, type Run, Superseded, type Tools, TryAgain } from './job.ts';

/**
 * A job that was begun this often is ended as failed: it brings its process down each time, or what it waits for
 * never comes. Waits for what is known to end (TryAgain with `counts: false`) are left out.
 */
const MOST_ATTEMPTS = 50;
const LOCK_MS = 10_000;

export interface Runner {
  stop(): Promise<void>;
}

interface Options {
  queues: readonly string[];
  jobs: ReadonlyMap<string, AnyJob>;
  tools: Tools;
  redis: Redis;
  concurrency: number;
}

export function startRunner({ queues, jobs, tools, redis, concurrency }: Options): Runner {
  const stopping = new AbortController();
  const running = new Set<number>();
  const process = async (rowId: number, from: Delivery): Promise<void> => {
    if (running.has(rowId)) return;
    running.add(rowId);
    try {
      await runJob(rowId, jobs, tools, stopping.signal, from);
    } finally {
      running.delete(rowId);
    }
  };
  const workers = queues.map((name) => {
    const deliver = (job: BullJob) =>
      process(Number(job.id!.slice('outbox-'.length)), { queue: name, again: job.attemptsStarted > 1 });
    const worker = new Worker(name, deliver, {
      connection: redis.duplicate({ maxRetriesPerRequest: null }),
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS / 2,
      maxStalledCount: 10_000,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    worker.on('error', (error) => tools.log('warn', 'worker trouble', { queue: name, error: error.message }));
    return worker;
  });
  return {
    async stop() {
      stopping.abort(new Error('the worker is stopping'));
      await Promise.all(workers.map((worker) => worker.close()));
    },
  };
}

/** How a row's id came here. */
interface Delivery {
  /** the queue it was on; a row that has been handed on to another since is left to that one */
  queue: string;
  /** it was begun before */
  again: boolean;
}

/** One run of one row's job. Throws only when it should be tried again as it is. */
export async function runJob(
  rowId: number,
  jobs: ReadonlyMap<string, AnyJob>,
  tools: Tools,
  stopping: AbortSignal,
  from?: Delivery,
): Promise<void> {
  const row = await loadJob(tools.db, rowId);
  if (!row || (from && from.queue !== row.queue)) return;
  const job = jobs.get(row.kind);
  if (!job) throw new Error(`no job of kind ${row.kind}: an older worker on a newer queue?`);
  const started = performance.now();
  const deadline = AbortSignal.timeout(job.deadlineMs);
  const run: Run = { tools, row, requester: requesterOf(row), signal: AbortSignal.any([deadline, stopping]) };
  // A first run isn't written down: nearly all jobs have but one.
  const counted = from?.again ?? true;
  const [subject] = await Promise.all([job.load(run), counted && countAttempt(tools.db, rowId)]);
  if (subject === undefined) {
    // Another run of it may have handed it on meanwhile: then it is that one's to end.
    await end(run, async () => true);
    return;
  }
  const outcome = await attempt(job, subject, run, { deadline, stopping, counted });
  tools.log(outcome === 'done' ? 'info' : 'warn', `job ${outcome}`, {
    kind: row.kind,
    row: rowId,
    resource: row.resource,
    requestId: run.requester.requestId,
    durationMs: Math.round(performance.now() - started),
  });
}

async function attempt(
  job: AnyJob,
  subject: unknown,
  run: Run,
  { deadline, stopping, counted }: { deadline: AbortSignal; stopping: AbortSignal; counted: boolean },
): Promise<'done' | 'failed'> {
  let result: unknown;
  try {
    if (run.row.attempts >= MOST_ATTEMPTS)
      throw new DriverError('failed', `given up after ${run.row.attempts} attempts`);
    result = await job.perform(subject, run);
  } catch (error) {
    if (error instanceof TryAgain && !error.counts && counted)
      await countAttempt(run.tools.db, run.row.id, -1);
    if (error instanceof Superseded) return 'done';
    if (stopping.aborted || isPassing(error)) throw error;
    await fail(
      job,
      subject,
      deadline.aborted ? new DriverError('timeout', 'the deadline passed', { cause: error }) : error,
      run,
    );
    return 'failed';
  }
  await end(run, async (tx) => {
    const forward = await job.succeed(tx, subject, result, run);
    // Within a queue the id is still taken by this very run: the relay carries it when that has ended.
    const send = forward && forward.queue !== run.row.queue ? run.tools.send : undefined;
    if (forward) await forwardJob(tx, run.row.id, forward, send);
    return !forward;
  });
  return 'done';
}

async function fail(job: AnyJob, subject: unknown, error: unknown, run: Run): Promise<void> {
  const { log } = run.tools;
  log('warn', 'a job failed', {
    kind: run.row.kind,
    row: run.row.id,
    resource: run.row.resource,
    error: describe(error),
  });
  try {
    // What another run has made meanwhile is not to be undone.
    if (await isStillThere(run)) await job.undo?.(subject, { ...run, signal: AbortSignal.timeout(60_000) });
  } catch (undoError) {
    log('error', 'what a failed job left could not be undone', {
      kind: run.row.kind,
      row: run.row.id,
      error: describe(undoError),
    });
  }
  await end(run, async (tx) => {
    await job.fail(tx, subject, error, run);
    return true;
  });
}

/** The ending transaction: only one run of a row gets through it. */
async function end(run: Run, write: (tx: Tx) => Promise<boolean>): Promise<void> {
  await run.tools.db.transaction(async (tx) => {
    if (!(await lockJob(tx, run.row))) return;
    if (await write(tx)) await finishJob(tx, run.row.id);
  });
}

async function isStillThere({ tools, row }: Run): Promise<boolean> {
  const now = await loadJob(tools.db, row.id);
  return now?.kind === row.kind && now.queue === row.queue;
}

/** Errors of the moment, not of the job: the database away, a deadlock that outlasted its retries. */
function isPassing(error: unknown): boolean {
  return error instanceof TryAgain || error instanceof DatabaseAway || isDeadlock(error);
}

function requesterOf(row: OutboxRow): Requester {
  const { requestId, projectId, userId } = row.payload as Partial<Requester>;
  return { requestId: requestId ?? '', projectId: projectId ?? '', userId: userId ?? '' };
}

function describe(error: unknown): string {
  return error instanceof DriverError
    ? `${error.code}: ${error.message}`
    : error instanceof Error
      ? (error.stack ?? error.message)
      : String(error);
}
