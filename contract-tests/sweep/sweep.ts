/**
 * Asks a server for every covered read at every microversion, as admin and as a member, and gathers what differs from
 * the recorded fields.
 */
import type { OperationName } from '../replayer/coverage.ts';
import { tokenOf } from '../replayer/identities.ts';
import type { Wire } from '../replayer/wire.ts';
import { compareRead, typesEverRecorded } from './compare.ts';
import { makeObjects, type Objects } from './objects.ts';
import { isReadCovered, reads } from './reads.ts';
import { LAST_MINOR, loadRuns, minorOf, type Reader, type Run, versionOf } from './recorded.ts';

export interface SweepDifference {
  read: string;
  as: Reader;
  what: string;
  /** Minor versions at which it shows, ascending. */
  minors: number[];
}

export interface SweepResult {
  requests: number;
  /** Reads that were swept. */
  covered: string[];
  notCovered: string[];
  differences: SweepDifference[];
}

export const CONNECTIONS = 8;

export async function sweep(
  wire: Wire,
  notCovered: readonly OperationName[],
  progress: (text: string) => void = () => undefined,
): Promise<SweepResult> {
  const byRead = Map.groupBy(loadRuns(), ({ read }) => read);
  const covered = [...byRead.keys()].filter((read) => isReadCovered(read, notCovered));
  const result: SweepResult = {
    requests: 0,
    covered,
    notCovered: [...byRead.keys()].filter((read) => !covered.includes(read)),
    differences: [],
  };
  const unknown = covered.find((read) => !reads[read]);
  if (unknown) throw new Error(`no path is known for the read ${unknown}, which is covered`);
  const objects = await makeObjects(wire, progress);
  for (const [index, read] of covered.entries()) {
    const differences = await sweepRead(wire, byRead.get(read)!, objects);
    result.differences.push(...differences);
    result.requests += 2 * (LAST_MINOR + 1);
    const found = differences.length > 0 ? `${differences.length} differences` : 'alike';
    progress(`${index + 1}/${covered.length} ${read}: ${found}`);
  }
  return result;
}

/** One read, at all versions and for both readers. */
async function sweepRead(wire: Wire, runs: readonly Run[], objects: Objects): Promise<SweepDifference[]> {
  const known = typesEverRecorded(runs);
  const found = new Map<string, SweepDifference>();
  const tasks = runs.flatMap((run) => minorsOf(run).map((minor) => ({ run, minor })));
  await inParallel(tasks, async ({ run, minor }) => {
    const { path, data } = reads[run.read]!;
    const answer = await wire.send({
      method: 'GET',
      path: `/v2${path(objects, run.as)}`,
      headers: {
        'X-Auth-Token': tokenOf(objects.identities[run.as]!),
        'X-OpenStack-Manila-API-Version': versionOf(minor),
        'X-OpenStack-Manila-API-Experimental': 'true',
      },
    });
    for (const what of compareRead(run, known, answer, { data })) {
      const key = `${run.as} ${what}`;
      const difference = found.get(key) ?? { read: run.read, as: run.as, what, minors: [] };
      difference.minors.push(minor);
      found.set(key, difference);
    }
  });
  for (const { minors } of found.values()) minors.sort((a, b) => a - b);
  return [...found.values()];
}

function minorsOf({ from, to }: Run): number[] {
  const [first, last] = [minorOf(from), minorOf(to)];
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) await work(item);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, worker));
}
