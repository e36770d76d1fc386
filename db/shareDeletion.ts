/** How a share's deletion begins, whoever asks for it. */
import { shareQueue } from '#domain/services.ts';
import { shareLife, sharesQuota } from '#domain/shares.ts';
import type { Tx } from './connection.ts';
import { enqueue } from './outbox.ts';
import { release } from './quotas.ts';
import { removeInstance } from './shareInstances.ts';
import { hostNow } from './shareLock.ts';
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
  // Read again: the scheduler may have placed it since.
  const host = await hostNow(tx, share.instance_id);
  if (host !== null) {
    await enqueue(tx, {
      kind: shareLife.delete.kind,
      queue: shareQueue(host),
      resource: share.id,
      payload: { ...payload, shareId: share.id, instanceId: share.instance_id, force },
    });
    return;
  }
  if (!(await removeInstance(tx, share.instance_id, share.id))) return;
  await release(
    tx,
    { projectId: share.project_id, userId: share.user_id, shareTypeId: share.share_type },
    sharesQuota(share.size, share.replication_type),
  );
}
