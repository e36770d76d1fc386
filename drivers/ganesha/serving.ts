/** One NFS server with its exports: that of the whole back end, or a share server. */
import { isIP } from 'node:net';
import type { DriverSettings, ExportLocation } from '../driver.ts';
import type { ExportRecord } from './configuration.ts';
import { type ExportChange, Exports } from './exports.ts';
import { GaneshaServer } from './server.ts';

export interface ServingSettings {
  stateDirectory: string;
  address: string;
  /** 0: NFS' own where `preferred` says so and it can be had, else a free one; kept from then on */
  port: number;
  preferred?: number;
  /** as it stands in export locations; the address where it isn't given */
  exportHost?: string;
  gracePeriod: number;
  log: DriverSettings['log'];
}

export class Serving {
  readonly exportHost: string;
  readonly #exports: Exports;
  readonly #server: GaneshaServer;

  constructor(settings: ServingSettings) {
    this.exportHost = settings.exportHost ?? spelled(settings.address);
    this.#exports = new Exports(settings.stateDirectory);
    this.#server = new GaneshaServer({ ...settings, exports: () => this.#exports.text() });
  }

  /** `ready` makes a volume ready to be exported and answers its path; null: it is gone, and its export goes. */
  async start(
    ready: (id: string, record: ExportRecord) => Promise<string | null>,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#exports.load();
    const lost: string[] = [];
    for (const [id, record] of this.#exports.entries()) {
      const path = await ready(id, record);
      if (path === null) lost.push(id);
      else await this.#exports.relocate(id, path);
    }
    await this.#server.start(signal);
    for (const id of lost) await this.#exports.drop(id, this.#server, signal);
  }

  /** Data and exports stay, for the next start. */
  async stop(): Promise<void> {
    await this.#server.stop();
  }

  get port(): number {
    return this.#server.port;
  }

  records(): [string, ExportRecord][] {
    return this.#exports.entries();
  }

  record(id: string): ExportRecord | undefined {
    return this.#exports.get(id);
  }

  async publish(id: string, change: ExportChange, signal: AbortSignal): Promise<void> {
    await this.#exports.put(id, change, this.#server, signal);
  }

  async withdraw(id: string, signal: AbortSignal): Promise<void> {
    await this.#exports.drop(id, this.#server, signal);
  }

  /** The same export under another id: clients notice nothing. */
  async rename(id: string, to: string, change: Partial<ExportRecord>): Promise<void> {
    await this.#exports.rename(id, to, change);
  }

  /** While `work` is done, clients wait and nothing of theirs is written. */
  async paused<T>(work: () => Promise<T>): Promise<T> {
    return this.#server.paused(work);
  }

  /** Where clients find an export; `port` is told where it isn't NFS' own. */
  locations(pseudo: string): ExportLocation[] {
    const { port } = this.#server;
    return [
      {
        path: `${this.exportHost}:${pseudo}`,
        isAdminOnly: false,
        metadata: { preferred: 'True', ...(port === nfsPort ? {} : { port: String(port) }) },
      },
    ];
  }
}

export const nfsPort = 2049;

/** An address as it stands before a colon. */
export const spelled = (address: string): string => (isIP(address) === 6 ? `[${address}]` : address);
