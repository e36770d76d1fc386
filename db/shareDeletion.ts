/** How a share's deletion begins, whoever asks for it, and how its instances end. */
import { shareQueue } from '#domain/services.ts';
import { replicasQuota } from '#domain/shareReplicas.ts';
import { shareLife, sharesQuota } from '#domain/shares.ts';
import type { Tx } from './connection.ts';
import { dropKey } from './encryptionKeys.ts';
import { enqueue } from './outbox.ts';
import { release } from './quotas.ts';
import { removeSnapshotsOn } from './replicaSnapshots.ts';
import { type InstanceRow, instancesOf, removeInstance } from './shareInstances.ts';
import type { ShareRow } from './shares.ts';
import { shareSubject } from './subjects.ts';
import { change } from './transition.ts';

/**
 * Takes a share into `deleting` and queues the job, under the share's lock. One that no pool has goes at once, with
 * what it counted. `force` takes it from any state. Throws the step's refusal in a state that it can't begin in.
 */
export async function beginShareDeletion(
  tx: Tx,
  share: ShareRow,
  payload: Record<string, unknown>,
  force = false,
): Promise<void> {
  await change(tx, shareLife.delete, shareSubject(share.id), force);
  // Read again: the scheduler may have placed it since. A migration that failed may have left a second one.
  for (const instance of await instancesOf(tx, share.id)) {
    if (instance.host === null) await endInstance(tx, instance);
    else
      await enqueue(tx, {
        kind: shareLife.delete.kind,
        queue: shareQueue(instance.host),
        resource: share.id,
        payload: { ...payload, shareId: share.id, instanceId: instance.id, force },
      });
  }
}

/**
 * Removes an instance's rows, with the snapshots on it, and gives back what it counted: a replica its own, the last
 * instance what the share did.
 */
export async function endInstance(tx: Tx, instance: InstanceRow): Promise<void> {
  const { id, shareId, projectId, userId, shareTypeId, size, replicationType, replicaState } = instance;
  await removeSnapshotsOn(tx, id);
  if (instance.encryptionKeyRef !== null) await dropKey(tx, id);
  const wasLast = await removeInstance(tx, id, shareId);
  const owner = { projectId, userId, shareTypeId };
  if (wasLast) await release(tx, owner, sharesQuota(size, replicationType));
  else if (replicaState !== null) await release(tx, owner, replicasQuota(size));
}
