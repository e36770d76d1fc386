/** Whether the request fits, given the pool's reserve and how far it may be over-subscribed. */
import { availableCapacity, isKnown, isThin, ratioOf, reservedPercentage } from '../capacity.ts';
import type { PoolState } from '../hostState.ts';
import type { ScheduleRequest } from '../request.ts';
import type { Filter, Refusal } from './filter.ts';

function refuse(
  reason: string,
  pool: PoolState,
  request: ScheduleRequest,
  more: Refusal['numbers'] = {},
): Refusal {
  const numbers = {
    requested: request.size,
    free: pool.freeCapacity,
    total: pool.totalCapacity,
    reserved_percentage: reservedPercentage(pool, request),
  };
  return { reason, numbers: { ...numbers, ...more } };
}

/** How big the pool is isn't known: what is free counts, as long as no part of the whole is reserved. */
function checkUnknownTotal(pool: PoolState, request: ScheduleRequest, free: number): Refusal | null {
  if (reservedPercentage(pool, request) !== 0) {
    return refuse('a part of an unknown total is reserved', pool, request);
  }
  return request.size <= free ? null : refuse('not enough free space', pool, request);
}

function checkThin(
  pool: PoolState,
  request: ScheduleRequest,
  total: number,
  available: number,
): Refusal | null {
  const provisioned = pool.provisionedCapacity;
  const ratio = ratioOf(pool);
  const numbers = { provisioned, max_over_subscription_ratio: ratio, available };
  if (ratio < 1) return refuse('an over-subscription ratio below 1 is invalid', pool, request, numbers);
  if ((provisioned + request.size) / total > ratio) {
    return refuse('more would be promised than the pool may promise', pool, request, numbers);
  }
  if (available * ratio >= request.size) return null;
  return refuse('not enough free space, even over-subscribed', pool, request, numbers);
}

export const capacity: Filter = {
  name: 'CapacityFilter',
  detail: 'filterCapacity',
  check(pool, request) {
    const { totalCapacity: total, freeCapacity: free } = pool;
    if (!isKnown(free)) return null;
    if (!isKnown(total)) return checkUnknownTotal(pool, request, free);
    if (total <= 0) return refuse('the pool has no capacity', pool, request);
    const available = availableCapacity(free, total, reservedPercentage(pool, request));
    if (isThin(pool, request)) return checkThin(pool, request, total, available);
    return available >= request.size ? null : refuse('not enough free space', pool, request, { available });
  },
};
