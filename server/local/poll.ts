/** Waiting for something to become so, with a deadline instead of hope. */
import { setTimeout as sleep } from 'node:timers/promises';

interface PollOptions {
  /** what is waited for, as the error says it */
  what: string;
  withinMs: number;
  everyMs?: number;
  /** gives up at once; its reason is thrown */
  signal?: AbortSignal;
}

/** Asks `check` until it answers something else than false, null or undefined. Its errors count as "not yet". */
export async function poll<T>(
  check: () => Promise<T | false | null | undefined>,
  { what, withinMs, everyMs = 25, signal }: PollOptions,
): Promise<T> {
  const end = performance.now() + withinMs;
  let last: unknown;
  for (;;) {
    signal?.throwIfAborted();
    try {
      const answer = await check();
      if (answer !== false && answer !== null && answer !== undefined) return answer;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() >= end) {
      const why = last instanceof Error ? `: ${last.message}` : '';
      throw new Error(`${what} took longer than ${withinMs / 1000} s${why}`, { cause: last });
    }
    await sleep(everyMs, undefined, { signal }).catch(() => {});
  }
}
