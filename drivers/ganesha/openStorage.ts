/** Which storage a back end has. Once there is data in one, it is that one: the other would show none of it. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DriverError, type DriverSettings } from '../driver.ts';
import { BtrfsStorage } from './btrfs.ts';
import { giveUpIf } from './command.ts';
import { PlainStorage } from './plain.ts';
import type { GaneshaOptions } from './settings.ts';
import type { Storage } from './storage.ts';

export async function openStorage(
  settings: Pick<DriverSettings, 'backend' | 'stateDirectory' | 'log'> & { dataDirectory: string },
  options: GaneshaOptions,
  signal: AbortSignal,
): Promise<Storage> {
  const { dataDirectory } = settings;
  const plain = new PlainStorage(dataDirectory);
  const btrfs = new BtrfsStorage({
    dataDirectory,
    stateDirectory: settings.stateDirectory,
    imageSize: options.dataSize,
  });
  const used = { plain: await isThere(join(dataDirectory, 'plain')), btrfs: await isThere(btrfs.image) };
  if (options.storage === 'plain' || (options.storage === 'auto' && used.plain && !used.btrfs)) {
    if (used.btrfs) throw mixed(settings.backend, btrfs.image);
    warn(settings, 'the back end is set to plain directories, or began with them');
    await plain.open(signal);
    return plain;
  }
  try {
    await btrfs.open(signal);
    return btrfs;
  } catch (error) {
    await btrfs.close().catch(() => {});
    giveUpIf(signal, 'opening the storage');
    if (options.storage === 'btrfs' || used.btrfs) throw error;
    warn(settings, `btrfs on a loop device can't be had here (${(error as Error).message})`);
    await btrfs.discardEmpty();
    await plain.open(signal);
    return plain;
  }
}

function warn({ log }: Pick<DriverSettings, 'log'>, reason: string): void {
  log('warn', `sizes of shares are NOT enforced, and snapshots are copies: ${reason}`);
}

function mixed(backend: string, image: string): DriverError {
  return new DriverError('invalid', `[${backend}] ganesha_storage = plain: but shares are kept in ${image}`);
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
