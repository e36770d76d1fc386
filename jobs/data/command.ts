/**
 * Running a command of the system: to its end, to its deadline, or to the end of this process, whatever comes
 * first. A copy that outlived the worker that began it would write into what the next one has taken over.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { DriverError } from '#drivers/driver.ts';

export interface Ended {
  /** exit status; null when a signal ended it */
  status: number | null;
  /** the last lines it wrote to standard error */
  said: string;
}

/** mount lives where a user's PATH may not look; messages are read, so they are in one language. */
const environment = {
  PATH: `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin`,
  LC_ALL: 'C',
};
const MOST_SAID = 4096;
const PATIENCE_MS = 5_000;

/**
 * Runs a command, its arguments as they are, through no shell; `hear` is given standard output as it comes. Throws
 * DriverError: timeout when the signal ended it, unsupported when it isn't installed. Its status is the caller's.
 */
export async function runCommand(
  [command = '', ...words]: readonly string[],
  signal: AbortSignal,
  hear: (text: string) => void = () => {},
): Promise<Ended> {
  if (signal.aborted) throw givenUp(command, signal);
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', command, ...words], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group of its own, so that all it has begun ends with it
  });
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  let said = '';
  child.stdout.setEncoding('utf8').on('data', hear);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MOST_SAID);
  });
  child.on('error', (cause) => reject(new DriverError('unsupported', `${command} can't be run`, { cause })));
  child.on('close', (status) => resolve({ status, said: lastLines(said) }));
  // What hangs in the kernel, on an NFS server that is gone, hears no signal: it is left to itself.
  const timers: NodeJS.Timeout[] = [];
  const abort = () => {
    killGroup(child, 'SIGTERM');
    timers.push(setTimeout(() => killGroup(child, 'SIGKILL'), PATIENCE_MS));
    timers.push(setTimeout(() => reject(givenUp(command, signal)), 2 * PATIENCE_MS));
  };
  signal.addEventListener('abort', abort, { once: true });
  try {
    const ended = await promise;
    if (signal.aborted) throw givenUp(command, signal);
    if (ended.status === NOT_FOUND)
      throw new DriverError('unsupported', `${ended.said || command}: not installed?`);
    return ended;
  } finally {
    signal.removeEventListener('abort', abort);
    for (const timer of timers) clearTimeout(timer);
  }
}

/** As `runCommand`, where any status but 0 is a failure. */
export async function mustRun(words: readonly string[], signal: AbortSignal): Promise<void> {
  const { status, said } = await runCommand(words, signal);
  if (status !== 0) throw new DriverError('failed', `${words[0]}: ${said || `ended with ${status}`}`);
}

/** what setpriv, and a shell, end with when there is no such command */
const NOT_FOUND = 127;

function killGroup({ pid }: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // it has ended
  }
}

function givenUp(command: string, signal: AbortSignal): DriverError {
  return new DriverError('timeout', `${command} was given up`, { cause: signal.reason });
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-4).join('; ');
}
