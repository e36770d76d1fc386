/** Putting a share back to a snapshot: data and size become what they were then. */

import type { Tx } from '#db/connection.ts';
import { heldRules } from '#db/heldRules.ts';
import { commitReservation, release, rollbackReservation } from '#db/quotas.ts';
import { backendShare, findInstance, type InstanceRow } from '#db/shareInstances.ts';
import { markOthersBehind, replicaSizes } from '#db/shareReplicas.ts';
import { setShareSize } from '#db/shares.ts';
import { backendSnapshot, findDrivenSnapshot } from '#db/snapshots.ts';
import { abandon, complete } from '#db/transition.ts';
import { shareLife } from '#domain/shares.ts';
import { snapshotLife } from '#domain/snapshots.ts';
import { DriverError } from '#drivers/driver.ts';
import { job, minutes, type Run } from './job.ts';
import { driverOf, tellOfShare } from './shares.ts';

interface RevertPayload {
  instanceId: string;
  snapshotInstanceId: string;
  oldSize: number;
  newSize: number;
  /** of what the share grows by */
  reservation: string | null;
}

const payloadOf = (run: Run) => run.row.payload as unknown as RevertPayload;

export const revertShare = job<InstanceRow, void>({
  kind: shareLife.revert.kind,
  deadlineMs: minutes(30),
  async load(run) {
    const instance = await findInstance(run.tools.db, payloadOf(run).instanceId);
    if (instance?.status === shareLife.revert.via) return instance;
    // Someone set the share's status meanwhile: nothing is done to it, and nothing stays held for it.
    await run.tools.db.transaction((tx) => letGo(tx, run));
    return undefined;
  },
  async perform(instance, run) {
    const { db } = run.tools;
    const { revert } = driverOf(run, instance);
    if (!revert) throw new DriverError('unsupported', 'the back end reverts no shares');
    const snapshot = await findDrivenSnapshot(db, payloadOf(run).snapshotInstanceId);
    if (!snapshot) throw new DriverError('notFound', 'the snapshot is gone');
    const rules = await heldRules(db, instance.id);
    await revert.toSnapshot(backendShare(instance), backendSnapshot(snapshot), rules, run.signal);
  },
  async succeed(tx, instance, _result, run) {
    const { oldSize, newSize, reservation, snapshotInstanceId } = payloadOf(run);
    if (newSize !== oldSize) await setShareSize(tx, instance.shareId, newSize);
    await markOthersBehind(tx, instance.shareId, instance.id);
    await complete(tx, shareLife.revert, 'share_instances', instance.id);
    await complete(tx, snapshotLife.restore, 'share_snapshot_instances', snapshotInstanceId);
    if (reservation) await commitReservation(tx, reservation);
    if (newSize < oldSize) await giveBack(tx, instance, oldSize - newSize);
  },
  async fail(tx, instance, _error, run) {
    await abandon(tx, shareLife.revert, 'share_instances', instance.id);
    await tellOfShare(tx, instance, run, 'revertToSnapshot', 'driverFailedRevertingToSnapshot');
    await letGo(tx, run);
  },
});

/** The snapshot is as good as before, and what was held for growth is free again. */
async function letGo(tx: Tx, run: Run): Promise<void> {
  const { snapshotInstanceId, reservation } = payloadOf(run);
  await complete(tx, snapshotLife.restore, 'share_snapshot_instances', snapshotInstanceId);
  if (reservation) await rollbackReservation(tx, reservation);
}

async function giveBack(tx: Tx, instance: InstanceRow, size: number): Promise<void> {
  const owner = { projectId: instance.projectId, userId: instance.userId, shareTypeId: instance.shareTypeId };
  const replicated = await replicaSizes(
    tx,
    { id: instance.shareId, replicationType: instance.replicationType },
    size,
  );
  await release(tx, owner, { gigabytes: size, ...replicated });
}

export const shareRevertJobs = [revertShare];
