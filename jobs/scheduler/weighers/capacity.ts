/** More room weighs more (less, with a negative multiplier); pools of unknown room come last either way. */
import { availableCapacity, isKnown, isThin, ratioOf, reservedPercentage } from '../capacity.ts';
import type { Weigher } from './weigher.ts';

export const capacity: Weigher = {
  name: 'CapacityWeigher',
  weigh(pool, request, multiplier) {
    const { totalCapacity: total, freeCapacity: free } = pool;
    if (!isKnown(total) || !isKnown(free)) return multiplier < 0 ? Infinity : -Infinity;
    const reserved = reservedPercentage(pool, request);
    if (!isThin(pool, request)) return availableCapacity(free, total, reserved);
    return availableCapacity(total * ratioOf(pool) - pool.provisionedCapacity, total, reserved);
  },
};
