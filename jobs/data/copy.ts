/**
 * Copies the files of one directory into another, with all that belongs to them: modes, owners, times, links of
 * both kinds, ACLs, extended attributes, holes. It may be repeated, or follow one that was killed: what is there and
 * the same is passed over, what the source hasn't is removed.
 */
import { DriverError } from '#drivers/driver.ts';
import { runConfined } from './confined.ts';
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
    await rsync(from, to, tellingProgress, options, (text) => show(Math.min(percentIn(text) ?? 0, 99)));
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
  await rsync(from, to, ['--checksum', '--dry-run', '--out-format=%n'], options, hear);
  return found;
}

/** A share in use may have been written to meanwhile: what differs is copied once more, and then has to be alike. */
async function assertAlike(from: string, to: string, options: CopyOptions): Promise<void> {
  if ((await differences(from, to, options)).length === 0) return;
  await rsync(from, to, ['--checksum'], options);
  const left = await differences(from, to, options);
  if (left.length > 0)
    throw new DriverError('failed', `${left.length} files differ from their source after they were copied`);
}

const all = ['-aHAXS', '--numeric-ids', '--delete'];
/** All names are known before the first file is copied: only then does a per cent mean something. */
const tellingProgress = ['--no-inc-recursive', '--info=progress2'];

/** The last per cent in what rsync tells; undefined when there is none. */
function percentIn(text: string): number | undefined {
  const percent = /.*\b(\d{1,3})%/s.exec(text)?.[1];
  return percent === undefined ? undefined : Number(percent);
}

async function rsync(
  from: string,
  to: string,
  more: readonly string[],
  { signal, exclude = [] }: Pick<CopyOptions, 'signal' | 'exclude'>,
  hear?: (text: string) => void,
): Promise<void> {
  const left = exclude.map((name) => `--exclude=/${name}`);
  const words = (source: string, destination: string) => [
    'rsync',
    ...all,
    ...more,
    ...left,
    '--',
    `${source}/`,
    `${destination}/`,
  ];
  const { status, said } = await runConfined(from, to, words, signal, hear);
  if (status !== 0 && status !== VANISHED) throw failure(said, status);
}

function failure(said: string, status: number | null): DriverError {
  const isFull = /No space left on device|Disk quota exceeded/.test(said);
  return new DriverError(isFull ? 'noSpace' : 'failed', `rsync: ${said || `ended with ${status}`}`);
}
