/** A share from a snapshot is best off close to it: the fewer data to move, the better. */
import { backendOf } from '#domain/services.ts';
import type { Weigher } from './weigher.ts';

export const hostAffinity: Weigher = {
  name: 'HostAffinityWeigher',
  weigh(pool, { kind, source }) {
    if (kind !== 'createFromSnapshot' || !source) return 0;
    if (pool.host === source.host) return 100;
    if (backendOf(pool.host) === backendOf(source.host)) return 75;
    const zone = source.availabilityZone ?? null;
    return zone !== null && pool.availabilityZone === zone ? 50 : 25;
  },
};
