/** The parts of one gateway put together: storage, exports, server, and the order in which they start and stop. */
import { mkdir } from 'node:fs/promises';
import { DriverError, type DriverSettings, type ExportLocation } from '../driver.ts';
import type { ClientBlock } from './accessList.ts';
import { Attached } from './attached.ts';
import { giveUpIf } from './command.ts';
import { pseudoPath } from './configuration.ts';
import { Exports } from './exports.ts';
import { lockDirectory } from './lock.ts';
import { openStorage } from './openStorage.ts';
import { canOpenByHandle } from './privileges.ts';
import { createQueue, type Exclusively } from './queue.ts';
import { GaneshaServer } from './server.ts';
import type { GaneshaOptions } from './settings.ts';
import type { Storage, Volume } from './storage.ts';

export class Gateway {
  readonly options: GaneshaOptions;
  readonly exclusively: Exclusively = createQueue();
  /** what the data worker has open */
  readonly attached: Attached;
  readonly #settings: DriverSettings;
  readonly #exports: Exports;
  readonly #server: GaneshaServer;
  #storage: Storage | undefined;
  #unlock: (() => Promise<void>) | undefined;

  constructor(settings: DriverSettings, options: GaneshaOptions) {
    this.#settings = settings;
    this.options = options;
    this.#exports = new Exports(settings.stateDirectory);
    this.attached = new Attached(settings.stateDirectory);
    this.#server = new GaneshaServer({
      stateDirectory: settings.stateDirectory,
      address: options.address,
      port: options.port,
      gracePeriod: options.gracePeriod,
      log: settings.log,
      exports: () => this.#exports.text(),
    });
  }

  async start(signal: AbortSignal): Promise<void> {
    giveUpIf(signal, 'the start');
    if (!(await canOpenByHandle()))
      throw new DriverError('unsupported', 'NFS-Ganesha needs root, with the capability CAP_DAC_READ_SEARCH');
    await mkdir(this.#settings.stateDirectory, { recursive: true, mode: 0o700 });
    this.#unlock = await lockDirectory(this.#settings.stateDirectory, signal);
    try {
      this.#storage = await openStorage(this.#settings, this.options, signal);
      const lost = await this.#findExports(signal);
      await this.#server.start(signal);
      for (const id of lost) await this.#exports.drop(id, this.#server, signal);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Readies every volume that is exported; answers the exports whose volume is gone. */
  async #findExports(signal: AbortSignal): Promise<string[]> {
    await this.#exports.load();
    const lost: string[] = [];
    for (const [id, { kind }] of this.#exports.entries()) {
      if (await this.storage.exists({ kind, id }))
        await this.#exports.relocate(id, await this.storage.attach({ kind, id }, signal));
      else lost.push(id);
    }
    return lost;
  }

  /** Data stays. */
  async stop(): Promise<void> {
    await this.#server.stop();
    if (this.#storage !== undefined) await this.attached.closeAll(AbortSignal.timeout(30_000));
    await this.#storage?.close();
    this.#storage = undefined;
    await this.#unlock?.();
    this.#unlock = undefined;
  }

  get storage(): Storage {
    if (this.#storage === undefined) throw new DriverError('failed', 'the back end is not started');
    return this.#storage;
  }

  /** Exports a volume to exactly these clients; without `blocks`, to those it had. */
  async publish(
    volume: Volume,
    blocks: readonly ClientBlock[] | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const path = await this.storage.attach(volume, signal);
    await this.#exports.put(volume.id, volume.kind, path, blocks, this.#server, signal);
  }

  async withdraw(volume: Volume, signal: AbortSignal): Promise<void> {
    await this.#exports.drop(volume.id, this.#server, signal);
    await this.storage.detach(volume, signal);
  }

  /** Where clients find a volume; `port` is told where it isn't NFS' own. */
  locations({ kind, id }: Volume): ExportLocation[] {
    const { port } = this.#server;
    return [
      {
        path: `${this.options.exportHost}:${pseudoPath(kind, id)}`,
        isAdminOnly: false,
        metadata: { preferred: 'True', ...(port === nfsPort ? {} : { port: String(port) }) },
      },
    ];
  }

  /** Fails with 'noSpace' where so many bytes more can't be promised. */
  async assertRoom(bytes: number): Promise<void> {
    if (this.options.thin || !this.storage.enforcesSize) return;
    const { unpromised } = await this.storage.capacity();
    if (bytes > unpromised)
      throw new DriverError('noSpace', `${bytes} bytes are asked for, ${unpromised} are left`);
  }

  async assertThere(volume: Volume): Promise<void> {
    if (!(await this.storage.exists(volume)))
      throw new DriverError('notFound', `there is no ${volume.kind}/${volume.id} on this back end`);
  }
}

const nfsPort = 2049;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Ids become file names and configuration: anything but a UUID is refused. */
export function volume(kind: Volume['kind'], id: string): Volume {
  if (!uuid.test(id)) throw new DriverError('invalid', `${JSON.stringify(id)} is not an id`);
  return { kind, id };
}
