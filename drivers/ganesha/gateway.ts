/** The parts of one gateway put together: pools, servers, and the order in which they start and stop. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type BackendShare,
  type BackendSnapshot,
  DriverError,
  type DriverSettings,
  type ExportLocation,
} from '../driver.ts';
import { Attached } from './attached.ts';
import { giveUpIf } from './command.ts';
import { type ExportRecord, pseudoPath } from './configuration.ts';
import { lockDirectory } from './lock.ts';
import { openStorage } from './openStorage.ts';
import { canOpenByHandle } from './privileges.ts';
import { createQueue, type Exclusively } from './queue.ts';
import { identifierOf, Servers } from './servers.ts';
import { Serving } from './serving.ts';
import type { GaneshaOptions } from './settings.ts';
import type { Storage, Volume } from './storage.ts';

/** A volume with where it is kept and who serves it. */
export interface Home {
  volume: Volume;
  pool: string;
  storage: Storage;
  /** undefined: its share server isn't there */
  serving: Serving | undefined;
}

type Publication = Partial<Pick<ExportRecord, 'blocks' | 'pseudo' | 'readOnly'>>;

export class Gateway {
  readonly options: GaneshaOptions;
  readonly exclusively: Exclusively = createQueue();
  /** what the data worker has open */
  readonly attached: Attached;
  readonly #settings: DriverSettings;
  /** one of the two: the server of all shares, or those of the tenants */
  readonly #serving: Serving | undefined;
  readonly servers: Servers | undefined;
  /** by pool */
  readonly #storages = new Map<string, Storage>();
  #unlock: (() => Promise<void>) | undefined;

  constructor(settings: DriverSettings, options: GaneshaOptions) {
    this.#settings = settings;
    this.options = options;
    this.attached = new Attached(settings.stateDirectory);
    const { address, exportHost, port, gracePeriod } = options;
    const { stateDirectory, log } = settings;
    if (options.common.handlesShareServers) {
      const ready = (signal: AbortSignal) => (id: string, record: ExportRecord) =>
        this.#ready(id, record, signal);
      this.servers = new Servers({ stateDirectory, gracePeriod, log, ready });
    } else {
      this.#serving = new Serving({ stateDirectory, address, port, exportHost, gracePeriod, log });
    }
  }

  async start(signal: AbortSignal): Promise<void> {
    giveUpIf(signal, 'the start');
    if (!(await canOpenByHandle()))
      throw new DriverError('unsupported', 'NFS-Ganesha needs root, with the capability CAP_DAC_READ_SEARCH');
    await mkdir(this.#settings.stateDirectory, { recursive: true, mode: 0o700 });
    this.#unlock = await lockDirectory(this.#settings.stateDirectory, signal);
    try {
      for (const pool of this.options.pools)
        this.#storages.set(pool, await openStorage(this.#directories(pool), this.options, signal));
      await this.#serving?.start((id, record) => this.#ready(id, record, signal), signal);
      await this.servers?.start(signal);
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** The first pool's are the back end's own: it was there before there were several. */
  #directories(pool: string): Parameters<typeof openStorage>[0] {
    const { backend, log, stateDirectory } = this.#settings;
    const { dataDirectory, pools } = this.options;
    const below = pool === pools[0] ? '' : join('pools', pool);
    return {
      backend,
      log,
      stateDirectory: join(stateDirectory, below),
      dataDirectory: join(dataDirectory, below),
    };
  }

  async #ready(id: string, { kind, pool }: ExportRecord, signal: AbortSignal): Promise<string | null> {
    const storage = this.#storages.get(pool ?? this.options.pools[0]!);
    const there = await storage?.exists({ kind, id });
    return storage && there ? storage.attach({ kind, id }, signal) : null;
  }

  /** Data stays. */
  async stop(): Promise<void> {
    await this.#serving?.stop();
    await this.servers?.stop();
    if (this.#storages.size > 0) await this.attached.closeAll(AbortSignal.timeout(30_000));
    for (const storage of this.#storages.values()) await storage.close();
    this.#storages.clear();
    await this.#unlock?.();
    this.#unlock = undefined;
  }

  /** By pool, the first first. */
  get storages(): ReadonlyMap<string, Storage> {
    return this.#storages;
  }

  share(share: BackendShare): Home {
    return this.#home(volume('shares', share.id), share);
  }

  snapshot(snapshot: BackendSnapshot): Home {
    return this.#home(volume('snapshots', snapshot.id), snapshot.share);
  }

  #home(at: Volume, share: BackendShare): Home {
    const pool = this.options.pools.length === 1 ? this.options.pools[0]! : share.pool;
    const storage = this.#storages.get(pool);
    const serving = share.server ? this.servers?.find(identifierOf(share.server)) : this.#serving;
    if (storage !== undefined) return { volume: at, pool, storage, serving };
    if (this.#storages.size === 0) throw new DriverError('failed', 'the back end is not started');
    throw new DriverError('invalid', `this back end has no pool ${JSON.stringify(pool)}`);
  }

  /** Whether the share is on this back end, not on another. */
  isOurs({ backend, pool }: BackendShare): boolean {
    return (backend ?? this.#settings.host) === this.#settings.host && this.options.pools.includes(pool);
  }

  /** Exports a volume; what isn't said stays as it was, and a new one is open to nobody. */
  async publish(home: Home, publication: Publication, signal: AbortSignal): Promise<void> {
    const { volume: at, pool, storage, serving } = home;
    if (serving === undefined) throw new DriverError('notFound', 'the share server is not there');
    const path = await storage.attach(at, signal);
    const kept = pool === this.options.pools[0] ? {} : { pool };
    await serving.publish(at.id, { kind: at.kind, path, ...kept, ...publication }, signal);
  }

  async withdraw({ volume: at, storage, serving }: Home, signal: AbortSignal): Promise<void> {
    await serving?.withdraw(at.id, signal);
    await storage.detach(at, signal);
  }

  /** Where clients find a volume. */
  locations({ volume: at, serving }: Home): ExportLocation[] {
    const pseudo = serving?.record(at.id)?.pseudo ?? pseudoPath(at.kind, at.id);
    return serving?.locations(pseudo) ?? [];
  }

  /** Fails with 'noSpace' where so many bytes more can't be promised. */
  async assertRoom(storage: Storage, bytes: number): Promise<void> {
    if (this.options.thin || !storage.enforcesSize) return;
    const { unpromised } = await storage.capacity();
    if (bytes > unpromised)
      throw new DriverError('noSpace', `${bytes} bytes are asked for, ${unpromised} are left`);
  }
}

export async function assertThere({ volume: at, storage }: Home): Promise<void> {
  if (!(await storage.exists(at)))
    throw new DriverError('notFound', `there is no ${at.kind}/${at.id} on this back end`);
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Ids become file names and configuration: anything but a UUID is refused. */
export function volume(kind: Volume['kind'], id: string): Volume {
  if (!uuid.test(id)) throw new DriverError('invalid', `${JSON.stringify(id)} is not an id`);
  return { kind, id };
}
