/** The states of rules on an instance, as its job takes them up and settles them. */
import { accessSteps } from '#domain/accessRules.ts';
import type { AccessRuleResult } from '#domain/backend.ts';
import { removeLocksOf } from './accessLocks.ts';
import type { Queries, Tx } from './connection.ts';
import { join, list, type Sql, sql } from './sql.ts';

const queuedStates = Object.values(accessSteps).map(({ queued }) => queued);
const doingStates = Object.values(accessSteps).map(({ doing }) => doing);

/** Is there a change of the instance's rules that isn't settled? */
export async function hasUnsettledRules(db: Queries, instanceId: string): Promise<boolean> {
  const found = await db.rows`
    SELECT id FROM share_instance_access_map
    WHERE share_instance_id = ${instanceId} AND deleted = 'False' AND state IN (${list([...queuedStates, ...doingStates])}) LIMIT 1`;
  return found.length > 0;
}

/** Takes up what is queued for the instance: queued_to_apply becomes applying, and so on. */
export async function takeUpQueued(tx: Tx, instanceId: string): Promise<void> {
  const cases = Object.values(accessSteps).map(({ queued, doing }) => sql`WHEN ${queued} THEN ${doing}`);
  await tx.run`
    UPDATE share_instance_access_map SET state = CASE state ${join(cases)} END, updated_at = UTC_TIMESTAMP(6)
    WHERE share_instance_id = ${instanceId} AND deleted = 'False' AND state IN (${list(queuedStates)})`;
}

/** Before states are settled: what a request has queued by then is seen, what comes later waits. */
async function lockInstance(tx: Tx, instanceId: string): Promise<void> {
  await tx.row`SELECT id FROM share_instances WHERE id = ${instanceId} FOR UPDATE`;
}

/**
 * Writes what the back end made of the instance's rules: those that hold are active, those that don't are in error,
 * those that were to go are gone. What was queued meanwhile stays so. Answers how many rules failed.
 */
export async function settleRules(
  tx: Tx,
  instanceId: string,
  results: ReadonlyMap<string, AccessRuleResult>,
): Promise<number> {
  await lockInstance(tx, instanceId);
  const { apply, update } = accessSteps;
  const idsIn = (state: string) =>
    [...results].filter(([, result]) => result.state === state).map(([id]) => id);
  await setState(tx, instanceId, idsIn('active'), 'active', [apply.doing, update.doing]);
  const failed = await setState(tx, instanceId, idsIn('error'), 'error', [
    apply.doing,
    update.doing,
    'active',
  ]);
  for (const [id, { accessKey }] of results) {
    if (accessKey) await tx.run`UPDATE share_access_map SET access_key = ${accessKey} WHERE id = ${id}`;
  }
  await removeDenied(tx, instanceId);
  await settleStatus(tx, instanceId);
  return failed;
}

/** The back end could not be asked: what was under way is in error, what held before still does. */
export async function failRules(tx: Tx, instanceId: string): Promise<void> {
  await lockInstance(tx, instanceId);
  await tx.run`
    UPDATE share_instance_access_map SET state = 'error', updated_at = UTC_TIMESTAMP(6)
    WHERE share_instance_id = ${instanceId} AND deleted = 'False' AND state IN (${list(doingStates)})`;
  await settleStatus(tx, instanceId);
}

async function setState(
  tx: Tx,
  instanceId: string,
  ruleIds: readonly string[],
  to: string,
  from: readonly string[],
): Promise<number> {
  if (ruleIds.length === 0) return 0;
  const { affected } = await tx.run`
    UPDATE share_instance_access_map SET state = ${to}, updated_at = UTC_TIMESTAMP(6)
    WHERE share_instance_id = ${instanceId} AND deleted = 'False' AND access_id IN (${list(ruleIds)}) AND state IN (${list(from)})`;
  return affected;
}

async function removeDenied(tx: Tx, instanceId: string): Promise<void> {
  const denied = await tx.rows<{ id: string; access_id: string }>`
    SELECT id, access_id FROM share_instance_access_map
    WHERE share_instance_id = ${instanceId} AND deleted = 'False' AND state = ${accessSteps.deny.doing} FOR UPDATE`;
  if (denied.length === 0) return;
  await tx.run`
    UPDATE share_instance_access_map SET deleted = id, deleted_at = UTC_TIMESTAMP(6), state = 'deleted'
    WHERE id IN (${list(denied.map(({ id }) => id))})`;
  const gone = await tx.rows<{ id: string }>`
    SELECT r.id FROM share_access_map r WHERE r.id IN (${list(denied.map(({ access_id }) => access_id))}) AND r.deleted = 'False'
      AND NOT EXISTS (SELECT 1 FROM share_instance_access_map m WHERE m.access_id = r.id AND m.deleted = 'False')`;
  await removeAccessRules(
    tx,
    gone.map(({ id }) => id),
  );
}

/** Soft-deletes rules that no instance has any more, with their metadata and locks. */
export async function removeAccessRules(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.run`
    UPDATE share_access_rules_metadata SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE access_id IN (${list(ids)}) AND deleted = 'False'`;
  await tx.run`
    UPDATE share_access_map SET deleted = id, deleted_at = UTC_TIMESTAMP(6) WHERE id IN (${list(ids)}) AND deleted = 'False'`;
  await removeLocksOf(tx, ids);
}

/** Soft-deletes all rules of a share whose last instance goes. */
export async function removeRulesOfShare(tx: Tx, shareId: string): Promise<void> {
  const rules = await tx.rows<{ id: string }>`
    SELECT id FROM share_access_map WHERE share_id = ${shareId} AND deleted = 'False'`;
  await removeAccessRules(
    tx,
    rules.map(({ id }) => id),
  );
}

/** Soft-deletes rules of a share that no instance has: the last that was to let them go went itself. */
export async function removeUnheldRules(tx: Tx, shareId: string): Promise<void> {
  const rules = await tx.rows<{ id: string }>`
    SELECT r.id FROM share_access_map r WHERE r.share_id = ${shareId} AND r.deleted = 'False'
      AND NOT EXISTS (SELECT 1 FROM share_instance_access_map m WHERE m.access_id = r.id AND m.deleted = 'False')`;
  await removeAccessRules(
    tx,
    rules.map(({ id }) => id),
  );
}

/** `access_rules_status` from the states of the instance's rules. */
async function settleStatus(tx: Tx, instanceId: string): Promise<void> {
  const any = (condition: Sql) => sql`
    EXISTS (SELECT 1 FROM share_instance_access_map m
      WHERE m.share_instance_id = ${instanceId} AND m.deleted = 'False' AND ${condition})`;
  await tx.run`
    UPDATE share_instances SET access_rules_status = CASE
      WHEN ${any(sql`m.state NOT IN ('active', 'error')`)} THEN 'syncing'
      WHEN ${any(sql`m.state = 'error'`)} THEN 'error' ELSE 'active' END
    WHERE id = ${instanceId} AND deleted = 'False'`;
}
