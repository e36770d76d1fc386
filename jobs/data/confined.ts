/**
 * Running a command that sees two directories and nothing else. Tenants may have the files of a share open while they
 * are copied: one who puts a link to /etc in the place of a directory at the right moment would have root read or
 * write there. In a root of its own, there is nothing for such a link to lead to.
 */
import { mkdtemp, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ended, runCommand } from './command.ts';

/**
 * $1: an empty directory, $2 and $3: the two. Programs and libraries are those of /usr, which hold no secret. All in a
 * mount namespace that ends with the command.
 */
const script = `
set -e
root=$1 from=$2 to=$3
shift 3
mount -t tmpfs -o size=64k,mode=755 shoal "$root"
mkdir "$root/usr" "$root/from" "$root/to" "$root/old" "$root/proc"
for name in bin sbin lib lib32 lib64 libx32; do ln -s "usr/$name" "$root/$name"; done
mount --bind /usr "$root/usr"
mount -o remount,bind,ro "$root/usr"
mount --bind "$from" "$root/from"
mount -o remount,bind,ro,nosuid,nodev,noexec "$root/from"
mount --bind "$to" "$root/to"
mount --bind /proc "$root/proc" # umount looks there
cd "$root"
pivot_root . old
umount --lazy /old
umount --lazy /proc
exec "$@"
`;

/**
 * Runs the command between the directories, by the paths that `words` is told; `from` can't be written to. Without
 * root it runs as it is: it can do no more than its user. Throws as `runCommand` does.
 */
export async function runConfined(
  from: string,
  to: string,
  words: (from: string, to: string) => readonly string[],
  signal: AbortSignal,
  hear?: (text: string) => void,
): Promise<Ended> {
  if (process.geteuid?.() !== 0) return runCommand(words(from, to), signal, hear);
  const root = await mkdtemp(join(tmpdir(), 'shoal-root-'));
  try {
    const inside = ['sh', '-c', script, 'sh', root, from, to, ...words('/from', '/to')];
    return await runCommand(['unshare', '--mount', '--propagation', 'private', ...inside], signal, hear);
  } finally {
    await rmdir(root).catch(() => {});
  }
}
