/**
 * What a sweep found, compactly: a difference once, with the versions at which it shows.
 */
import { versionOf } from './recorded.ts';
import type { SweepDifference, SweepResult } from './sweep.ts';

/** `[0, 1, 2, 7]` to `2.0–2.2, 2.7`. */
export function versionRanges(minors: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const minor of minors) {
    const last = ranges.at(-1);
    if (last && last[1] === minor - 1) last[1] = minor;
    else ranges.push([minor, minor]);
  }
  const texts = ranges.map(([first, last]) =>
    first === last ? versionOf(first) : `${versionOf(first)}–${versionOf(last)}`,
  );
  return texts.join(', ');
}

export function describeDifference({ read, as, what, minors }: SweepDifference): string {
  return `GET ${read} (${as}, ${versionRanges(minors)}) ${what}`;
}

export function describeResult(result: SweepResult): string {
  const lines = result.differences.map(describeDifference);
  lines.push(
    `${result.covered.length} reads in ${result.requests} requests: ${result.differences.length} differences; ` +
      `${result.notCovered.length} reads not covered yet`,
  );
  return lines.join('\n');
}

export function resultJson(base: string, result: SweepResult): string {
  const differences = result.differences.map(({ minors, ...rest }) => ({
    ...rest,
    versions: versionRanges(minors),
  }));
  return JSON.stringify({ base, ...result, differences }, null, 2);
}
