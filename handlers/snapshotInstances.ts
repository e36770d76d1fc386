/** Snapshot instances as administrators see them, and where snapshots are exported. */

import {
  listSnapshotInstances,
  type SnapshotExportLocationRow,
  type SnapshotInstanceRow,
  setSnapshotStatus,
  snapshotExportLocations,
} from '#db/snapshotInstances.ts';
import { fault } from '#domain/faults.ts';
import { assertSettable } from '#domain/settableStatuses.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';
import { visibleSnapshot } from './visibleSnapshot.ts';

export const snapshotInstances = {
  async listSnapshotInstances({ ctx, query }) {
    return { snapshot_instances: await listSnapshotInstances(ctx.db, { snapshotId: query.snapshot_id }) };
  },

  async listSnapshotInstancesDetail({ ctx, query }) {
    return { snapshot_instances: await listSnapshotInstances(ctx.db, { snapshotId: query.snapshot_id }) };
  },

  async getSnapshotInstance({ ctx, path }) {
    return { snapshot_instance: await instance(ctx, path.id) };
  },

  async resetSnapshotInstanceStatus({ ctx, path, body }) {
    assertSettable(body.status);
    const { id } = await instance(ctx, path.id);
    await ctx.transaction((tx) => setSnapshotStatus(tx, { instanceId: id }, body.status));
  },

  async listSnapshotInstanceExportLocations({ ctx, path }) {
    const { id } = await instance(ctx, path.snapshot_instance_id);
    return { share_snapshot_export_locations: await snapshotExportLocations(ctx.db, { instanceId: id }) };
  },

  async getSnapshotInstanceExportLocation({ ctx, path }) {
    const { id } = await instance(ctx, path.snapshot_instance_id);
    const found = await snapshotExportLocations(ctx.db, { instanceId: id }, path.export_location_id);
    return { share_snapshot_export_location: one(found, path.export_location_id) };
  },

  async listSnapshotExportLocations({ ctx, path }) {
    const { id } = await visibleSnapshot(ctx, path.snapshot_id, 'share_snapshot_export_location:index');
    const found = await snapshotExportLocations(ctx.db, { snapshotId: id });
    return {
      share_snapshot_export_locations: found.filter(({ is_admin_only }) => ctx.isAdmin || !is_admin_only),
    };
  },

  async getSnapshotExportLocation({ ctx, path }) {
    const { id } = await visibleSnapshot(ctx, path.snapshot_id, 'share_snapshot_export_location:show');
    const found = await snapshotExportLocations(ctx.db, { snapshotId: id }, path.export_location_id);
    return { share_snapshot_export_location: one(found, path.export_location_id) };
  },
} satisfies Partial<Handlers>;

async function instance(ctx: Ctx, id: string): Promise<SnapshotInstanceRow> {
  const [found] = await listSnapshotInstances(ctx.db, { id });
  if (!found) throw fault('snapshotInstanceNotFound', { id });
  return found;
}

function one([found]: SnapshotExportLocationRow[], id: string): SnapshotExportLocationRow {
  if (!found) throw fault('exportLocationNotFound', { id });
  return found;
}
