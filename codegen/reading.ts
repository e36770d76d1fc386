/** What all readers of openapi/ share: how to complain, and how to read windows. */
import type { Problems } from './problems.ts';
import { minorOf, type Window } from './windows.ts';

export type Raw = Record<string, unknown>;

export const isMap = (value: unknown): value is Raw =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What every reader needs: where to complain, and the range of versions. */
export interface Reading {
  readonly problems: Problems;
  readonly range: Window;
}

/** Complains about keys that the format doesn't have. */
export function onlyKeys(
  reading: Reading,
  file: string,
  where: string,
  raw: Raw,
  known: readonly string[],
): void {
  for (const key of Object.keys(raw)) {
    if (!known.includes(key)) reading.problems.add(file, where, `unknown key \`${key}\``);
  }
}

/** Reads since and until (by whatever names) out of a map. */
export function readWindow(
  reading: Reading,
  file: string,
  where: string,
  raw: Raw,
  names: readonly [string, string] = ['since', 'until'],
): Window {
  const bound = (name: string, fallback: number): number => {
    if (raw[name] === undefined) return fallback;
    const minor = minorOf(raw[name]);
    if (minor === null) reading.problems.add(file, where, `${name} must be a version in quotes, like "2.7"`);
    return minor ?? fallback;
  };
  const window = { since: bound(names[0], reading.range.since), until: bound(names[1], reading.range.until) };
  if (window.since > window.until) reading.problems.add(file, where, 'the window ends before it begins');
  if (window.since < reading.range.since || window.until > reading.range.until) {
    reading.problems.add(file, where, 'the window reaches beyond the range in versions.yaml');
  }
  return window;
}
