/** Shares whose time in the recycle bin is over are deleted, as their owners would have. */

import { expiredSoftDeleted } from '#db/recycleBin.ts';
import { beginShareDeletion } from '#db/shareDeletion.ts';
import { findShare, lockShare } from '#db/shares.ts';
import { Fault } from '#domain/faults.ts';
import type { Tools } from './job.ts';

export async function emptyRecycleBin({ db, log, settings }: Tools): Promise<void> {
  for (const { id } of await expiredSoftDeleted(db)) {
    try {
      await db.transaction(async (tx) => {
        await lockShare(tx, id);
        const share = await findShare(tx, id);
        if (!share) return;
        const requester = { requestId: '', projectId: share.project_id, userId: share.user_id };
        await beginShareDeletion(tx, share, requester, { deferred: settings.is_deferred_deletion_enabled });
      });
    } catch (error) {
      // Not in a state to be deleted now: it is looked at again next time.
      if (!(error instanceof Fault)) throw error;
      log('info', 'a share in the recycle bin can not be deleted yet', { share: id, reason: error.message });
    }
  }
}
