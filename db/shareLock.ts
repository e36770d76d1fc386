/** A share under its lock: what was read before may have changed since, and the job that follows relies on it. */
import { fault } from '#domain/faults.ts';
import type { Tx } from './connection.ts';

/**
 * Locks the share until the transaction ends. Throws conflict when it has another size by now: sizes, and the quota
 * that goes with them, were worked out from the one read.
 */
export async function lockUnresized(tx: Tx, share: { id: string; size: number }): Promise<void> {
  const now = await tx.row<{ size: number }>`SELECT size FROM shares WHERE id = ${share.id} FOR UPDATE`;
  if (now !== undefined && now.size !== share.size)
    throw fault('conflict', {
      reason: `Share ${share.id} was resized meanwhile, from ${share.size} to ${now.size} GiB; ask again.`,
    });
}

/** The host that the instance is on by now; null while it has none. The caller holds a lock on its row. */
export async function hostNow(tx: Tx, instanceId: string): Promise<string | null> {
  const row = await tx.row<{
    host: string | null;
  }>`SELECT host FROM share_instances WHERE id = ${instanceId}`;
  return row?.host ?? null;
}

/** The instance's status by now. The caller holds a lock on its share. */
export async function statusNow(tx: Tx, instanceId: string): Promise<string | undefined> {
  const row = await tx.row<{
    status: string;
  }>`SELECT status FROM share_instances WHERE id = ${instanceId} AND deleted = 'False'`;
  return row?.status;
}
