/**
 * Copies the files of one directory into another, with all that belongs to them: modes, owners, times, links of
 * both kinds, ACLs, extended attributes, holes. It may be repeated, or follow one that was killed: what is there and
 * the same is passed over, what the source hasn't is removed.
 */
import { DriverError } from '#drivers/driver.ts';
import { runCommand } from './command.ts';
import { oneAtATime } from './exclusion.ts';

export interface CopyOptions {
  /** its end ends the copy, and leaves what was copied so far */
  signal: AbortSignal;
  /** asked once nothing else writes there; throws when the copy isn't wanted any more */
  begin?(): Promise<void>;
  /** whole per cent of the bytes, growing, 100 when all is done */
  onProgress?(percent: number): void;
  /** names at the top of the source that are neither copied nor removed */
  exclude?: readonly string[];
  /** read both sides again afterwards, and compare them by checksum */
  compare?: boolean;
}

/** rsync's: files went away while it looked, which is no wonder in a share that is in use */
const VANISHED = 24;

/**
 * Makes `to` (a directory) hold what `from` holds. Throws DriverError: noSpace, timeout when the signal ended it,
 * failed when a file couldn't be copied, or differs when compared.
 */
export async function copyTree(from: string, to: string, options: CopyOptions): Promise<void> {
  await oneAtATime(to, options.signal, async () => {
    await options.begin?.();
    let shown = -1;
    const show = (percent: number) => {
      if (percent <= shown) return;
      shown = percent;
      options.onProgress?.(percent);
    };
    // Until it has ended well, not all is done.
    await rsync(from, to, [], options, (percent) => show(Math.min(percent, 99)));
    if (options.compare) await assertAlike(from, to, options);
    show(100);
  });
}

/** What differs between two trees, by checksum and all attributes: paths, a hundred at most. */
export async function differences(
  from: string,
  to: string,
  options: Pick<CopyOptions, 'signal' | 'exclude'>,
): Promise<string[]> {
  const found: string[] = [];
  let rest = '';
  const hear = (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    found.push(...lines.filter(Boolean).slice(0, 100 - found.length));
  };
  const words = ['rsync', ...all, '--checksum', '--dry-run', '--out-format=%n', ...paths(from, to, options)];
  const { status, said } = await runCommand(words, options.signal, hear);
  if (status !== 0 && status !== VANISHED) throw failure(said, status);
  return found;
}

/** A share in use may have been written to meanwhile: what differs is copied once more, and then has to be alike. */
async function assertAlike(from: string, to: string, options: CopyOptions): Promise<void> {
  if ((await differences(from, to, options)).length === 0) return;
  await rsync(from, to, ['--checksum'], options, () => {});
  const left = await differences(from, to, options);
  if (left.length > 0)
    throw new DriverError('failed', `${left.length} files differ from their source after they were copied`);
}

const all = ['-aHAXS', '--numeric-ids', '--delete'];

function paths(from: string, to: string, { exclude = [] }: Pick<CopyOptions, 'exclude'>): string[] {
  return [...exclude.map((name) => `--exclude=/${name}`), '--', `${from}/`, `${to}/`];
}

async function rsync(
  from: string,
  to: string,
  more: readonly string[],
  options: CopyOptions,
  show: (percent: number) => void,
): Promise<void> {
  // All names are known before the first file is copied: only then does a per cent mean something.
  const words = [
    'rsync',
    ...all,
    '--no-inc-recursive',
    '--info=progress2',
    ...more,
    ...paths(from, to, options),
  ];
  const hear = (text: string) => {
    const percent = /.*\b(\d{1,3})%/s.exec(text)?.[1];
    if (percent !== undefined) show(Number(percent));
  };
  const { status, said } = await runCommand(words, options.signal, hear);
  if (status !== 0 && status !== VANISHED) throw failure(said, status);
}

function failure(said: string, status: number | null): DriverError {
  const isFull = /No space left on device|Disk quota exceeded/.test(said);
  return new DriverError(isFull ? 'noSpace' : 'failed', `rsync: ${said || `ended with ${status}`}`);
}
