/** Finding what a caller names, and nothing that it may not know of. */
import type { Queries } from '#db/connection.ts';
import { findShare, type ShareRow } from '#db/shares.ts';
import { type FaultCode, fault } from '#domain/faults.ts';
import { deferredStates } from '#domain/shares.ts';
import type { Ctx } from './context.ts';

/**
 * The share, if the caller may see it; a public share is seen by all projects. Throws notFound for another
 * project's, as for one that isn't there.
 */
export async function visibleShare(
  ctx: Ctx,
  id: string,
  {
    db = ctx.db,
    withPaths = false,
    refusal = 'notFound',
  }: { db?: Queries; withPaths?: boolean; refusal?: FaultCode } = {},
): Promise<ShareRow> {
  const share = await findShare(db, id, { withPaths });
  if (!share || !(share.is_public || ctx.can('share:get', share)) || isDeferred(ctx, share))
    throw fault(refusal, { id });
  return share;
}

/** A share that is as good as gone is there for administrators only. */
function isDeferred(ctx: Ctx, { status }: ShareRow): boolean {
  return deferredStates.includes(status) && !ctx.can('share:list_shares_in_deferred_deletion_states');
}

/** As `visibleShare`, for changing it: a public share of another project is seen, but not there to be changed. */
export async function ownShare(
  ctx: Ctx,
  id: string,
  options: { db?: Queries; refusal?: FaultCode } = {},
): Promise<ShareRow> {
  const share = await visibleShare(ctx, id, options);
  if (!ctx.can('share:get', share)) throw fault(options.refusal ?? 'notFound', { id });
  return share;
}

/** A soft-deleted share takes no change but restore and delete. `doing` completes "can't be …". */
export function refuseSoftDeleted(share: ShareRow, doing: string): void {
  if (share.is_soft_deleted) {
    throw fault('notAllowed', {
      reason: `Share ${share.id} is in the recycle bin and can't be ${doing}; restore it first.`,
    });
  }
}

/** The host a share is on. One that was never placed has none: there is no back end to ask. */
export function hostOf(share: ShareRow): string {
  if (share.host === null)
    throw fault('invalidShare', { reason: `share ${share.id} has no host: it was never placed` });
  return share.host;
}

/** A share that something long (a migration) is at work on takes no change: 409, or the operation's own status. */
export function refuseBusy(share: ShareRow, status?: number): void {
  if (share.task_state !== null && busyTaskStates.includes(share.task_state)) {
    throw fault(
      'conflict',
      { reason: `Share ${share.id} is busy: its task state is ${share.task_state}.` },
      status,
    );
  }
}

const busyTaskStates = [
  'migration_starting',
  'migration_in_progress',
  'migration_completing',
  'migration_driver_starting',
  'migration_driver_in_progress',
  'migration_driver_phase1_done',
  'data_copying_starting',
  'data_copying_in_progress',
  'data_copying_completing',
  'data_copying_completed',
];
