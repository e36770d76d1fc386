/** Mounts of the data worker: made by the commands of the configuration, each at a directory of its own. */
import { mkdir, readdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { mustRun } from './command.ts';

const UNMOUNT_DEADLINE_MS = 60_000;

/** The words of a command: `%(name)s` stands for a value; options may be several words, or none. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string[] {
  return template
    .trim()
    .split(/\s+/)
    .flatMap((word) =>
      word === '%(options)s'
        ? (values.options ?? '').split(/\s+/).filter(Boolean)
        : [word.replace(/%\((\w+)\)s/g, (_, name: string) => values[name] ?? '')],
    );
}

export interface Mounted {
  path: string;
  unmount(): Promise<void>;
}

/** Commands, as templates: `%(path)s` is where to mount; `values` are the others. */
export interface Mounting {
  /** directory that mounts are made in */
  location: string;
  /** part of the directory's name, for who looks */
  label: string;
  mount: string;
  unmount: string;
  values: Readonly<Record<string, string>>;
}

let made = 0;

/**
 * Mounts at a directory that no other run has, of this process or another: two would unmount each other's, and write
 * beneath. What a process that is gone has left mounted goes first.
 */
export async function mount(mounting: Mounting, signal: AbortSignal): Promise<Mounted> {
  await unmountLeft(mounting);
  made += 1;
  const path = join(mounting.location, `shoal-${process.pid}-${made}-${mounting.label}`);
  const values = { ...mounting.values, path };
  await mkdir(path, { mode: 0o700 });
  try {
    await mustRun(fillTemplate(mounting.mount, values), signal);
  } catch (error) {
    await unmountAt(path, ['umount', path]);
    throw error;
  }
  return { path, unmount: () => unmountAt(path, fillTemplate(mounting.unmount, values)) };
}

async function unmountLeft({ location }: Mounting): Promise<void> {
  for (const name of await readdir(location)) {
    const pid = /^shoal-(\d+)-\d+-/.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const path = join(location, name);
    await unmountAt(path, ['umount', path]);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Runs `words`, which unmount what is at `path`; where something still has a file open, it goes when that is closed. */
async function unmountAt(path: string, words: readonly string[]): Promise<void> {
  const signal = AbortSignal.timeout(UNMOUNT_DEADLINE_MS);
  if (await isMounted(path)) {
    await mustRun(words, signal).catch(() => mustRun(['umount', '--lazy', path], signal));
  }
  await rmdir(path).catch(() => {});
}

async function isMounted(path: string): Promise<boolean> {
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  // Spaces and the like stand as \040 in there.
  const spelled = path.replace(/[\s\\]/g, (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return table.split('\n').some((line) => line.split(' ')[4] === spelled);
}
