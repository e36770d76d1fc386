/** A share's row, locked: what was read before may have changed since, and the job that follows relies on it. */
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
