/** Putting a share back to its newest snapshot. */
import type { Tx } from '#db/connection.ts';
import { reserve, withQuota } from '#db/quotas.ts';
import { lockUnresized } from '#db/shareLock.ts';
import { replicaSizes } from '#db/shareReplicas.ts';
import type { ShareRow } from '#db/shares.ts';
import { newestSnapshotOf, type SnapshotRow } from '#db/snapshots.ts';
import { standingSnapshotSubject, standingSubject } from '#db/subjects.ts';
import { change, transition } from '#db/transition.ts';
import { fault } from '#domain/faults.ts';
import { shareQueue } from '#domain/services.ts';
import { shareLife } from '#domain/shares.ts';
import { assertNewest, snapshotLife } from '#domain/snapshots.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';
import { hostOf, refuseBusy, refuseSoftDeleted, visibleShare } from './visible.ts';
import { visibleSnapshot } from './visibleSnapshot.ts';

export const shareRevert = {
  async revertShare({ ctx, path, body }) {
    const share = await visibleShare(ctx, path.id, { refusal: 'shareNotFound' });
    ctx.authorize('share:revert_to_snapshot', { project_id: share.project_id, user_id: share.user_id });
    refuseSoftDeleted(share, 'reverted');
    const snapshot = await visibleSnapshot(ctx, body.snapshot_id, undefined, 'unknownSnapshot');
    refuseUnfit(share, snapshot);
    refuseBusy(share);
    await withQuota(ctx.db, (tx) => beginRevert(tx, ctx, share, snapshot));
  },
} satisfies Partial<Handlers>;

function refuseUnfit(share: ShareRow, snapshot: SnapshotRow): void {
  if (snapshot.share_id !== share.id) {
    throw fault('invalidSnapshot', { reason: `snapshot ${snapshot.id} is not of share ${share.id}` });
  }
  if (!share.revert_to_snapshot_support) {
    throw fault('invalidShare', {
      reason: `share ${share.id} can't be reverted: its type lacks revert_to_snapshot_support`,
    });
  }
}

/**
 * Share and snapshot change state together. The share gets the snapshot's size: what it grows by is held as a
 * reservation until the back end is done, what it shrinks by is given back then.
 */
async function beginRevert(tx: Tx, ctx: Ctx, share: ShareRow, snapshot: SnapshotRow): Promise<void> {
  await lockUnresized(tx, share);
  assertNewest(snapshot.id, await newestSnapshotOf(tx, share.id));
  await change(tx, snapshotLife.restore, standingSnapshotSubject(snapshot));
  const growth = snapshot.size - share.size;
  const reservation = growth > 0 ? await reserveGrowth(tx, ctx, share, growth) : null;
  await transition(tx, shareLife.revert, standingSubject(share), {
    queue: shareQueue(hostOf(share)),
    resource: share.id,
    payload: jobFor(ctx, {
      shareId: share.id,
      instanceId: share.instance_id,
      snapshotInstanceId: snapshot.instance_id,
      oldSize: share.size,
      newSize: snapshot.size,
      reservation,
    }),
  });
}

async function reserveGrowth(tx: Tx, ctx: Ctx, share: ShareRow, growth: number): Promise<string> {
  const owner = { projectId: share.project_id, userId: share.user_id, shareTypeId: share.share_type };
  const deltas = {
    gigabytes: growth,
    ...(await replicaSizes(tx, { id: share.id, replicationType: share.replication_type }, growth)),
  };
  return reserve(tx, owner, deltas, ctx.settings.quota, ctx.settings.quota.reservation_expire);
}
