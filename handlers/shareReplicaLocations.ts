/** Export locations of share replicas. Those for administration are shown to admins only. */
import { findInstanceLocation, listInstanceLocations } from '#db/exportLocations.ts';
import { fault } from '#domain/faults.ts';
import type { Handlers } from './request.ts';
import { visibleReplica } from './visibleReplica.ts';

export const shareReplicaLocations = {
  async listShareReplicaExportLocations({ ctx, path }) {
    const replica = await visibleReplica(ctx, path.share_replica_id, 'share_replica_export_location:index');
    const { replica_state, availability_zone } = replica;
    const found = await listInstanceLocations(ctx.db, replica.id);
    return {
      export_locations: found
        .filter(({ is_admin_only }) => ctx.isAdmin || !is_admin_only)
        .map((location) => ({ ...location, replica_state, availability_zone })),
    };
  },

  async getShareReplicaExportLocation({ ctx, path }) {
    const replica = await visibleReplica(ctx, path.share_replica_id, 'share_replica_export_location:show');
    const { replica_state, availability_zone } = replica;
    const location = await findInstanceLocation(ctx.db, replica.id, path.export_location_uuid);
    if (!location) throw fault('exportLocationNotFound', { id: path.export_location_uuid });
    if (location.is_admin_only && !ctx.isAdmin)
      throw fault('notAllowed', { reason: `Export location ${location.id} is for admins only.` });
    return { export_location: { ...location, replica_state, availability_zone } };
  },
} satisfies Partial<Handlers>;
