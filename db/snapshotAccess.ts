/** Access rules of snapshots: who may mount one. A rule has a state on each instance of the snapshot. */
import type { AccessType } from '#domain/accessRules.ts';
import type { AccessRule, AccessRuleResult } from '#domain/backend.ts';
import { ruleStatePrecedence } from '#domain/snapshots.ts';
import type { Queries, Tx } from './connection.ts';
import { and, join, list, sql } from './sql.ts';

export interface SnapshotAccessRow {
  id: string;
  access_type: AccessType;
  access_to: string;
  /** of the rule on all instances, combined */
  state: (typeof ruleStatePrecedence)[number];
}

/** The rules of a snapshot, or the one with this id; oldest first. */
export function snapshotRules(db: Queries, snapshotId: string, id?: string): Promise<SnapshotAccessRow[]> {
  return db.rows`
    SELECT r.id, r.access_type, r.access_to,
      (SELECT m.state FROM share_snapshot_instance_access_map m WHERE m.access_id = r.id AND m.deleted = 'False'
       ORDER BY FIELD(m.state, ${list(ruleStatePrecedence)}) DESC LIMIT 1) AS state
    FROM share_snapshot_access_map r
    WHERE r.share_snapshot_id = ${snapshotId} AND r.deleted = 'False'${and(id === undefined ? [] : [sql`r.id = ${id}`])}
    ORDER BY r.created_at, r.id`;
}

/** Writes a rule, queued to be applied on these instances. */
export async function insertSnapshotRule(
  tx: Tx,
  rule: { id: string; snapshotId: string; accessType: string; accessTo: string },
  instances: readonly { mapId: string; instanceId: string }[],
): Promise<void> {
  await tx.run`
    INSERT INTO share_snapshot_access_map (id, created_at, deleted, share_snapshot_id, access_type, access_to)
    VALUES (${rule.id}, UTC_TIMESTAMP(6), 'False', ${rule.snapshotId}, ${rule.accessType}, ${rule.accessTo})`;
  const rows = instances.map(
    ({ mapId, instanceId }) =>
      sql`(${mapId}, UTC_TIMESTAMP(6), 'False', ${instanceId}, ${rule.id}, 'queued_to_apply')`,
  );
  await tx.run`
    INSERT INTO share_snapshot_instance_access_map (id, created_at, deleted, share_snapshot_instance_id, access_id, state)
    VALUES ${join(rows, ', ')}`;
}

/** Queues a rule to be taken away; false when that was under way already. */
export async function queueDenial(tx: Tx, ruleId: string): Promise<boolean> {
  const { affected } = await tx.run`
    UPDATE share_snapshot_instance_access_map SET state = 'queued_to_deny', updated_at = UTC_TIMESTAMP(6)
    WHERE access_id = ${ruleId} AND deleted = 'False' AND state NOT IN ('queued_to_deny', 'denying')`;
  return affected > 0;
}

/** A rule on one instance, and the state it is in there. */
export interface SnapshotInstanceRule extends AccessRule {
  state: string;
}

/** What is queued is being done from now on. Answers the rules of the instance. */
export async function startSync(db: Queries, instanceId: string): Promise<SnapshotInstanceRule[]> {
  await db.run`
    UPDATE share_snapshot_instance_access_map
    SET state = IF(state = 'queued_to_apply', 'applying', 'denying'), updated_at = UTC_TIMESTAMP(6)
    WHERE share_snapshot_instance_id = ${instanceId} AND deleted = 'False' AND state IN ('queued_to_apply', 'queued_to_deny')`;
  // Snapshots are only ever read.
  return db.rows`
    SELECT r.id, r.access_type AS accessType, r.access_to AS accessTo, 'ro' AS accessLevel, m.state
    FROM share_snapshot_instance_access_map m JOIN share_snapshot_access_map r ON r.id = m.access_id
    WHERE m.share_snapshot_instance_id = ${instanceId} AND m.deleted = 'False' ORDER BY r.created_at, r.id`;
}

/** Writes what became of the rules that a sync was about; those queued since are another's. */
export async function endSync(
  tx: Tx,
  instanceId: string,
  rules: readonly SnapshotInstanceRule[],
  results: ReadonlyMap<string, AccessRuleResult>,
): Promise<void> {
  const denied = rules.filter(({ state }) => state === 'denying').map(({ id }) => id);
  await removeRules(tx, instanceId, denied);
  for (const outcome of ['active', 'error'] as const) {
    const ids = rules.filter(({ id, state }) => state !== 'denying' && results.get(id)?.state === outcome);
    await setRuleState(tx, instanceId, ids, outcome);
  }
}

/** What was being done failed as a whole: those rules are in error, others stay as they were. */
export async function failSync(tx: Tx, instanceId: string): Promise<void> {
  await tx.run`
    UPDATE share_snapshot_instance_access_map SET state = 'error', updated_at = UTC_TIMESTAMP(6)
    WHERE share_snapshot_instance_id = ${instanceId} AND deleted = 'False' AND state IN ('applying', 'denying')`;
}

async function setRuleState(
  tx: Tx,
  instanceId: string,
  rules: readonly { id: string }[],
  state: 'active' | 'error',
): Promise<void> {
  if (rules.length === 0) return;
  await tx.run`
    UPDATE share_snapshot_instance_access_map SET state = ${state}, updated_at = UTC_TIMESTAMP(6)
    WHERE share_snapshot_instance_id = ${instanceId} AND deleted = 'False' AND access_id IN (${list(rules.map(({ id }) => id))})
      AND state IN ('applying', 'active', 'error') AND state <> ${state}`;
}

/** A rule that no instance has any more is gone. */
async function removeRules(tx: Tx, instanceId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.run`
    UPDATE share_snapshot_instance_access_map SET deleted = id, deleted_at = UTC_TIMESTAMP(6), state = 'deleted'
    WHERE share_snapshot_instance_id = ${instanceId} AND deleted = 'False' AND access_id IN (${list(ids)})`;
  await tx.run`
    UPDATE share_snapshot_access_map r SET r.deleted = r.id, r.deleted_at = UTC_TIMESTAMP(6)
    WHERE r.id IN (${list(ids)}) AND r.deleted = 'False' AND NOT EXISTS (
      SELECT 1 FROM share_snapshot_instance_access_map m WHERE m.access_id = r.id AND m.deleted = 'False')`;
}
