/**
 * A stack's directory belongs to one supervisor at a time. It keeps a list of the processes that run from it, and
 * whoever takes it over from a supervisor that was killed ends what that one left behind first.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { poll } from './poll.ts';

export class StateDirectory {
  readonly path: string;
  private readonly pids: Record<string, number> = {};

  private constructor(path: string) {
    this.path = path;
  }

  /** Fails when a living process holds the directory, naming it. */
  static async claim(path: string): Promise<StateDirectory> {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const claimed = new StateDirectory(path);
    claimed.takeOwnership();
    await claimed.endLeftovers();
    return claimed;
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** Enters a process into pids.json, under the name of its part. */
  note(name: string, pid: number): void {
    this.pids[name] = pid;
    const file = this.file('pids.json');
    writeFileSync(`${file}.new`, `${JSON.stringify(this.pids, null, 2)}\n`);
    renameSync(`${file}.new`, file);
  }

  /** Gives the directory back, with nothing running from it. */
  release(): void {
    rmSync(this.file('pids.json'), { force: true });
    rmSync(this.file('supervisor.pid'), { force: true });
  }

  private takeOwnership(): void {
    const file = this.file('supervisor.pid');
    for (;;) {
      try {
        writeFileSync(file, `${process.pid} ${startTime(process.pid)}\n`, { flag: 'wx' });
        return;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
      const [pid = '', started] = read(file).trim().split(' ');
      if (started !== undefined && startTime(Number(pid)) === started)
        throw new Error(
          `${this.path} is in use by process ${pid}: end that one first, or use another directory`,
        );
      rmSync(file, { force: true });
    }
  }

  private async endLeftovers(): Promise<void> {
    const listed = read(this.file('pids.json'));
    const pids = Object.values(listed ? (JSON.parse(listed) as Record<string, number>) : {});
    const ours = () => pids.filter((pid) => runsFrom(pid, this.path));
    signal(ours(), 'SIGTERM');
    const gone = async () => ours().length === 0;
    await poll(gone, { what: 'the end of processes left behind', withinMs: 10_000 }).catch(() =>
      signal(ours(), 'SIGKILL'),
    );
    await poll(gone, { what: 'the end of killed processes', withinMs: 5_000 });
  }
}

/** When a process started, in ticks since boot; undefined when there is none. Tells a reused id from the first. */
function startTime(pid: number): string | undefined {
  const stat = read(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : fields[19];
}

/** Is there a process of this id? One that has ended and waits to be collected doesn't count. */
export function isRunning(pid: number): boolean {
  return startTime(pid) !== undefined;
}

/** Every part has the directory in its command line. */
function runsFrom(pid: number, path: string): boolean {
  return isRunning(pid) && read(`/proc/${pid}/cmdline`).includes(`${path}/`);
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It ended meanwhile.
    }
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
