/** What is mounted where, from /proc, and how to undo it. */
import { readFile } from 'node:fs/promises';
import { run } from './command.ts';

export interface MountEntry {
  /** the directory of the file system that is mounted: `/shares/…` for a subvolume */
  root: string;
  at: string;
  type: string;
  source: string;
  /** this mount, whatever the file system is */
  readOnly: boolean;
}

export async function mountsBelow(directory: string): Promise<MountEntry[]> {
  const entries = await mounts();
  return entries.filter((entry) => entry.at === directory || entry.at.startsWith(`${directory}/`));
}

/** The mount that is on top at a path; undefined: nothing is mounted there. */
export async function mountAt(path: string): Promise<MountEntry | undefined> {
  return (await mounts()).findLast((entry) => entry.at === path);
}

async function mounts(): Promise<MountEntry[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  return table
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [place = '', device = ''] = line.split(' - ');
      const [, , , root = '', at = '', options = ''] = place.split(' ');
      const [type = '', source = ''] = device.split(' ');
      return {
        root: unescaped(root),
        at: unescaped(at),
        type,
        source: unescaped(source),
        readOnly: options.split(',').includes('ro'),
      };
    });
}

/** Spaces and the like stand as \040 in there. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** Unmounts; where somebody still has a file open, it goes when they close it. */
export async function unmount(path: string, signal: AbortSignal): Promise<void> {
  try {
    await run('umount', [path], { signal });
  } catch (error) {
    if ((await mountAt(path)) === undefined) return;
    signal.throwIfAborted();
    if (!/busy/.test(String(error))) throw error;
    await run('umount', ['--lazy', path], { signal });
  }
}
