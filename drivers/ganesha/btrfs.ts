/**
 * Shares as btrfs subvolumes: the quota group of each holds its size, a snapshot is a read-only subvolume, a
 * clone a writable one. Each that is exported gets a mount of its own, since Ganesha tells file systems apart
 * by their mounts and a file handle must lead to the same one after a restart.
 *
 *   <data directory>/shares.btrfs           the image
 *   <state directory>/volumes/              its top: shares/<id>, snapshots/<id>
 *   <state directory>/exported/<kind>/<id>  the mounts
 */
import { chmod, mkdir, rename, rm, rmdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { DriverError } from '../driver.ts';
import { run } from './command.ts';
import { copyFiles } from './copying.ts';
import { closeLoop, type LoopFileSystem, openLoop } from './loopDevice.ts';
import { mountAt, mountsBelow, unmount } from './mounts.ts';
import { Quotas } from './quotas.ts';
import { restoreFiles } from './restore.ts';
import { type Capacity, type Storage, type Volume, type VolumeKind, volumeKinds } from './storage.ts';
import { moveVolume, originOf, setReadOnly } from './volumeMoves.ts';

export interface BtrfsSettings {
  dataDirectory: string;
  stateDirectory: string;
  /** bytes of the image, sparse */
  imageSize: number;
}

export class BtrfsStorage implements Storage {
  readonly enforcesSize = true;
  readonly instantSnapshots = true;
  readonly #settings: BtrfsSettings;
  readonly #top: string;
  readonly #exported: string;
  /** subvolume ids by `<kind>/<id>` */
  readonly #subvolumes = new Map<string, number>();
  #fileSystem: LoopFileSystem | undefined;
  #quotas: Quotas | undefined;

  readonly image: string;

  constructor(settings: BtrfsSettings) {
    this.#settings = settings;
    this.image = join(settings.dataDirectory, 'shares.btrfs');
    this.#top = join(settings.stateDirectory, 'volumes');
    this.#exported = join(settings.stateDirectory, 'exported');
  }

  async open(signal: AbortSignal): Promise<void> {
    await mkdir(this.#settings.dataDirectory, { recursive: true, mode: 0o700 });
    this.#fileSystem = await openLoop(this.image, this.#settings.imageSize, this.#top, signal);
    // shares are open to every user of their clients, not to those of this machine
    await chmod(this.#top, 0o700);
    await mkdir(this.#exported, { recursive: true, mode: 0o700 });
    this.#quotas = new Quotas(this.#top, this.#fileSystem.sysfs);
    await this.#quotas.enable(signal);
    for (const place of [...volumeKinds, 'frozen']) await mkdir(join(this.#top, place), { recursive: true });
    await this.#list(signal);
  }

  async close(): Promise<void> {
    if (this.#fileSystem === undefined) return;
    const signal = AbortSignal.timeout(30_000);
    for (const { at } of await mountsBelow(this.#exported)) {
      await unmount(at, signal);
      await rmdir(at).catch(() => {});
    }
    await closeLoop(this.#fileSystem, this.#top, signal);
    this.#fileSystem = undefined;
  }

  /** After an open that failed on a new image: nothing is in it. */
  async discardEmpty(): Promise<void> {
    for (const name of [this.image, `${this.image}.new`]) await rm(name, { force: true });
  }

  async #list(signal: AbortSignal): Promise<void> {
    this.#subvolumes.clear();
    const listed = await run('btrfs', ['subvolume', 'list', this.#top], { signal });
    for (const [, id, path] of listed.matchAll(/^ID (\d+) .* path (\S+)$/gm))
      this.#subvolumes.set(path!, Number(id));
    for (const [path] of this.#subvolumes) {
      // what a process that was killed had begun
      if (!path.includes('/.') && !path.startsWith('frozen/')) continue;
      await run('btrfs', ['subvolume', 'delete', join(this.#top, path)], { signal });
      this.#subvolumes.delete(path);
    }
    await this.#quota.leftBesides(new Set(this.#subvolumes.values()));
  }

  async exists(volume: Volume): Promise<boolean> {
    // operators put things there behind our back
    if (volume.kind.startsWith('unmanaged')) return isDirectory(this.directory(volume));
    return this.#subvolumes.has(key(volume));
  }

  async create(id: string, size: number, signal: AbortSignal): Promise<void> {
    const path = this.#path('shares', id);
    if (!(await isDirectory(path))) await run('btrfs', ['subvolume', 'create', path], { signal });
    await this.#found('shares', id, signal);
    await this.resize(id, size, signal);
    // whoever the access rules admit may write; who owns what is for the clients to say
    await chmod(path, 0o777);
  }

  async clone(id: string, snapshotId: string, size: number, signal: AbortSignal): Promise<void> {
    const path = this.#path('shares', id);
    if (!(await isDirectory(path)))
      await run('btrfs', ['subvolume', 'snapshot', this.#path('snapshots', snapshotId), path], { signal });
    await this.#found('shares', id, signal);
    await this.resize(id, size, signal);
  }

  async receive(id: string, from: string, size: number, signal: AbortSignal): Promise<void> {
    const [path, draft] = [this.#path('shares', id), this.#path('shares', `.${id}`)];
    if (!(await isDirectory(path))) {
      if (!(await isDirectory(draft))) await run('btrfs', ['subvolume', 'create', draft], { signal });
      await copyFiles(from, draft, signal);
      await rename(draft, path);
    }
    await this.#found('shares', id, signal);
    await this.resize(id, size, signal);
  }

  async fill(id: string, from: string, size: number, signal: AbortSignal): Promise<void> {
    await this.#unlimited(id, size, signal, () => copyFiles(from, this.#path('shares', id), signal));
  }

  async receiveSnapshot(id: string, snapshotId: string, from: string, signal: AbortSignal): Promise<void> {
    const [path, draft] = [this.#path('snapshots', snapshotId), this.#path('snapshots', `.${snapshotId}`)];
    if (!(await isDirectory(path))) {
      if (await isDirectory(draft)) await run('btrfs', ['subvolume', 'delete', draft], { signal });
      await run('btrfs', ['subvolume', 'snapshot', this.#path('shares', id), draft], { signal });
      await copyFiles(from, draft, signal);
      await rename(draft, path);
    }
    await setReadOnly(path, true, signal);
    await this.#found('snapshots', snapshotId, signal);
  }

  async freeze(id: string, as: string, signal: AbortSignal): Promise<string> {
    await this.thaw(as, signal);
    const path = join(this.#top, 'frozen', as);
    await run('btrfs', ['subvolume', 'snapshot', '-r', this.#path('shares', id), path], { signal });
    return path;
  }

  async thaw(as: string, signal: AbortSignal): Promise<void> {
    const path = join(this.#top, 'frozen', as);
    if (await isDirectory(path)) await run('btrfs', ['subvolume', 'delete', path], { signal });
  }

  async flush(signal: AbortSignal): Promise<void> {
    await run('btrfs', ['filesystem', 'sync', this.#top], { signal });
  }

  async resize(id: string, size: number, signal: AbortSignal): Promise<void> {
    await this.#quota.limit(this.#subvolume({ kind: 'shares', id }), size, signal);
  }

  async sizeOf(id: string): Promise<number> {
    return (await this.#quota.usage(this.#subvolume({ kind: 'shares', id })))?.limit ?? 0;
  }

  async used(volume: Volume, signal: AbortSignal): Promise<number> {
    await this.flush(signal);
    const usage = await this.#quota.usage(this.#subvolume(volume));
    if (usage === null) throw new DriverError('failed', `the kernel has no quota group of ${key(volume)}`);
    return usage.referenced;
  }

  async snapshot(id: string, snapshotId: string, signal: AbortSignal): Promise<void> {
    const path = this.#path('snapshots', snapshotId);
    if (!(await isDirectory(path)))
      await run('btrfs', ['subvolume', 'snapshot', '-r', this.#path('shares', id), path], { signal });
    await this.#found('snapshots', snapshotId, signal);
  }

  async revert(id: string, snapshotId: string, size: number, signal: AbortSignal): Promise<void> {
    const [from, to] = [this.#path('snapshots', snapshotId), this.#path('shares', id)];
    await this.#unlimited(id, size, signal, () => restoreFiles(from, to, 'always', signal));
  }

  /** A full share has no room for the change from one state to another. */
  async #unlimited(id: string, size: number, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const subvolume = this.#subvolume({ kind: 'shares', id });
    await this.#quota.limit(subvolume, null, signal);
    try {
      await work();
    } finally {
      await this.#quota.limit(subvolume, size, AbortSignal.timeout(10_000));
    }
  }

  async remove(volume: Volume, signal: AbortSignal): Promise<void> {
    await this.detach(volume, signal);
    const path = this.#path(volume.kind, volume.id);
    if (await isDirectory(path)) await run('btrfs', ['subvolume', 'delete', path], { signal });
    const subvolume = this.#subvolumes.get(key(volume));
    if (subvolume !== undefined) this.#quota.left(subvolume);
    this.#subvolumes.delete(key(volume));
  }

  directory({ kind, id }: Volume): string {
    return this.#path(kind, id);
  }

  async move(from: Volume, to: Volume, signal: AbortSignal): Promise<void> {
    const readOnly = from.kind === 'unmanaged-snapshots' || to.kind === 'unmanaged-snapshots';
    await moveVolume(this.directory(from), this.directory(to), readOnly, signal);
    this.#subvolumes.delete(key(from));
    await this.#found(to.kind, to.id, signal);
  }

  async isSnapshotOf(snapshot: Volume, id: string, signal: AbortSignal): Promise<boolean> {
    const [taken, share] = await Promise.all([
      originOf(this.directory(snapshot), signal),
      originOf(this.#path('shares', id), signal),
    ]);
    return taken.parent === share.uuid;
  }

  async attach(volume: Volume, signal: AbortSignal): Promise<string> {
    const there = await this.#mountOf(volume);
    if (there !== undefined) return there;
    const at = join(this.#exported, volume.kind, volume.id);
    const present = await mountAt(at);
    // what is mounted there belonged to a subvolume that is gone
    if (present !== undefined) await unmount(at, signal);
    await mkdir(at, { recursive: true });
    const options = `noatime,subvol=${key(volume)}${volume.kind === 'snapshots' ? ',ro' : ''}`;
    await run('mount', ['-t', 'btrfs', '-o', options, this.#fileSystem!.device, at], { signal });
    return at;
  }

  async detach(volume: Volume, signal: AbortSignal): Promise<void> {
    const at = (await this.#mountOf(volume)) ?? join(this.#exported, volume.kind, volume.id);
    if ((await mountAt(at)) !== undefined) await unmount(at, signal);
    await rmdir(at).catch(() => {});
  }

  /** A volume that was moved keeps the mount that it had. */
  async #mountOf(volume: Volume): Promise<string | undefined> {
    const mounts = await mountsBelow(this.#exported);
    return mounts.find(({ root }) => root === `/${key(volume)}`)?.at;
  }

  async tidy(signal: AbortSignal): Promise<void> {
    await this.#quota.recount(signal);
    await this.#quota.sweep(signal);
  }

  async capacity(): Promise<Capacity> {
    const { bsize, blocks, bavail } = await statfs(this.#top);
    const shares = [...this.#subvolumes].filter(([name]) => name.startsWith('shares/'));
    const usages = await Promise.all(shares.map(([, subvolume]) => this.#quota.usage(subvolume)));
    let provisioned = 0;
    let owed = 0;
    for (const usage of usages) {
      provisioned += usage?.limit ?? 0;
      owed += Math.max(0, (usage?.limit ?? 0) - (usage?.exclusive ?? 0));
    }
    const free = bavail * bsize;
    return { total: blocks * bsize, free, provisioned, unpromised: Math.max(0, free - owed) };
  }

  get #quota(): Quotas {
    if (this.#quotas === undefined)
      throw new DriverError('failed', 'the file system of the shares is not open');
    return this.#quotas;
  }

  #path(kind: VolumeKind, id: string): string {
    return join(this.#top, kind, id);
  }

  #subvolume(volume: Volume): number {
    const subvolume = this.#subvolumes.get(key(volume));
    if (subvolume === undefined) throw new DriverError('notFound', `there is no ${key(volume)}`);
    return subvolume;
  }

  async #found(kind: VolumeKind, id: string, signal: AbortSignal): Promise<void> {
    if (this.#subvolumes.has(key({ kind, id }))) return;
    const answer = await run('btrfs', ['inspect-internal', 'rootid', this.#path(kind, id)], { signal });
    this.#subvolumes.set(key({ kind, id }), Number(answer.trim()));
  }
}

const key = (volume: Volume): string => `${volume.kind}/${volume.id}`;

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
