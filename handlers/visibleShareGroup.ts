/** Finding share groups and their snapshots that a caller names, and none that it may not know of. */
import { findShareGroupSnapshot, type ShareGroupSnapshotRow } from '#db/shareGroupSnapshots.ts';
import { findShareGroup, type ShareGroupRow } from '#db/shareGroups.ts';
import { fault } from '#domain/faults.ts';
import type { PolicyName } from '#generated/policies.ts';
import type { Ctx } from './context.ts';

/**
 * The group, if the caller may see it; throws 404 (or another status) for another project's, as for one that isn't
 * there. `policy` is what the caller wants to do to it: 403 when only that isn't allowed.
 */
export async function visibleShareGroup(
  ctx: Ctx,
  id: string,
  { policy, status }: { policy?: PolicyName; status?: number } = {},
): Promise<ShareGroupRow> {
  const group = await findShareGroup(ctx.db, id);
  if (!group || !ctx.can('share_group:get', targetOf(group)))
    throw fault('shareGroupNotFound', { id }, status);
  if (policy) ctx.authorize(policy, targetOf(group));
  return group;
}

/** As `visibleShareGroup`, for a snapshot of a group. */
export async function visibleShareGroupSnapshot(
  ctx: Ctx,
  id: string,
  { policy, status }: { policy?: PolicyName; status?: number } = {},
): Promise<ShareGroupSnapshotRow> {
  const snapshot = await findShareGroupSnapshot(ctx.db, id);
  if (!snapshot || !ctx.can('share_group_snapshot:get', targetOf(snapshot)))
    throw fault('shareGroupSnapshotNotFound', { id }, status);
  if (policy) ctx.authorize(policy, targetOf(snapshot));
  return snapshot;
}

/** What policies ask of either. */
function targetOf({ id, project_id, user_id }: ShareGroupRow | ShareGroupSnapshotRow) {
  return { id, project_id, user_id };
}
