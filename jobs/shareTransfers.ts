/** Offers of shares that nobody accepted in time end, and the share is its project's again. */
import { findShare } from '#db/shares.ts';
import { endShareTransfer, expiredShareTransfers, lockShareTransfer } from '#db/shareTransfers.ts';
import { complete } from '#db/transition.ts';
import { shareLife } from '#domain/shares.ts';
import type { Tools } from './job.ts';

export async function endExpiredTransfers({ db, log }: Tools): Promise<void> {
  for (const { id } of await expiredShareTransfers(db)) {
    await db.transaction(async (tx) => {
      const transfer = await lockShareTransfer(tx, id);
      if (!transfer?.is_expired) return;
      const share = await findShare(tx, transfer.resource_id);
      await endShareTransfer(tx, id, null);
      if (share) await complete(tx, shareLife.transfer, 'share_instances', share.instance_id);
      log('info', 'a transfer ended, for nobody accepted it in time', {
        transfer: id,
        share: transfer.resource_id,
      });
    });
  }
}
