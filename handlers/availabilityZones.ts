/** Availability zones. */
import { listAvailabilityZones } from '#db/availabilityZones.ts';
import type { Handlers } from './request.ts';

export const availabilityZones = {
  async listAvailabilityZones({ ctx }) {
    return { availability_zones: await listAvailabilityZones(ctx.db) };
  },
} satisfies Partial<Handlers>;
