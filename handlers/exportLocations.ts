/** Export locations of shares and share instances. Those for administration are shown to admins only. */
import {
  type ExportLocationRow,
  findInstanceLocation,
  findShareLocation,
  listInstanceLocations,
  listShareLocations,
} from '#db/exportLocations.ts';
import { findShareInstance } from '#db/shareInstanceLists.ts';
import { fault } from '#domain/faults.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';
import { visibleShare } from './visible.ts';

export const exportLocations = {
  async listShareExportLocations({ ctx, path }) {
    const { id } = await visibleShare(ctx, path.share_id, { refusal: 'shareNotFound' });
    const found = await listShareLocations(ctx.db, locationsOf(ctx, id));
    return { export_locations: found.filter(({ is_admin_only }) => ctx.isAdmin || !is_admin_only) };
  },

  async getShareExportLocation({ ctx, path }) {
    const location = await shareLocation(ctx, path.share_id, path.export_location_uuid);
    if (location.is_admin_only && !ctx.isAdmin) {
      throw fault('notAllowed', { reason: `Export location ${location.id} is for admins only.` });
    }
    return { export_location: location };
  },

  async listShareInstanceExportLocations({ ctx, path }) {
    const id = await instanceId(ctx, path.share_instance_id);
    return { export_locations: await listInstanceLocations(ctx.db, id) };
  },

  async getShareInstanceExportLocation({ ctx, path }) {
    const id = await instanceId(ctx, path.share_instance_id);
    const location = await findInstanceLocation(ctx.db, id, path.export_location_uuid);
    if (!location) throw fault('exportLocationNotFound', { id: path.export_location_uuid });
    return { export_location: location };
  },
} satisfies Partial<Handlers>;

function locationsOf(ctx: Ctx, shareId: string) {
  return { shareId, activeReplicaOnly: ctx.allows('activeReplicaLocationsOnly') };
}

/** A location of a share that the caller may see; who it is for, the caller has to check. */
async function shareLocation(ctx: Ctx, shareId: string, id: string): Promise<ExportLocationRow> {
  const share = await visibleShare(ctx, shareId, { refusal: 'shareNotFound' });
  const location = await findShareLocation(ctx.db, locationsOf(ctx, share.id), id);
  if (!location) throw fault('exportLocationNotFound', { id });
  return location;
}

async function instanceId(ctx: Ctx, id: string): Promise<string> {
  const instance = await findShareInstance(ctx.db, id);
  if (!instance) throw fault('shareInstanceNotFound', { id });
  return instance.id;
}
