/** The recycle bin: shares that are soft-deleted until their time is over. */
import type { Queries, Tx } from './connection.ts';
import { int, list } from './sql.ts';

/** Puts a share into the recycle bin for `seconds`, if it isn't there and its status allows; answers whether it did. */
export async function softDelete(
  tx: Tx,
  id: string,
  seconds: number,
  statuses: readonly string[],
): Promise<boolean> {
  const { affected } = await tx.run`
    UPDATE shares SET is_soft_deleted = 1, scheduled_to_be_deleted_at = UTC_TIMESTAMP() + INTERVAL ${int(seconds)} SECOND
    WHERE id = ${id} AND is_soft_deleted = 0 AND deleted = 'False' AND EXISTS (
      SELECT 1 FROM share_instances i WHERE i.share_id = shares.id AND i.deleted = 'False' AND i.status IN (${list(statuses)}))`;
  return affected > 0;
}

/** Takes a share out of the recycle bin. */
export async function restore(tx: Tx, id: string): Promise<void> {
  await tx.run`UPDATE shares SET is_soft_deleted = 0, scheduled_to_be_deleted_at = NULL WHERE id = ${id} AND is_soft_deleted = 1`;
}

/** Shares whose time in the recycle bin is over. */
export function expiredSoftDeleted(db: Queries): Promise<{ id: string }[]> {
  return db.rows`SELECT id FROM shares WHERE deleted = 'False' AND is_soft_deleted = 1 AND scheduled_to_be_deleted_at < UTC_TIMESTAMP()
    ORDER BY scheduled_to_be_deleted_at LIMIT 1000`;
}
