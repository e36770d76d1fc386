/** The relay: carries outbox rows to Redis, and the sweep: sends again what Redis lost. */
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Db } from '#db/connection.ts';
import { markSent, type Sendable, sentBefore, unsent } from '#db/outbox.ts';
import type { Log } from './job.ts';
import { jobId, jobOptions, OUTBOX_CHANNEL } from './queues.ts';

const BATCH = 200;
/** Even when nobody says that there is something new. */
const POLL_MS = 1_000;
const SWEEP_MS = 3_000;
/** A row that was sent longer ago than this should still be known to Redis. */
const SENT_SECONDS = 2;

export interface Relay {
  /** There may be something new: carry it over soon. */
  poke(): void;
  /** Carries one row that is noted as sent already. */
  send(row: Sendable): void;
  stop(): Promise<void>;
}

interface Options {
  db: Db;
  redis: Redis;
  /** a connection of its own, for hearing of new rows; null: only looks now and then */
  subscriber: Redis | null;
  log: Log;
}

export async function startRelay({ db, redis, subscriber, log }: Options): Promise<Relay> {
  const queues = new Map<string, Queue>();
  const queue = (name: string): Queue => {
    let found = queues.get(name);
    if (!found) {
      found = new Queue(name, { connection: redis, defaultJobOptions: jobOptions });
      found.on('error', (error) => log('warn', 'queue trouble', { queue: name, error: error.message }));
      queues.set(name, found);
    }
    return found;
  };
  const add = (row: Sendable) => queue(row.queue).add('run', {}, { ...jobOptions, jobId: jobId(row.id) });

  let again = false;
  let working: Promise<void> | null = null;
  let stopped = false;
  const carry = async (): Promise<void> => {
    do {
      again = false;
      const rows = await unsent(db, BATCH);
      if (rows.length > 0) {
        await markSent(db, rows);
        await Promise.all(rows.map(add));
      }
      if (rows.length === BATCH) again = true;
    } while (again && !stopped);
  };
  const poke = (): void => {
    again = true;
    if (working || stopped) return;
    working = carry()
      .catch((error: Error) =>
        log('warn', 'the outbox could not be relayed, it will be tried again', { error: error.message }),
      )
      .finally(() => {
        working = null;
        if (again && !stopped) setTimeout(poke, 100).unref();
      });
  };

  const send = (row: Sendable): void =>
    void add(row).catch((error: Error) =>
      log('warn', 'a job could not be handed on, it will be sent again', {
        row: row.id,
        error: error.message,
      }),
    );

  let sweeping = false;
  const sweep = async (): Promise<void> => {
    if (sweeping) return;
    sweeping = true;
    try {
      for (const row of await sentBefore(db, SENT_SECONDS)) {
        if (stopped) return;
        if (await queue(row.queue).getJob(jobId(row.id))) continue;
        await add(row);
        log('info', 'a job was missing from Redis and is sent again', { row: row.id, queue: row.queue });
      }
    } catch (error) {
      log('warn', 'the sweep was cut short', { error: (error as Error).message });
    } finally {
      sweeping = false;
    }
  };

  const timers = [setInterval(poke, POLL_MS), setInterval(() => void sweep(), SWEEP_MS)];
  if (subscriber) {
    subscriber.on('message', poke);
    await subscriber.subscribe(OUTBOX_CHANNEL);
  }
  poke();
  return {
    poke,
    send,
    async stop() {
      stopped = true;
      for (const timer of timers) clearInterval(timer);
      await working;
      await Promise.all([...queues.values()].map((each) => each.close()));
    },
  };
}
