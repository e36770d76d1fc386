/** The zone asked for, and the zones that the share type is confined to. */
import { allowedZones } from '../request.ts';
import type { Filter, Refusal } from './filter.ts';

export const availabilityZone: Filter = {
  name: 'AvailabilityZoneFilter',
  detail: 'filterAvailability',
  check(pool, request): Refusal | null {
    const zone = pool.availabilityZone;
    const asked = request.availabilityZone;
    if (asked !== null && zone !== asked) {
      return { reason: 'in another availability zone than asked for', numbers: { zone, asked } };
    }
    const allowed = allowedZones(request);
    if (allowed === null || (zone !== null && allowed.includes(zone))) return null;
    return {
      reason: 'in an availability zone that the share type excludes',
      numbers: { zone, allowed: allowed.join(', ') },
    };
  },
};
