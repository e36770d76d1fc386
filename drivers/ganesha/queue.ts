/**
 * One mutation at a time for each share or snapshot, in the order asked. Whoever needs several ids takes them
 * in one order, so that no two wait for each other.
 */
import { DriverError } from '../driver.ts';

export type Exclusively = <T>(
  ids: readonly string[],
  signal: AbortSignal,
  work: () => Promise<T>,
) => Promise<T>;

export function createQueue(): Exclusively {
  const last = new Map<string, Promise<void>>();
  return async (ids, signal, work) => {
    const done = Promise.withResolvers<void>();
    const before: Promise<void>[] = [];
    const mine: (() => void)[] = [];
    for (const id of new Set(ids)) {
      const previous = last.get(id) ?? Promise.resolve();
      const turn = previous.then(() => done.promise);
      last.set(id, turn);
      before.push(previous);
      mine.push(() => {
        if (last.get(id) === turn) last.delete(id);
      });
    }
    try {
      await waitFor(Promise.all(before), signal);
      return await work();
    } finally {
      done.resolve();
      for (const forget of mine) forget();
    }
  };
}

/** Waits for `ready`, or fails with 'timeout' when the signal comes first. */
export async function waitFor<T>(ready: Promise<T>, signal: AbortSignal): Promise<T> {
  const gone = Promise.withResolvers<never>();
  const abort = (): void =>
    gone.reject(new DriverError('timeout', 'the deadline passed while waiting', { cause: signal.reason }));
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([ready, gone.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
