/**
 * Daemons that outlive the worker: NFS clients go on while it restarts. They are known not by a stored pid,
 * which may be another's by now, but by an argument that only they have, looked up in /proc.
 */
import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { DriverError } from '../driver.ts';

export interface Daemon {
  command: string;
  args: readonly string[];
  /** the argument that tells it from every other process: the path of its configuration */
  mark: string;
  env: Readonly<Record<string, string>>;
  /** where standard output and error go */
  log: string;
}

/** Processes that run this daemon, oldest first. */
export async function findDaemon(daemon: Daemon): Promise<number[]> {
  const names = await readdir('/proc');
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const running = await Promise.all(pids.map(async (pid) => ((await isDaemon(pid, daemon)) ? [pid] : [])));
  return running.flat().sort((a, b) => a - b);
}

/** A zombie has no command line, so it counts as ended. */
export async function isDaemon(pid: number, daemon: Daemon): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const args = line.split('\0');
  return args[0] === daemon.command && args.includes(daemon.mark);
}

/** In a session of its own. `onExit` is called when it ends while this process lives. */
export async function startDaemon(daemon: Daemon, onExit: () => void): Promise<number> {
  const log = openSync(daemon.log, 'a', 0o600);
  try {
    const child = spawn(daemon.command, daemon.args, {
      detached: true,
      stdio: ['ignore', log, log],
      env: { PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/bin:/sbin:/bin`, ...daemon.env },
      cwd: '/',
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    child.once('spawn', resolve);
    child.once('error', reject);
    child.once('exit', onExit);
    await promise;
    child.unref();
    return child.pid!;
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw new DriverError(
      missing ? 'unsupported' : 'failed',
      missing ? `${daemon.command} is not installed` : `${daemon.command} can't be started`,
      { cause },
    );
  } finally {
    closeSync(log);
  }
}

/** Asks it to end, and after a while makes it. */
export async function endDaemon(pid: number, daemon: Daemon, patience = 5000): Promise<void> {
  for (const [signal, wait] of [
    ['SIGTERM', patience],
    ['SIGKILL', 2000],
  ] as const) {
    if (!(await isDaemon(pid, daemon))) return;
    try {
      process.kill(pid, signal);
    } catch {
      return; // it ended by itself
    }
    for (const until = Date.now() + wait; Date.now() < until; await sleep(20))
      if (!(await isDaemon(pid, daemon))) return;
  }
}
