/** A stack in the foreground: until a signal ends it, in order. */
import type { Stack } from './stack.ts';

/** A signal this soon after the first is the same one, sent to a whole group of processes. */
const sameSignalMs = 1_000;

export function say(line: string): void {
  process.stderr.write(`shoal: ${line.replaceAll('\n', '\nshoal: ')}\n`);
}

/**
 * Starts a stack, runs `onceServing`, and stays until SIGINT, SIGTERM or SIGHUP; then ends everything and the
 * process. A second signal ends the process at once. What fails is said, and ends everything too.
 */
export async function runInForeground(
  start: (signal: AbortSignal) => Promise<Stack>,
  onceServing: (stack: Stack) => void | Promise<void>,
): Promise<void> {
  const ending = new AbortController();
  let stack: Stack | undefined;
  let firstSignalAt = 0;
  const onSignal = () => {
    if (!ending.signal.aborted) {
      firstSignalAt = performance.now();
      say('stopping');
      ending.abort(new Error('interrupted'));
    } else if (performance.now() - firstSignalAt > sameSignalMs) process.exit(1);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  // Nothing else need keep the process: its children have no pipes to it.
  const stay = setInterval(() => {}, 60_000);
  const ended = new Promise<void>((resolve) => ending.signal.addEventListener('abort', () => resolve()));
  let code = 0;
  try {
    stack = await start(ending.signal);
    await Promise.race([onceServing(stack), ended]);
    await ended;
  } catch (error) {
    if (!ending.signal.aborted) {
      say((error as Error).message);
      code = 1;
    }
  }
  await stack?.stop().catch((error: Error) => say(error.message));
  clearInterval(stay);
  process.exit(code);
}
