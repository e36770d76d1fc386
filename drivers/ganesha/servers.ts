/**
 * Share servers: an NFS-Ganesha of its own for each, on the address that it was given in its tenant's subnet, with
 * its own exports and access lists. No two have the same address and port, so tenants whose subnets look alike are
 * apart all the same; the addresses must be some of this machine's, which those of 127.0.0.0/8 always are.
 *
 *   <state directory>/servers/<identifier>/server.json   what is kept of it; exports and logs beside it
 *
 * Servers outlive the worker, as the back end's own does.
 */
import { mkdir, readdir, rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { type BackendShareServer, DriverError, type DriverSettings } from '../driver.ts';
import { giveUpIf } from './command.ts';
import type { ExportRecord } from './configuration.ts';
import { readIfThere, writeWhole } from './files.ts';
import { nfsPort, Serving } from './serving.ts';

/** What is kept of a server. */
export interface ServerRecord {
  address: string;
  /** the id of the share server that it is; null: it was let go */
  servesAs: string | null;
}

type Ready = (id: string, record: ExportRecord) => Promise<string | null>;

interface Settings {
  stateDirectory: string;
  gracePeriod: number;
  log: DriverSettings['log'];
  ready: (signal: AbortSignal) => Ready;
}

export class Servers {
  readonly #settings: Settings;
  readonly #directory: string;
  readonly #running = new Map<string, { serving: Serving; record: ServerRecord }>();

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#directory = join(settings.stateDirectory, 'servers');
  }

  /** All that are kept, as they were. One that can't be started is told of and left for `ensure`. */
  async start(signal: AbortSignal): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const kept = await readdir(this.#directory);
    await Promise.all(
      kept.filter(isIdentifier).map(async (identifier) => {
        const record = await this.kept(identifier);
        if (record === null) return;
        await this.open(identifier, record, signal).catch((error: Error) =>
          this.#settings.log('error', 'a share server could not be started', {
            server: identifier,
            error: error.message,
          }),
        );
      }),
    );
    giveUpIf(signal, 'the start');
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running.values()].map(({ serving }) => serving.stop()));
    this.#running.clear();
  }

  find(identifier: string): Serving | undefined {
    return this.#running.get(identifier)?.serving;
  }

  /** null: there is no such server. */
  async kept(identifier: string): Promise<ServerRecord | null> {
    const running = this.#running.get(identifier);
    if (running !== undefined) return running.record;
    const text = await readIfThere(this.#file(identifier));
    return text === null ? null : (JSON.parse(text) as ServerRecord);
  }

  /** Makes it serve on that address, and be kept. */
  async open(identifier: string, record: ServerRecord, signal: AbortSignal): Promise<Serving> {
    const running = this.#running.get(identifier);
    if (running?.record.address === record.address) {
      await this.keep(identifier, record);
      return running.serving;
    }
    if (running !== undefined) await this.#end(identifier);
    assertHere(record.address);
    const stateDirectory = join(this.#directory, identifier);
    await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
    await this.keep(identifier, record);
    const { gracePeriod, log, ready } = this.#settings;
    const { address } = record;
    const serving = new Serving({
      stateDirectory,
      address,
      port: 0,
      preferred: nfsPort,
      gracePeriod,
      log: (level, message, detail) => log(level, message, { server: identifier, ...detail }),
    });
    await serving.start(ready(signal), signal);
    this.#running.set(identifier, { serving, record });
    return serving;
  }

  async keep(identifier: string, record: ServerRecord): Promise<void> {
    await writeWhole(this.#file(identifier), JSON.stringify(record));
    const running = this.#running.get(identifier);
    if (running !== undefined) running.record = record;
  }

  /** Ends it and forgets it; the data of what it exported stays. */
  async remove(identifier: string): Promise<void> {
    const record = await this.kept(identifier);
    if (this.find(identifier) === undefined && record !== null) await this.#endUnseen(identifier, record);
    await this.#end(identifier);
    await rm(join(this.#directory, identifier), { recursive: true, force: true });
  }

  async #end(identifier: string): Promise<void> {
    await this.#running.get(identifier)?.serving.stop();
    this.#running.delete(identifier);
  }

  /** Processes of a server that could not be started whole, or not by this worker. */
  async #endUnseen(identifier: string, { address }: ServerRecord): Promise<void> {
    const { gracePeriod, log } = this.#settings;
    const stateDirectory = join(this.#directory, identifier);
    await new Serving({ stateDirectory, address, port: 0, gracePeriod, log }).stop();
  }

  #file(identifier: string): string {
    if (!isIdentifier(identifier))
      throw new DriverError(
        'invalid',
        `${JSON.stringify(identifier)} is not the identifier of a share server`,
      );
    return join(this.#directory, identifier, 'server.json');
  }
}

const isIdentifier = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text);

/** What the gateway calls a server: the id that it was set up with, also after it came back under another. */
export const identifierOf = (server: BackendShareServer): string => server.identifier ?? server.id;

function assertHere(address: string): void {
  const here = Object.values(networkInterfaces()).flatMap((some) => some?.map((one) => one.address) ?? []);
  if (here.includes(address) || (isIP(address) === 4 && address.startsWith('127.'))) return;
  throw new DriverError(
    'failed',
    `${address} is not an address of this machine: the network plug-in must give out such, as those of 127.0.0.0/8`,
  );
}
