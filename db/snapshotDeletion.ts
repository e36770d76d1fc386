/** How a snapshot's deletion begins, and how one that was deferred is taken up again. */
import type { NamedStep } from '#domain/lifecycle.ts';
import { shareQueue } from '#domain/services.ts';
import { deferredStates } from '#domain/shares.ts';
import { snapshotLife, snapshotsQuota } from '#domain/snapshots.ts';
import type { Tx } from './connection.ts';
import { enqueue } from './outbox.ts';
import { release } from './quotas.ts';
import { findShare, lockShare } from './shares.ts';
import { findSnapshot, type SnapshotRow } from './snapshots.ts';
import { snapshotSubject } from './subjects.ts';
import { change } from './transition.ts';

/**
 * Takes a snapshot's instances into `deleting`; the jobs are the caller's to queue, of the step that this answers.
 * `force` takes it from any state; `deferred` gives back at once what it counts, and hides it from its project.
 */
export async function beginSnapshotStep(
  tx: Tx,
  snapshot: SnapshotRow,
  { force, deferred }: { force: boolean; deferred: boolean },
): Promise<NamedStep> {
  if (!force && !deferred) {
    await change(tx, snapshotLife.delete, snapshotSubject(snapshot.id));
    return snapshotLife.delete;
  }
  // Read again: what was given back once isn't given back twice.
  await lockShare(tx, snapshot.share_id);
  const isDeferred = deferredStates.includes((await findSnapshot(tx, snapshot.id))?.status ?? '');
  const step = deferred || isDeferred ? snapshotLife.deferDelete : snapshotLife.delete;
  await change(tx, step, snapshotSubject(snapshot.id), force);
  if (step === snapshotLife.deferDelete && !isDeferred) {
    const shareTypeId = (await findShare(tx, snapshot.share_id))?.share_type ?? null;
    const owner = { projectId: snapshot.project_id, userId: snapshot.user_id, shareTypeId };
    await release(tx, owner, snapshotsQuota(snapshot.size));
  }
  return step;
}

/** Takes up again the deletions that were deferred and failed; answers how many. */
export async function retryDeferredSnapshots(tx: Tx): Promise<number> {
  const [failing, running] = [snapshotLife.deferDelete.onError, snapshotLife.deferDelete.via];
  const failed = await tx.rows<{ instanceId: string; snapshotId: string; shareId: string; host: string }>`
    SELECT i.id AS instanceId, i.snapshot_id AS snapshotId, h.share_id AS shareId, h.host
    FROM share_snapshot_instances i JOIN share_instances h ON h.id = i.share_instance_id
    WHERE i.status = ${failing} AND i.deleted = 'False' AND h.host IS NOT NULL LIMIT 100 FOR UPDATE SKIP LOCKED`;
  for (const { host, shareId, ...ids } of failed) {
    await tx.run`
      UPDATE share_snapshot_instances SET status = ${running}, updated_at = UTC_TIMESTAMP(6) WHERE id = ${ids.instanceId}`;
    await enqueue(tx, {
      kind: snapshotLife.deferDelete.kind,
      queue: shareQueue(host),
      resource: shareId,
      payload: { ...ids, force: false },
    });
  }
  return failed.length;
}
