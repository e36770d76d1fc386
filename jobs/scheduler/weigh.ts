/** Brings what the weighers say to one scale, from 0 to 1 over the candidates, and adds it up. */
import type { PoolState } from './hostState.ts';
import type { ConfiguredWeigher } from './options.ts';
import type { ScheduleRequest } from './request.ts';

export interface WeighedPool {
  pool: PoolState;
  weight: number;
  /** what each weigher said, on its own scale; null: it couldn't tell */
  weights: Record<string, number | null>;
}

/** From 0 for the least to 1 for the greatest; all 0 when they are alike. Infinite ones stand just beyond the others. */
export function normalise(values: readonly number[]): number[] {
  const finite = values.filter(Number.isFinite);
  // not Math.min(...finite): there may be more pools than a call has room for arguments
  const least = finite.reduce((a, b) => Math.min(a, b), Infinity);
  const greatest = finite.reduce((a, b) => Math.max(a, b), -Infinity);
  const placed = values.map((value) => {
    if (Number.isFinite(value)) return value;
    if (finite.length === 0) return Math.sign(value);
    return value < 0 ? least - 1 : greatest + 1;
  });
  const low = placed.reduce((a, b) => Math.min(a, b), Infinity);
  const high = placed.reduce((a, b) => Math.max(a, b), -Infinity);
  return placed.map((value) => (high === low ? 0 : (value - low) / (high - low)));
}

/** A number from a text, the same every time (FNV-1a, 32 bits). */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}

/**
 * The candidates, the best first. Equal ones are ordered by a hash of request and pool: the same request
 * always gets the same answer, and many requests spread over pools that are equally good.
 */
export function weighPools(
  candidates: readonly PoolState[],
  request: ScheduleRequest,
  weighers: readonly ConfiguredWeigher[],
  warn: (pool: PoolState, text: string) => void,
): WeighedPool[] {
  const weighed = candidates.map((pool): WeighedPool => ({ pool, weight: 0, weights: {} }));
  for (const { weigher, multiplier } of weighers) {
    const values = candidates.map((pool) =>
      weigher.weigh(pool, request, multiplier, (text) => warn(pool, text)),
    );
    normalise(values).forEach((value, i) => {
      weighed[i]!.weight += value * multiplier;
      weighed[i]!.weights[weigher.name] = Number.isFinite(values[i]) ? values[i]! : null;
    });
  }
  const ties = new Map(candidates.map((pool) => [pool, hash(`${request.id} ${pool.host}`)]));
  return weighed.sort(
    (a, b) =>
      b.weight - a.weight || ties.get(a.pool)! - ties.get(b.pool)! || (a.pool.host < b.pool.host ? -1 : 1),
  );
}
