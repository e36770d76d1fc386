/**
 * Locks that come with an access rule: against its deletion, which then keeps the share from being deleted too, and
 * against its sight by others. They are resource locks like any other.
 */
import { randomUUID } from 'node:crypto';
import type { Queries, Tx } from './connection.ts';
import { join, list, sql } from './sql.ts';

export interface AccessLocks {
  ruleId: string;
  shareId: string;
  userId: string;
  projectId: string;
  /** `user` or `admin`: as what the locks were placed */
  context: string;
  reason: string | null;
  /** which there are */
  deletion: boolean;
  sight: boolean;
}

/** How the share's lock names the rule's: one goes with the other. */
const reasonFor = (lockId: string) => `Locked by access lock: ${lockId}`;

export async function insertAccessLocks(tx: Tx, locks: AccessLocks): Promise<void> {
  const row = (id: string, action: string, type: string, resource: string, reason: string | null) =>
    sql`(${id}, ${locks.userId}, ${locks.projectId}, ${action}, ${type}, ${resource}, ${locks.context}, ${reason}, UTC_TIMESTAMP(6), 'False')`;
  const deletionId = randomUUID();
  const rows = [
    ...(locks.sight ? [row(randomUUID(), 'show', 'access_rule', locks.ruleId, locks.reason)] : []),
    ...(locks.deletion
      ? [
          row(deletionId, 'delete', 'access_rule', locks.ruleId, locks.reason),
          row(randomUUID(), 'delete', 'share', locks.shareId, reasonFor(deletionId)),
        ]
      : []),
  ];
  if (rows.length === 0) return;
  await tx.run`
    INSERT INTO resource_locks (id, user_id, project_id, resource_action, resource_type, resource_id, lock_context, lock_reason, created_at, deleted)
    VALUES ${join(rows, ', ')}`;
}

export interface DeletionLock {
  id: string;
  user_id: string;
  project_id: string;
}

/** What keeps a rule from being denied. */
export function deletionLocksOf(db: Queries, ruleId: string): Promise<DeletionLock[]> {
  return db.rows`
    SELECT id, user_id, project_id FROM resource_locks
    WHERE resource_id = ${ruleId} AND resource_type = 'access_rule' AND resource_action = 'delete' AND deleted = 'False'`;
}

/** Removes all locks of rules, and what they locked of the share. */
export async function removeLocksOf(tx: Tx, ruleIds: readonly string[]): Promise<void> {
  const locks = await tx.rows<{ id: string }>`
    SELECT id FROM resource_locks
    WHERE resource_id IN (${list(ruleIds)}) AND resource_type = 'access_rule' AND deleted = 'False'`;
  if (locks.length > 0)
    await removeLocks(
      tx,
      locks.map(({ id }) => id),
    );
}

/** Removes locks by their ids, and what those of rules locked of the share. */
export async function removeLocks(tx: Tx, ids: readonly string[]): Promise<void> {
  await tx.run`
    UPDATE resource_locks SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE deleted = 'False' AND id IN (${list(ids)})`;
  await removeLocksOfShareFor(tx, ids);
}

/** Removes what locks of rules, by their ids, locked of the rules' shares. */
export async function removeLocksOfShareFor(tx: Tx, ids: readonly string[]): Promise<void> {
  const shares = await tx.rows<{ id: string }>`
    SELECT DISTINCT r.share_id AS id FROM resource_locks k JOIN share_access_map r ON r.id = k.resource_id
    WHERE k.id IN (${list(ids)}) AND k.resource_type = 'access_rule'`;
  if (shares.length === 0) return;
  await tx.run`
    UPDATE resource_locks SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE resource_id IN (${list(shares.map(({ id }) => id))}) AND deleted = 'False' AND resource_type = 'share'
      AND lock_reason IN (${list(ids.map(reasonFor))})`;
}
