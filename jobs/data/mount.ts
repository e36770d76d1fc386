/** Mounts of the data worker: made by the commands of the configuration, at directories of its own. */
import { mkdir, readFile, rmdir } from 'node:fs/promises';
import { mustRun } from './command.ts';

const UNMOUNT_DEADLINE_MS = 60_000;

/** The words of a command: `%(name)s` stands for a value; options may be several words, or none. */
export function fillTemplate(template: string, values: Readonly<Record<string, string>>): string[] {
  return template
    .trim()
    .split(/\s+/)
    .flatMap((word) =>
      word === '%(options)s'
        ? (values.options ?? '').split(/\s+/).filter(Boolean)
        : [word.replace(/%\((\w+)\)s/g, (_, name: string) => values[name] ?? '')],
    );
}

/** Runs `words`, which mount at `path`. What an earlier run left mounted there goes first. */
export async function mountAt(path: string, words: readonly string[], signal: AbortSignal): Promise<void> {
  if (await isMounted(path)) await unmountAt(path, ['umount', path]);
  await mkdir(path, { recursive: true, mode: 0o700 });
  await mustRun(words, signal);
}

/** Runs `words`, which unmount what is at `path`; where something still has a file open, it goes when that is closed. */
export async function unmountAt(path: string, words: readonly string[]): Promise<void> {
  const signal = AbortSignal.timeout(UNMOUNT_DEADLINE_MS);
  await mustRun(words, signal).catch(async (error: unknown) => {
    if (await isMounted(path)) await mustRun(['umount', '--lazy', path], signal);
    else if (signal.aborted) throw error;
  });
  await rmdir(path).catch(() => {});
}

async function isMounted(path: string): Promise<boolean> {
  const table = await readFile('/proc/self/mountinfo', 'utf8');
  // Spaces and the like stand as \040 in there.
  const spelled = path.replace(/[\s\\]/g, (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`);
  return table.split('\n').some((line) => line.split(' ')[4] === spelled);
}
