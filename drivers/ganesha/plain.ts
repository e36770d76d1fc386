/**
 * Shares as ordinary directories, where there is no btrfs or no loop device: a share can outgrow its size, and
 * snapshots are copies. For trying things out.
 *
 *   <data directory>/plain/shares/<id>, snapshots/<id>
 *   <data directory>/plain/sizes/<id>    the size in bytes
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DriverError } from '../driver.ts';
import { run } from './command.ts';
import { copyFiles } from './copying.ts';
import { readIfThere, writeWhole } from './files.ts';
import { restoreFiles } from './restore.ts';
import { type Capacity, type Storage, type Volume, type VolumeKind, volumeKinds } from './storage.ts';

export class PlainStorage implements Storage {
  readonly enforcesSize = false;
  readonly instantSnapshots = false;
  readonly #root: string;

  constructor(dataDirectory: string) {
    this.#root = join(dataDirectory, 'plain');
  }

  async open(signal: AbortSignal): Promise<void> {
    for (const kind of [...volumeKinds, 'sizes'])
      await mkdir(join(this.#root, kind), { recursive: true, mode: 0o700 });
    for (const kind of volumeKinds) {
      for (const name of await readdir(join(this.#root, kind)))
        if (name.startsWith('.')) await remove(join(this.#root, kind, name), signal);
    }
  }

  async close(): Promise<void> {}

  async exists({ kind, id }: Volume): Promise<boolean> {
    return isDirectory(this.#path(kind, id));
  }

  async create(id: string, size: number, signal: AbortSignal): Promise<void> {
    await mkdir(this.#path('shares', id), { recursive: true });
    await chmod(this.#path('shares', id), 0o777);
    await this.resize(id, size, signal);
  }

  async clone(id: string, snapshotId: string, size: number, signal: AbortSignal): Promise<void> {
    await this.#copy(this.#path('snapshots', snapshotId), { kind: 'shares', id }, signal);
    await this.resize(id, size, signal);
  }

  async receive(id: string, from: string, size: number, signal: AbortSignal): Promise<void> {
    await this.#copy(from, { kind: 'shares', id }, signal);
    await this.resize(id, size, signal);
  }

  async fill(id: string, from: string, _size: number, signal: AbortSignal): Promise<void> {
    await copyFiles(from, this.#path('shares', id), signal);
  }

  async receiveSnapshot(_id: string, snapshotId: string, from: string, signal: AbortSignal): Promise<void> {
    await this.#copy(from, { kind: 'snapshots', id: snapshotId }, signal);
  }

  /** Nothing stands still here. */
  async freeze(id: string): Promise<string> {
    return this.#path('shares', id);
  }

  async thaw(): Promise<void> {}

  async flush(): Promise<void> {}

  async resize(id: string, size: number, _signal: AbortSignal): Promise<void> {
    if (!(await this.exists({ kind: 'shares', id })))
      throw new DriverError('notFound', `there is no share ${id}`);
    await writeWhole(join(this.#root, 'sizes', id), String(size));
  }

  async sizeOf(id: string): Promise<number> {
    return Number((await readIfThere(join(this.#root, 'sizes', id))) ?? 0);
  }

  async used({ kind, id }: Volume, signal: AbortSignal): Promise<number> {
    const answer = await run('du', ['-s', '-B1', this.#path(kind, id)], { signal });
    return Number.parseInt(answer, 10);
  }

  async snapshot(id: string, snapshotId: string, signal: AbortSignal): Promise<void> {
    await this.#copy(this.#path('shares', id), { kind: 'snapshots', id: snapshotId }, signal);
  }

  async revert(id: string, snapshotId: string, _size: number, signal: AbortSignal): Promise<void> {
    await restoreFiles(this.#path('snapshots', snapshotId), this.#path('shares', id), 'auto', signal);
  }

  async remove({ kind, id }: Volume, signal: AbortSignal): Promise<void> {
    await remove(this.#path(kind, id), signal);
    if (kind === 'shares') await rm(join(this.#root, 'sizes', id), { force: true });
  }

  directory({ kind, id }: Volume): string {
    return this.#path(kind, id);
  }

  async move(from: Volume, to: Volume): Promise<void> {
    await rename(this.#path(from.kind, from.id), this.#path(to.kind, to.id));
    const size = await this.sizeOf(from.id);
    await rm(join(this.#root, 'sizes', from.id), { force: true });
    if (to.kind === 'shares' || to.kind === 'unmanaged')
      await writeWhole(join(this.#root, 'sizes', to.id), String(size));
  }

  /** Copies don't tell. */
  async isSnapshotOf(): Promise<boolean> {
    return true;
  }

  async attach({ kind, id }: Volume): Promise<string> {
    return this.#path(kind, id);
  }

  async detach(): Promise<void> {}

  async tidy(): Promise<void> {}

  async capacity(): Promise<Capacity> {
    const { bsize, blocks, bavail } = await statfs(this.#root);
    let provisioned = 0;
    for (const id of await readdir(join(this.#root, 'sizes')))
      provisioned += Number(await readIfThere(join(this.#root, 'sizes', id)));
    const free = bavail * bsize;
    return { total: blocks * bsize, free, provisioned, unpromised: Math.max(0, free - provisioned) };
  }

  #path(kind: VolumeKind, id: string): string {
    return join(this.#root, kind, id);
  }

  /** Whole or not there: under another name until it is done. */
  async #copy(from: string, to: Volume, signal: AbortSignal): Promise<void> {
    if (await this.exists(to)) return;
    const draft = this.#path(to.kind, `.${to.id}`);
    await remove(draft, signal);
    await run('cp', ['-a', '--reflink=auto', from, draft], { signal });
    await rename(draft, this.#path(to.kind, to.id));
  }
}

/** Out of sight at once, then file by file: what a kill leaves of it goes at the next start. */
async function remove(path: string, signal: AbortSignal): Promise<void> {
  if (!(await isDirectory(path))) return;
  const doomed = join(dirname(path), `.gone-${randomUUID()}`);
  await rename(path, doomed);
  await run('rm', ['-rf', doomed], { signal });
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
