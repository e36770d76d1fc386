/** For tests: a gateway in a directory of its own, and real clients of it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type MountOptions, mountNfs, type NfsError, type NfsMount } from '#server/local/nfs/client.ts';
import type { Workbench } from '../conformance.ts';
import type { BackendShare, Driver, DriverSettings, ExportLocation } from '../driver.ts';
import { createDriver } from '../index.ts';

/** Why real NFS can't be tried on this machine; null where it can. */
export function whyNotHere(): string | null {
  if (process.getuid?.() !== 0) return 'mounting needs root';
  const path = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  for (const command of ['ganesha.nfsd', 'dbus-daemon', 'dbus-send', 'mkfs.btrfs', 'losetup', 'rsync']) {
    const found = path.some((directory) => {
      try {
        accessSync(join(directory, command), constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
    if (!found) return `${command} is not installed`;
  }
  return null;
}

/** `describe`, or where it can't run a skipped one that says why. */
export function describeHere(name: string, tests: () => void): void {
  const reason = whyNotHere();
  if (reason === null) describe(name, tests);
  else {
    process.stderr.write(`SKIPPED ${name}: ${reason}\n`);
    describe.skip(`${name} (${reason})`, tests);
  }
}

export interface GaneshaBench extends Workbench {
  stateDirectory: string;
  /** what the driver logged */
  logged: string[];
  /** mounts a share as this machine */
  mount(of: { exportLocations?: readonly ExportLocation[] }, over?: Partial<MountOptions>): Promise<NfsMount>;
  /** where the driver keeps a share's files, to look behind the server's back */
  inside(share: BackendShare): string;
}

export async function ganeshaBench(options: Record<string, string> = {}): Promise<GaneshaBench> {
  const stateDirectory = await mkdtemp(join(tmpdir(), 'shoal-ganesha-'));
  const logged: string[] = [];
  const mounts = new Set<NfsMount>();
  const settings: DriverSettings = {
    backend: 'nfs',
    host: 'testhost@nfs',
    options: { ganesha_data_size: '20', ...options },
    stateDirectory,
    log: (level, message, detail) => logged.push(`${level} ${message} ${JSON.stringify(detail ?? {})}`),
  };
  const again = (): Promise<Driver> => createDriver('ganesha', settings);
  const mount: GaneshaBench['mount'] = async ({ exportLocations }, over) => {
    const location = exportLocations?.[0];
    if (location === undefined) throw new Error('there is no export location');
    const mounted = await mountNfs(location.path, { port: Number(location.metadata?.port ?? 2049), ...over });
    mounts.add(mounted);
    return mounted;
  };
  const kept = options.ganesha_storage === 'plain' ? 'data/plain/shares' : 'volumes/shares';
  // of all the loopback addresses, those that no other test is likely to have
  const network = `127.${random(10, 250)}.${random(0, 255)}`;
  let latest = 9;
  const inside = (share: BackendShare): string => join(stateDirectory, kept, share.id);
  return {
    driver: await again(),
    stateDirectory,
    logged,
    again,
    mount,
    inside,
    address: () => `${network}.${++latest}`,
    async overfill(_driver, share) {
      await allocate(join(inside(share), 'filling'), 1200 * 1024 ** 2);
    },
    data: {
      async write(share, file, text) {
        const nfs = await mount(share);
        await nfs.write(`/${file}`, text);
        await nfs.unmount();
      },
      async read(share, file) {
        const nfs = await mount(share);
        try {
          return await nfs.read(`/${file}`);
        } catch (error) {
          if ((error as NfsError).code === 'ENOENT') return null;
          throw error;
        } finally {
          await nfs.unmount();
        }
      },
    },
    async close() {
      for (const mounted of mounts) mounted.kill();
      await rm(stateDirectory, { recursive: true, force: true });
    },
  };
}

const random = (least: number, most: number): number =>
  least + Math.floor(Math.random() * (most - least + 1));

/** Fills a file with real bytes, at the speed of the disk. */
export async function allocate(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w', 0o666);
  try {
    const block = Buffer.alloc(4 * 1024 * 1024, 0x5a);
    for (let done = 0; done < bytes; done += block.length)
      await file.write(block, 0, Math.min(block.length, bytes - done));
  } finally {
    await file.close();
  }
}

/** Tries again until it works; fails as it failed last when it goes on for too long. */
export async function until(works: () => Promise<unknown>, patience = 15_000): Promise<void> {
  for (const end = Date.now() + patience; ; await sleep(50)) {
    try {
      await works();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/** A worker that goes on through the life of shares until it is killed, `patience` ms after it began. */
export async function runAndKill(
  stateDirectory: string,
  shares: BackendShare[],
  patience: number,
): Promise<void> {
  const work = JSON.stringify({ stateDirectory, shares });
  const child = spawn(process.execPath, [join(import.meta.dirname, 'killable.ts'), work], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), exited]);
  await sleep(patience);
  child.kill('SIGKILL');
  const [code] = (await exited) as [number | null];
  if (code !== null) throw new Error(`the worker ended by itself with ${code}`);
}
