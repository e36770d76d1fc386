/**
 * What the data worker has open: `<state directory>/attached/<id>`, each a bind mount of its own, so that what is
 * opened for reading can't be written to, whoever is root. One that a killed worker left is taken as it is.
 */
import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './command.ts';
import { mountAt, mountsBelow, unmount } from './mounts.ts';
import type { Volume } from './storage.ts';

export class Attached {
  readonly directory: string;

  constructor(stateDirectory: string) {
    this.directory = join(stateDirectory, 'attached');
  }

  /** Answers the path. What was open in another mode is closed first. */
  async open({ id }: Volume, source: string, mode: 'ro' | 'rw', signal: AbortSignal): Promise<string> {
    const at = join(this.directory, id);
    const present = await mountAt(at);
    if (present !== undefined && present.readOnly === (mode === 'ro')) return at;
    if (present !== undefined) await unmount(at, signal);
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    await mkdir(at, { recursive: true });
    await run('mount', ['-o', `bind,${mode}`, source, at], { signal });
    return at;
  }

  async close({ id }: Volume, signal: AbortSignal): Promise<void> {
    const at = join(this.directory, id);
    while ((await mountAt(at)) !== undefined) await unmount(at, signal);
    await rmdir(at).catch(() => {});
  }

  async closeAll(signal: AbortSignal): Promise<void> {
    for (const { at } of await mountsBelow(this.directory)) {
      await unmount(at, signal);
      await rmdir(at).catch(() => {});
    }
  }
}
