/** Moving subvolumes between the places of a btrfs file system, and making one of an ordinary directory. */
import { rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { DriverError } from '../driver.ts';
import { run } from './command.ts';

/** Every subvolume's root has this inode number, and nothing else has. */
const rootInode = 256;

/**
 * Gives `from` the place `to`. A subvolume is renamed, with whatever is open of it. A directory's files are cloned
 * into a new subvolume, which costs no room, and it goes when that is whole. May be killed and repeated.
 */
export async function moveVolume(
  from: string,
  to: string,
  readOnly: boolean,
  signal: AbortSignal,
): Promise<void> {
  const [source, target] = [await inodeOf(from), await inodeOf(to)];
  if (target === null && source === null) throw new DriverError('notFound', `there is no ${from}`);
  if (source === rootInode && target !== null)
    throw new DriverError('invalid', `both ${from} and ${to} are there`);
  if (source === rootInode) {
    // what is read-only can't be told of its new parent
    await setReadOnly(from, false, signal);
    await rename(from, to);
  } else if (target === null) await cloneDirectory(from, to, signal);
  if (source !== null && source !== rootInode) await rm(from, { recursive: true, force: true });
  await setReadOnly(to, readOnly, signal);
}

async function cloneDirectory(from: string, to: string, signal: AbortSignal): Promise<void> {
  const draft = join(dirname(to), `.${basename(to)}`);
  if ((await inodeOf(draft)) !== null) await run('btrfs', ['subvolume', 'delete', draft], { signal });
  await run('btrfs', ['subvolume', 'create', draft], { signal });
  await run('cp', ['-a', '--reflink=always', '-T', '--', from, draft], { signal });
  await rename(draft, to);
}

/** What was received from elsewhere is read-only until told otherwise. */
export async function setReadOnly(path: string, wanted: boolean, signal: AbortSignal): Promise<void> {
  const present = await run('btrfs', ['property', 'get', '-t', 'subvol', path, 'ro'], { signal });
  if (present.includes('ro=true') === wanted) return;
  await run('btrfs', ['property', 'set', '-f', '-t', 'subvol', path, 'ro', String(wanted)], { signal });
}

/** null: there is no directory. */
async function inodeOf(path: string): Promise<number | null> {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() ? found.ino : null;
}

/** The id by which btrfs knows a subvolume, and that of the one it was taken of. */
export async function originOf(
  path: string,
  signal: AbortSignal,
): Promise<{ uuid: string; parent: string | null }> {
  const shown = await run('btrfs', ['subvolume', 'show', path], { signal });
  const parent = /^\s*Parent UUID:\s*(\S+)$/m.exec(shown)?.[1] ?? '-';
  return { uuid: /^\s*UUID:\s*(\S+)$/m.exec(shown)?.[1] ?? '', parent: parent === '-' ? null : parent };
}
