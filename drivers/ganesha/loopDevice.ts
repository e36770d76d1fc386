/**
 * A btrfs file system inside one sparse file, on a loop device. Opening it finds what an earlier process left:
 * an image, a loop device, a mount. Needs root.
 */
import { mkdir, open, readdir, readFile, realpath, rename, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DriverError } from '../driver.ts';
import { giveUpIf, run } from './command.ts';
import { mountAt, unmount } from './mounts.ts';

export interface LoopFileSystem {
  image: string;
  device: string;
  /** its directory under /sys/fs/btrfs, where the kernel tells quotas */
  sysfs: string;
}

/** Makes the image when there is none, grows it when `size` (bytes) is more, and mounts its top at `top`. */
export async function openLoop(
  image: string,
  size: number,
  top: string,
  signal: AbortSignal,
): Promise<LoopFileSystem> {
  await makeImage(image, size, signal);
  const grown = await growImage(image, size);
  await mkdir(top, { recursive: true });
  const device = await mountImage(image, top, signal);
  if (grown) {
    await run('losetup', ['--set-capacity', device], { signal });
    await run('btrfs', ['filesystem', 'resize', 'max', top], { signal });
  }
  return { image, device, sysfs: await findSysfs(device) };
}

export async function closeLoop(fileSystem: LoopFileSystem, top: string, signal: AbortSignal): Promise<void> {
  await unmount(top, signal);
  await run('losetup', ['--detach', fileSystem.device], { signal });
  // whoever still looks at the device holds it back; the next to open the image must not find it
  for (let waited = 0; waited < 5000 && (await holds(fileSystem.device, fileSystem.image)); waited += 50)
    await sleep(50);
}

/**
 * Mounts the image; answers the device. A device that is just being let go may be another image's by the time that
 * it is mounted: what counts is what it holds afterwards.
 */
async function mountImage(image: string, top: string, signal: AbortSignal): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    giveUpIf(signal, 'mounting the shares');
    const device = await attachLoop(image, signal);
    if ((await mountAt(top)) !== undefined) return device;
    try {
      await run('mount', ['-t', 'btrfs', '-o', 'noatime', device, top], { signal });
      if (await holds(device, image)) return device;
      await unmount(top, signal);
    } catch (error) {
      if (signal.aborted || (await holds(device, image))) throw error;
    }
    if (attempt === 10) throw new DriverError('failed', `${device} was taken from ${image} again and again`);
    await sleep(100);
  }
}

/** Whether the loop device is that of the image. */
async function holds(device: string, image: string): Promise<boolean> {
  const file = await readFile(`/sys/block/${basename(device)}/loop/backing_file`, 'utf8').catch(() => '');
  return file.trim() === (await realpath(image).catch(() => image));
}

/** The name appears when the file system is whole. */
async function makeImage(image: string, size: number, signal: AbortSignal): Promise<void> {
  if (await isThere(image)) return;
  const draft = `${image}.new`;
  const file = await open(draft, 'w', 0o600);
  try {
    await file.truncate(size);
  } finally {
    await file.close();
  }
  // one copy of metadata: two on one disk file protect from nothing
  await run('mkfs.btrfs', ['--quiet', '--force', '--metadata', 'single', draft], { signal });
  await rename(draft, image);
}

async function growImage(image: string, size: number): Promise<boolean> {
  const { size: present } = await stat(image);
  if (present >= size) return false;
  const file = await open(image, 'r+');
  try {
    await file.truncate(size);
  } finally {
    await file.close();
  }
  return true;
}

async function attachLoop(image: string, signal: AbortSignal): Promise<string> {
  const known = await run('losetup', ['--noheadings', '--output', 'NAME', '--associated', image], { signal });
  const device = known.trim().split('\n')[0]?.trim();
  if (device) return device;
  const attach = (...more: string[]): Promise<string> =>
    run('losetup', ['--find', '--show', ...more, image], { signal });
  try {
    return (await attach('--direct-io=on')).trim();
  } catch (error) {
    if (signal.aborted) throw error;
    return (await attach()).trim(); // not every file system below can do direct I/O
  }
}

async function findSysfs(device: string): Promise<string> {
  for (const uuid of await readdir('/sys/fs/btrfs')) {
    const devices = await readdir(`/sys/fs/btrfs/${uuid}/devices`).catch((): string[] => []);
    if (devices.includes(basename(device))) return `/sys/fs/btrfs/${uuid}`;
  }
  throw new DriverError('failed', `no btrfs file system is known to be on ${device}`);
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
