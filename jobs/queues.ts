/** Names and settings of the queues in Redis. Redis carries only row ids; the outbox is the truth. */
import type { JobsOptions } from 'bullmq';

export const SCHEDULER_QUEUE = 'scheduler';
/** Where processes tell the relay that the outbox has something new. */
export const OUTBOX_CHANNEL = 'shoal:outbox';
/** A hash of `host@backend` to its last capability report. */
export const REPORTS_KEY = 'shoal:reports';

export function jobId(rowId: number): string {
  return `outbox-${rowId}`;
}

/**
 * A run that throws (the database away, the worker stopping) is tried again until it ends in the database; ended
 * ones leave Redis at once, since re-adding an id that Redis still knows is dropped without a word.
 */
export const jobOptions: JobsOptions = {
  attempts: 10_000,
  backoff: { type: 'fixed', delay: 500 },
  removeOnComplete: { count: 0 },
  removeOnFail: true,
};
