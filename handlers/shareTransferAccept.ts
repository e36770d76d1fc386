/** Accepting a transfer: in one transaction the quota is moved, then the share and its snapshots change hands. */
import { listAccessRules, queueDenial } from '#db/accessRules.ts';
import type { Tx } from '#db/connection.ts';
import { type QuotaOwner, release, take, withQuota } from '#db/quotas.ts';
import { holdersOf } from '#db/shareHolds.ts';
import { findShare, lockShare, type ShareRow } from '#db/shares.ts';
import {
  endShareTransfer,
  findShareTransfer,
  giveShare,
  type LockedTransfer,
  liftLocksOfProject,
  lockShareTransfer,
  type OwnedSnapshot,
  snapshotsOfShare,
} from '#db/shareTransfers.ts';
import { findShareType } from '#db/shareTypes.ts';
import { complete } from '#db/transition.ts';
import { fault } from '#domain/faults.ts';
import { shareLife, sharesQuota } from '#domain/shares.ts';
import { assertTransferable, isTransferKey } from '#domain/shareTransfers.ts';
import { snapshotsQuota } from '#domain/snapshots.ts';
import type { Ctx } from './context.ts';
import { lockedInstances, queueSync } from './shareAccess.ts';

/**
 * Gives the share to the caller. Throws 400 for an unknown transfer or a wrong key, 404 when the share's type isn't
 * the new project's to use, overQuota when the share doesn't fit there; then the offer stands as before.
 */
export async function acceptShareTransfer(
  ctx: Ctx,
  id: string,
  key: string,
  clearRules: boolean,
): Promise<void> {
  const offer = await findShareTransfer(ctx.db, id);
  if (!offer) throw fault('shareTransferNotFound', { id }, 400);
  await withQuota(ctx.db, async (tx) => {
    await lockShare(tx, offer.resource_id);
    const transfer = await acceptable(tx, id, key);
    const share = await awaiting(tx, transfer);
    const snapshots = await snapshotsOfShare(tx, share.id);
    assertTransferable(share, (await holdersOf(tx, share.id)).backups, snapshots);
    await refuseForeignType(tx, ctx, share);
    await moveQuota(tx, ctx, share, snapshots);
    await liftLocksOfProject(tx, share.id, share.project_id);
    await giveShare(tx, share.id, { projectId: ctx.projectId, userId: ctx.userId });
    if (clearRules) await clear(tx, ctx, share);
    await endShareTransfer(tx, id, ctx.projectId);
    await complete(tx, shareLife.transfer, 'share_instances', share.instance_id);
  });
}

/** The transfer, if the key is its own. */
async function acceptable(tx: Tx, id: string, key: string): Promise<LockedTransfer> {
  const transfer = await lockShareTransfer(tx, id);
  if (!transfer || transfer.is_expired) throw fault('shareTransferNotFound', { id }, 400);
  if (!isTransferKey(key, transfer))
    throw fault('invalidInput', { reason: `the auth_key is not that of transfer ${id}` });
  return transfer;
}

async function awaiting(tx: Tx, transfer: LockedTransfer): Promise<ShareRow> {
  const share = await findShare(tx, transfer.resource_id);
  if (share?.status === shareLife.transfer.via) return share;
  throw fault('invalidShare', {
    reason: `share ${transfer.resource_id} of transfer ${transfer.id} is ${share?.status ?? 'gone'}, not ${shareLife.transfer.via}`,
  });
}

/** A private type has to be the new project's to use as well. */
async function refuseForeignType(tx: Tx, ctx: Ctx, share: ShareRow): Promise<void> {
  if (share.share_type === null) return;
  const type = await findShareType(tx, share.share_type, ctx.isAdmin ? null : ctx.projectId);
  if (!type) throw fault('shareTypeNotFound', { id: share.share_type });
}

/** What is given back comes first: within one project nothing more is used in the end. */
async function moveQuota(
  tx: Tx,
  ctx: Ctx,
  share: ShareRow,
  snapshots: readonly OwnedSnapshot[],
): Promise<void> {
  const { share_type: shareTypeId, size } = share;
  const counted = sharesQuota(size, share.replication_type);
  const ownerOf = (projectId: string, userId: string): QuotaOwner => ({ projectId, userId, shareTypeId });
  await release(tx, ownerOf(share.project_id, share.user_id), counted);
  for (const snapshot of snapshots) {
    await release(tx, ownerOf(snapshot.projectId, snapshot.userId), snapshotsQuota(snapshot.size));
  }
  const size_of_snapshots = snapshots.reduce((sum, each) => sum + each.size, 0);
  await take(
    tx,
    ownerOf(ctx.projectId, ctx.userId),
    {
      ...counted,
      per_share_gigabytes: size,
      ...(snapshots.length > 0 ? { snapshots: snapshots.length, snapshot_gigabytes: size_of_snapshots } : {}),
    },
    ctx.settings.quota,
  );
}

/** The new project begins without the rules of the old one. */
async function clear(tx: Tx, ctx: Ctx, share: ShareRow): Promise<void> {
  const instances = await lockedInstances(tx, share.id);
  let any = false;
  for (const { id } of await listAccessRules(tx, share.id))
    any = (await queueDenial(tx, id, share.id)) || any;
  if (any) await queueSync(tx, ctx, share.id, instances);
}
