/**
 * The exports and their access lists. Each is one file in the state directory, written before Ganesha is told
 * and removed after; so whatever is killed when, a server that starts with all the files serves the same
 * exports under the same numbers. Running exports are changed one by one, which leaves the others' open files
 * alone.
 */
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DriverError } from '../driver.ts';
import { type ExportRecord, exportBlock, parseExportBlock, pseudoPath } from './configuration.ts';
import { writeWhole } from './files.ts';
import type { GaneshaServer } from './server.ts';

/** Ganesha's numbers have 16 bits, and 0 is the root of all exports. */
const lastNumber = 65_535;

/** What is to be so; what is left out stays as it is, or begins as nobody's. */
export type ExportChange = Pick<ExportRecord, 'kind' | 'path'> & Partial<Omit<ExportRecord, 'number'>>;

export class Exports {
  readonly #directory: string;
  readonly #records = new Map<string, ExportRecord>();
  readonly #taken = new Set<number>();
  #latest = 0;

  constructor(stateDirectory: string) {
    this.#directory = join(stateDirectory, 'exports');
  }

  async load(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    this.#records.clear();
    this.#taken.clear();
    for (const name of await readdir(this.#directory)) {
      const id = /^([A-Za-z0-9_][A-Za-z0-9_.-]*)\.conf$/.exec(name)?.[1];
      const record = id && parseExportBlock(await readFile(join(this.#directory, name), 'utf8'));
      if (id && record) this.#remember(id, record);
    }
    this.#latest = Math.max(0, ...this.#taken);
  }

  get(id: string): ExportRecord | undefined {
    return this.#records.get(id);
  }

  /** By id, as they were last written. */
  entries(): [string, ExportRecord][] {
    return [...this.#records];
  }

  /** The configuration of all of them. */
  async text(): Promise<string> {
    return [...this.#records].map(([id, record]) => exportBlock(id, record)).join('');
  }

  /** Makes `id` exported so. When it returns, Ganesha goes by it. */
  async put(id: string, change: ExportChange, server: GaneshaServer, signal: AbortSignal): Promise<void> {
    const before = this.#records.get(id);
    const number = before?.number ?? this.#freeNumber();
    const record: ExportRecord = { blocks: [], ...before, ...change, number };
    this.#assertFree(id, record);
    // a running export can change neither of these
    const moved = before && (before.path !== record.path || nameOf(id, before) !== nameOf(id, record));
    if (moved) await this.drop(id, server, signal);
    this.#remember(id, record);
    const file = join(this.#directory, `${id}.conf`);
    await writeWhole(file, exportBlock(id, record));
    try {
      await server.call('UpdateExport', [`string:${file}`, `string:EXPORT(Export_Id=${number})`], signal);
    } catch (error) {
      // a refused change must not come into force by a restart
      if (before === undefined) await this.#forget(id);
      else {
        this.#remember(id, before);
        await writeWhole(file, exportBlock(id, before));
      }
      throw error;
    }
  }

  async drop(id: string, server: GaneshaServer, signal: AbortSignal): Promise<void> {
    const record = this.#records.get(id);
    if (record === undefined) return;
    try {
      await server.call('RemoveExport', [`uint16:${record.number}`], signal);
    } catch (error) {
      if (!/Export id not found/.test(String(error))) throw error;
    }
    await this.#forget(id);
  }

  async #forget(id: string): Promise<void> {
    const record = this.#records.get(id);
    await rm(join(this.#directory, `${id}.conf`), { force: true });
    this.#records.delete(id);
    if (record !== undefined) this.#taken.delete(record.number);
  }

  /** The same export under another id, without the server's knowing. */
  async rename(id: string, to: string, change: Partial<ExportRecord>): Promise<void> {
    const record = this.#records.get(id);
    if (record === undefined) return;
    const changed = { ...record, pseudo: nameOf(id, record), ...change };
    await rename(join(this.#directory, `${id}.conf`), join(this.#directory, `${to}.conf`));
    await writeWhole(join(this.#directory, `${to}.conf`), exportBlock(to, changed));
    this.#records.delete(id);
    this.#remember(to, changed);
  }

  #assertFree(id: string, record: ExportRecord): void {
    const name = nameOf(id, record);
    for (const [other, present] of this.#records)
      if (other !== id && nameOf(other, present) === name)
        throw new DriverError('invalid', `something else is exported as ${name}`);
  }

  /** Another place for the same export, from the server's next start on. */
  async relocate(id: string, path: string): Promise<void> {
    const record = this.#records.get(id);
    if (record === undefined || record.path === path) return;
    this.#remember(id, { ...record, path });
    await writeWhole(join(this.#directory, `${id}.conf`), exportBlock(id, { ...record, path }));
  }

  #remember(id: string, record: ExportRecord): void {
    this.#records.set(id, record);
    this.#taken.add(record.number);
  }

  /** Goes round, so that a number isn't used again soon: clients of the old export may still be there. */
  #freeNumber(): number {
    for (let tried = 0; tried < lastNumber; tried++) {
      this.#latest = (this.#latest % lastNumber) + 1;
      if (!this.#taken.has(this.#latest)) return this.#latest;
    }
    throw new DriverError('noSpace', `there are ${lastNumber} exports already, as many as Ganesha can have`);
  }
}

const nameOf = (id: string, record: ExportRecord): string => record.pseudo ?? pseudoPath(record.kind, id);
