/** One copy at a time into one directory: two would take each other's half-written files away. */

const writing = new Map<string, Promise<void>>();

/** Runs the work when nothing else of this process writes into the directory; throws when the signal ends the wait. */
export async function oneAtATime<T>(
  directory: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  for (let other = writing.get(directory); other; other = writing.get(directory)) {
    await other;
    signal.throwIfAborted();
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  writing.set(directory, promise);
  try {
    return await work();
  } finally {
    writing.delete(directory);
    resolve();
  }
}
