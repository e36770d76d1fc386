/**
 * What a replay found, for people and for programs.
 */
import type { Outcome } from './runner.ts';

export interface Counts {
  alike: number;
  different: number;
  'not covered': number;
}

export function countOutcomes(outcomes: readonly Outcome[]): Counts {
  const counts: Counts = { alike: 0, different: 0, 'not covered': 0 };
  for (const { result } of outcomes) counts[result]++;
  return counts;
}

export function describeCounts(counts: Counts): string {
  return `${counts.alike} alike, ${counts.different} different, ${counts['not covered']} not covered yet`;
}

/** One outcome that differs, as indented text. */
export function describeOutcome(outcome: Outcome): string {
  const { scenario, n, method, path, as, version, differences } = outcome;
  const lines = differences.map(
    ({ path: place, expected, got }) => `    ${place}: expected ${show(expected)}, got ${show(got)}`,
  );
  return [`${scenario} ${n}: ${method} ${path} (${as}, ${version})`, ...lines].join('\n');
}

/** The report as JSON: counts by scenario, all differences, and why exchanges were left out. */
export function reportJson(base: string, outcomes: readonly Outcome[]): string {
  const scenarios = Map.groupBy(outcomes, ({ scenario }) => scenario);
  const report = {
    base,
    counts: countOutcomes(outcomes),
    scenarios: Object.fromEntries([...scenarios].map(([name, of]) => [name, countOutcomes(of)])),
    different: outcomes.filter(({ result }) => result === 'different'),
    notCovered: outcomes
      .filter(({ result }) => result === 'not covered')
      .map(({ scenario, n, method, path, reason }) => ({ scenario, n, method, path, reason })),
  };
  return JSON.stringify(report, null, 2);
}

/** A value in one line, shortened. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
