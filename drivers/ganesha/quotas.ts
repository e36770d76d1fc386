/**
 * btrfs quota groups: one for each subvolume, whose limit is the size of the share. Figures are read from
 * /sys, where they cost nothing; they are those of the last commit to disk.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { run } from './command.ts';

/** Bytes. */
export interface Usage {
  /** everything that the subvolume refers to: what counts against the limit */
  referenced: number;
  /** what no snapshot or clone refers to as well */
  exclusive: number;
  /** 0: none */
  limit: number;
}

/** Lower ids are btrfs' own trees. */
const firstSubvolume = 256;

const sweepAtMost = 50;

export class Quotas {
  readonly #top: string;
  readonly #sysfs: string;
  /** groups of subvolumes that were deleted: they can go once the kernel has cleaned up after them */
  readonly #leftover = new Set<number>();

  constructor(top: string, sysfs: string) {
    this.#top = top;
    this.#sysfs = sysfs;
  }

  async enable(signal: AbortSignal): Promise<void> {
    if ((await this.#read('enabled')) !== '1') await run('btrfs', ['quota', 'enable', this.#top], { signal });
    // else deleting a big subvolume makes the kernel give up counting until everything is read again
    await writeFile(`${this.#sysfs}/qgroups/drop_subtree_threshold`, '8').catch(() => {});
    await this.recount(signal);
  }

  /** Counts anew, in the background, where the kernel says that its figures can't be trusted. */
  async recount(signal: AbortSignal): Promise<boolean> {
    if ((await this.#read('inconsistent')) !== '1') return false;
    await run('btrfs', ['quota', 'rescan', this.#top], { signal }).catch((error: unknown) => {
      if (!/in progress/.test(String(error))) throw error;
    });
    return true;
  }

  async limit(subvolume: number, bytes: number | null, signal: AbortSignal): Promise<void> {
    const amount = bytes === null ? 'none' : String(bytes);
    await run('btrfs', ['qgroup', 'limit', amount, `0/${subvolume}`, this.#top], { signal });
  }

  /** null: no such group. */
  async usage(subvolume: number): Promise<Usage | null> {
    const group = `0_${subvolume}`;
    const figures = ['referenced', 'exclusive', 'limit_flags', 'max_referenced'];
    const [referenced, exclusive, flags, limit] = await Promise.all(
      figures.map((name) => this.#read(`${group}/${name}`)),
    );
    if (referenced === null || referenced === undefined) return null;
    const limited = (Number(flags) & 1) !== 0;
    return {
      referenced: Number(referenced),
      exclusive: Number(exclusive),
      limit: limited ? Number(limit) : 0,
    };
  }

  left(subvolume: number): void {
    this.#leftover.add(subvolume);
  }

  /** Finds the groups that an earlier process left: those of none of the subvolumes. */
  async leftBesides(subvolumes: ReadonlySet<number>): Promise<void> {
    const groups = await readdir(`${this.#sysfs}/qgroups`).catch(() => []);
    for (const group of groups) {
      const subvolume = Number(/^0_(\d+)$/.exec(group)?.[1] ?? 0);
      if (subvolume >= firstSubvolume && !subvolumes.has(subvolume)) this.left(subvolume);
    }
  }

  /** Removes some of them: each costs a moment of the whole file system. */
  async sweep(signal: AbortSignal): Promise<void> {
    if (this.#leftover.size === 0) return;
    const listed = await run('btrfs', ['subvolume', 'list', '-d', this.#top], { signal });
    const uncleaned = new Set([...listed.matchAll(/^ID (\d+) /gm)].map(([, id]) => Number(id)));
    const ready = [...this.#leftover].filter((subvolume) => !uncleaned.has(subvolume)).slice(0, sweepAtMost);
    for (const subvolume of ready) {
      try {
        await run('btrfs', ['qgroup', 'destroy', `0/${subvolume}`, this.#top], { signal });
      } catch (error) {
        if (signal.aborted) throw error; // any other reason: it is gone, or never will be
      }
      this.#leftover.delete(subvolume);
    }
  }

  async #read(name: string): Promise<string | null> {
    try {
      return (await readFile(`${this.#sysfs}/qgroups/${name}`, 'utf8')).trim();
    } catch {
      return null;
    }
  }
}
