/** Running a system command with a deadline. What it says on failure ends in the DriverError. */
import { execFile } from 'node:child_process';
import { DriverError } from '../driver.ts';

export interface RunOptions {
  signal: AbortSignal;
  cwd?: string;
  /** what it reads from standard input */
  input?: Uint8Array;
}

/** mount and mkfs live where a user's PATH may not look. */
const environment = {
  PATH: `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin`,
  LC_ALL: 'C',
};

/** The arguments go as they are, through no shell. Answers standard output. */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<string> {
  giveUpIf(options.signal, command);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = execFile(
    command,
    args,
    {
      signal: options.signal,
      killSignal: 'SIGKILL',
      env: environment,
      maxBuffer: 64 * 1024 * 1024,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    },
    (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(explain(command, args, error, stderr, options.signal));
    },
  );
  child.stdin?.on('error', () => {}); // it may end before it has read everything; its status says why
  child.stdin?.end(options.input);
  return promise;
}

function explain(
  command: string,
  args: readonly string[],
  error: Error & { code?: unknown },
  stderr: string,
  signal: AbortSignal,
): DriverError {
  if (signal.aborted) return new DriverError('timeout', `${command} was given up`, { cause: error });
  if (error.code === 'ENOENT')
    return new DriverError('unsupported', `${command} is not installed`, { cause: error });
  const said = stderr.trim().split('\n').slice(-4).join('; ') || `ended with ${error.code}`;
  return new DriverError('failed', `${command} ${args.slice(0, 2).join(' ')}: ${said}`, { cause: error });
}

export function giveUpIf(signal: AbortSignal, what: string): void {
  if (signal.aborted) throw new DriverError('timeout', `${what} was given up`, { cause: signal.reason });
}
