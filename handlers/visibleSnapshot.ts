/** Finding a snapshot that a caller names, and none that it may not know of. */
import { findSnapshot, type SnapshotRow } from '#db/snapshots.ts';
import { type FaultCode, fault } from '#domain/faults.ts';
import { deferredStates } from '#domain/shares.ts';
import type { PolicyName } from '#generated/policies.ts';
import type { Ctx } from './context.ts';

/**
 * The snapshot, if the caller may see it; throws `refusal` for another project's, as for one that isn't there.
 * `policy` is what the caller wants to do to it: 403 when only that isn't allowed.
 */
export async function visibleSnapshot(
  ctx: Ctx,
  id: string,
  policy?: PolicyName,
  refusal: FaultCode = 'snapshotNotFound',
): Promise<SnapshotRow> {
  const snapshot = await findSnapshot(ctx.db, id);
  if (!snapshot || !ctx.can('share_snapshot:get_snapshot', targetOf(snapshot)) || isDeferred(ctx, snapshot))
    throw fault(refusal, { id });
  if (policy) ctx.authorize(policy, targetOf(snapshot));
  return snapshot;
}

/** A snapshot that is as good as gone is there for administrators only. */
function isDeferred(ctx: Ctx, { status }: SnapshotRow): boolean {
  return (
    deferredStates.includes(status) && !ctx.can('share_snapshot:list_snapshots_in_deferred_deletion_states')
  );
}

/** What policies ask of a snapshot. */
function targetOf({ id, project_id, user_id }: SnapshotRow) {
  return { id, project_id, user_id };
}
