/**
 * Windows of microversions. A version is its minor number (2.37 is 37; the major is always 2), a
 * window is the versions from `since` to `until`, both included.
 */

export interface Window {
  readonly since: number;
  readonly until: number;
}

/** Reads "2.37" as 37; null when it is no version. */
export function minorOf(text: unknown): number | null {
  const match = typeof text === 'string' ? /^2\.(0|[1-9]\d*)$/.exec(text) : null;
  return match ? Number(match[1]) : null;
}

export const within = (window: Window, version: number): boolean =>
  window.since <= version && version <= window.until;

export const overlap = (a: Window, b: Window): boolean => a.since <= b.until && b.since <= a.until;

export const intersect = (a: Window, b: Window): Window => ({
  since: Math.max(a.since, b.since),
  until: Math.min(a.until, b.until),
});

export const isEmpty = (window: Window): boolean => window.since > window.until;

/** The smallest window that holds all of them. */
export function hull(windows: readonly Window[]): Window {
  return {
    since: Math.min(...windows.map((window) => window.since)),
    until: Math.max(...windows.map((window) => window.until)),
  };
}

/** Cuts a window into the longest stretches in which none of the others begins or ends. */
export function cut(outer: Window, inner: readonly Window[]): Window[] {
  const starts = new Set([outer.since]);
  for (const window of inner) {
    for (const start of [window.since, window.until + 1]) {
      if (within(outer, start)) starts.add(start);
    }
  }
  const sorted = [...starts].sort((a, b) => a - b);
  return sorted.map((since, i) => ({ since, until: (sorted[i + 1] ?? outer.until + 1) - 1 }));
}
