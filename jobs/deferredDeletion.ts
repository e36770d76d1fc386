/** Deletions that were deferred are tried until they succeed: snapshots first, since shares wait for theirs. */
import { retryDeferredDeletions } from '#db/shareDeletion.ts';
import { retryDeferredSnapshots } from '#db/snapshotDeletion.ts';
import type { Tools } from './job.ts';

export async function retryDeferred({ db, log }: Tools): Promise<void> {
  const count = await db.transaction(
    async (tx) => (await retryDeferredSnapshots(tx)) + (await retryDeferredDeletions(tx)),
  );
  if (count > 0) log('info', 'deferred deletions are tried again', { count });
}
