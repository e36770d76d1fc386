/** How a share's deletion begins, whoever asks for it, and how its instances end. */
import type { NamedStep } from '#domain/lifecycle.ts';
import { shareQueue } from '#domain/services.ts';
import { replicasQuota } from '#domain/shareReplicas.ts';
import { deferredStates, shareLife, sharesQuota } from '#domain/shares.ts';
import type { Tx } from './connection.ts';
import { dropKey } from './encryptionKeys.ts';
import { enqueue } from './outbox.ts';
import { release } from './quotas.ts';
import { removeSnapshotsOn } from './replicaSnapshots.ts';
import { type InstanceRow, instancesOf, removeInstance } from './shareInstances.ts';
import { statusNow } from './shareLock.ts';
import type { ShareRow } from './shares.ts';
import { shareSubject } from './subjects.ts';
import { change } from './transition.ts';

/**
 * Takes a share into `deleting` and queues the job, under the share's lock. One that no pool has goes at once, with
 * what it counted. `force` takes it from any state; `deferred` gives back at once what it counts, and hides it from
 * its project. Throws the step's refusal in a state that it can't begin in.
 */
export async function beginShareDeletion(
  tx: Tx,
  share: ShareRow,
  payload: Record<string, unknown>,
  { force = false, deferred = false } = {},
): Promise<void> {
  const step = await beginStep(tx, share, force, deferred);
  // Read again: the scheduler may have placed it since. A migration that failed may have left a second one.
  for (const instance of await instancesOf(tx, share.id)) {
    if (instance.host === null) await endInstance(tx, instance);
    else
      await enqueue(tx, {
        kind: step.kind,
        queue: shareQueue(instance.host),
        resource: share.id,
        payload: { ...payload, shareId: share.id, instanceId: instance.id, force },
      });
  }
}

async function beginStep(tx: Tx, share: ShareRow, force: boolean, deferred: boolean): Promise<NamedStep> {
  // Read again: what was given back once isn't given back twice.
  const status = force || deferred ? await statusNow(tx, share.instance_id) : share.status;
  const isDeferred = deferredStates.includes(status ?? '');
  const step = deferred || isDeferred ? shareLife.deferDelete : shareLife.delete;
  await change(tx, step, shareSubject(share.id), force);
  if (step === shareLife.deferDelete && !isDeferred) {
    const owner = { projectId: share.project_id, userId: share.user_id, shareTypeId: share.share_type };
    await release(tx, owner, sharesQuota(share.size, share.replication_type));
  }
  return step;
}

/** Takes up again the deletions that were deferred and failed; answers how many. */
export async function retryDeferredDeletions(tx: Tx): Promise<number> {
  const [failing, running] = [shareLife.deferDelete.onError, shareLife.deferDelete.via];
  const failed = await tx.rows<{ instanceId: string; shareId: string; host: string }>`
    SELECT id AS instanceId, share_id AS shareId, host FROM share_instances
    WHERE status = ${failing} AND deleted = 'False' AND host IS NOT NULL LIMIT 100 FOR UPDATE SKIP LOCKED`;
  for (const { instanceId, shareId, host } of failed) {
    await tx.run`UPDATE share_instances SET status = ${running}, updated_at = UTC_TIMESTAMP(6) WHERE id = ${instanceId}`;
    await enqueue(tx, {
      kind: shareLife.deferDelete.kind,
      queue: shareQueue(host),
      resource: shareId,
      payload: { shareId, instanceId, force: false },
    });
  }
  return failed.length;
}

/**
 * Removes an instance's rows, with the snapshots on it, and gives back what it counted: a replica its own, the last
 * instance what the share did. What was deferred has given it back already.
 */
export async function endInstance(tx: Tx, instance: InstanceRow): Promise<void> {
  const { id, shareId, projectId, userId, shareTypeId, size, replicationType, replicaState } = instance;
  await removeSnapshotsOn(tx, id);
  if (instance.encryptionKeyRef !== null) await dropKey(tx, id);
  const wasLast = await removeInstance(tx, id, shareId);
  const owner = { projectId, userId, shareTypeId };
  if (deferredStates.includes(instance.status)) return;
  if (wasLast) await release(tx, owner, sharesQuota(size, replicationType));
  else if (replicaState !== null) await release(tx, owner, replicasQuota(size));
}
