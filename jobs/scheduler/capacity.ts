/** How much room a pool has for a request: what the capacity filter and the capacity weigher share. */
import { asksThick } from '#domain/extraSpecs.ts';
import type { Capacity, PoolState } from './hostState.ts';
import type { ScheduleRequest } from './request.ts';

/** Where a pool says nothing: shares may promise this many times its size. */
const DEFAULT_RATIO = 20;

/** The percentage of the pool that this kind of request has to leave alone. */
export function reservedPercentage(pool: PoolState, request: ScheduleRequest): number {
  if (request.kind === 'extend') return pool.reservedExtendPercentage;
  return request.kind === 'createFromSnapshot' ? pool.reservedSnapshotPercentage : pool.reservedPercentage;
}

/** Thin when the pool can and the type doesn't ask for a thick share. */
export function isThin(pool: PoolState, request: ScheduleRequest): boolean {
  return pool.thin && !asksThick(request.shareType?.extraSpecs ?? {});
}

export function ratioOf(pool: PoolState): number {
  return pool.maxOverSubscriptionRatio ?? DEFAULT_RATIO;
}

/** What is left of the pool's free space beside its reserve, in whole GiB. */
export function availableCapacity(free: number, total: number, reserved: number): number {
  return Math.floor(free - (total * reserved) / 100);
}

export function isKnown(capacity: Capacity): capacity is number {
  return typeof capacity === 'number';
}
