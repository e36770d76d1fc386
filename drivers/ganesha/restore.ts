/**
 * Puts a directory tree back to what a snapshot holds, in place: files that are still the same file keep their
 * inode, so that clients who have them open, or have mounted the share, go on. btrfs shares the data between
 * the two, so the cost is that of the files that changed, not of their size.
 *
 * Runs as root over a tree that clients own: they must not be able to write meanwhile, or a directory turned
 * into a symbolic link at the right moment would lead elsewhere. The driver makes the export read-only first.
 */
import { type BigIntStats, constants } from 'node:fs';
import { chmod, chown, link, lstat, mkdir, readdir, readlink, rm, utimes } from 'node:fs/promises';
import { giveUpIf, run } from './command.ts';

interface Restoration {
  from: Buffer;
  to: Buffer;
  signal: AbortSignal;
  /** what `cp` is to copy, relative paths */
  copies: Buffer[];
  /** hard links to make after the copying: [existing, new], relative paths */
  links: [Buffer, Buffer][];
  /** directories whose own attributes come last, deepest last */
  directories: [Buffer, BigIntStats][];
  /** the first place of each file that has several, by its inode in the snapshot */
  first: Map<bigint, { path: Buffer; kept: boolean }>;
}

/** File names are bytes: nothing says that they are UTF-8. */
export async function restoreFiles(
  from: string,
  to: string,
  reflink: 'always' | 'auto',
  signal: AbortSignal,
): Promise<void> {
  const work: Restoration = {
    from: Buffer.from(from),
    to: Buffer.from(to),
    signal,
    copies: [],
    links: [],
    directories: [],
    first: new Map(),
  };
  await compareDirectory(work, Buffer.from('.'));
  await copy(work, from, to, reflink);
  for (const [existing, added] of work.links) {
    await link(join(work.to, existing), join(work.to, added));
  }
  for (const [path, found] of work.directories.reverse()) await dress(join(work.to, path), found);
}

async function compareDirectory(work: Restoration, path: Buffer): Promise<void> {
  giveUpIf(work.signal, 'the revert');
  const options = { encoding: 'buffer' } as const;
  const wanted = await readdir(join(work.from, path), options);
  const present = await readdir(join(work.to, path), options);
  const names = new Set(wanted.map((name) => name.toString('latin1')));
  for (const name of present) {
    if (!names.has(name.toString('latin1'))) await remove(join(work.to, path, name));
  }
  work.directories.push([path, await lstat(join(work.from, path), { bigint: true })]);
  for (const name of wanted) await compareEntry(work, join(path, name));
}

async function compareEntry(work: Restoration, path: Buffer): Promise<void> {
  const source = await lstat(join(work.from, path), { bigint: true });
  let target = await lstatIfThere(join(work.to, path));
  const sameType = target !== null && (target.mode & IFMT) === (source.mode & IFMT);
  if (target !== null && !keepable(source, target, sameType)) {
    await remove(join(work.to, path));
    target = null;
  }
  if (source.isDirectory()) {
    if (target === null) await mkdir(join(work.to, path));
    await compareDirectory(work, path);
    return;
  }
  const earlier = work.first.get(source.ino);
  if (earlier !== undefined) {
    // the same file at another place: there it is restored, here it only has to be that file
    if (target !== null && earlier.kept) return;
    if (target !== null) await remove(join(work.to, path));
    work.links.push([earlier.path, path]);
    return;
  }
  if (source.nlink > 1n) work.first.set(source.ino, { path, kept: target !== null });
  if (target !== null && (await unchanged(work, path, source, target))) return;
  // cp writes over regular files, but can't over anything else
  if (target !== null && !target.isFile()) await remove(join(work.to, path));
  work.copies.push(path);
}

const IFMT = BigInt(constants.S_IFMT);

/** A file may stay when it is the very one of the snapshot: snapshots keep inode numbers, and none is reused. */
function keepable(source: BigIntStats, target: BigIntStats, sameType: boolean): boolean {
  if (!sameType) return false;
  return source.isDirectory() || source.ino === target.ino;
}

/** Nothing can set ctime back, so where it is equal nothing was done to the file. */
async function unchanged(
  work: Restoration,
  path: Buffer,
  source: BigIntStats,
  target: BigIntStats,
): Promise<boolean> {
  if (source.ctimeNs === target.ctimeNs && source.size === target.size) return true;
  if (!source.isSymbolicLink()) return false;
  const options = { encoding: 'buffer' } as const;
  const [was, is] = await Promise.all([
    readlink(join(work.from, path), options),
    readlink(join(work.to, path), options),
  ]);
  return was.equals(is);
}

/** cp keeps the inode of a file that is there, and takes owner, mode, times and extended attributes along. */
async function copy(work: Restoration, from: string, to: string, reflink: string): Promise<void> {
  if (work.copies.length === 0) return;
  const zero = Buffer.from([0]);
  const command = ['-0', 'cp', '-a', `--reflink=${reflink}`, '--parents', `--target-directory=${to}`, '--'];
  await run('xargs', command, {
    signal: work.signal,
    cwd: from,
    input: Buffer.concat(work.copies.flatMap((path) => [path, zero])),
  });
}

async function dress(path: Buffer, like: BigIntStats): Promise<void> {
  await chown(path, Number(like.uid), Number(like.gid));
  await chmod(path, Number(like.mode & 0o7777n));
  await utimes(path, Number(like.atimeNs) / 1e9, Number(like.mtimeNs) / 1e9);
}

async function remove(path: Buffer): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

async function lstatIfThere(path: Buffer): Promise<BigIntStats | null> {
  try {
    return await lstat(path, { bigint: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

const slash = Buffer.from('/');

function join(...parts: Buffer[]): Buffer {
  return Buffer.concat(parts.flatMap((part, index) => (index === 0 ? [part] : [slash, part])));
}
