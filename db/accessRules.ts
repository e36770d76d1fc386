/** Access rules, and their states on the instances of their share. */
import { randomUUID } from 'node:crypto';
import {
  type AccessType,
  accessRulesStatusPrecedence,
  accessStatePrecedence,
  accessSteps,
  type RulesOfInstance,
} from '#domain/accessRules.ts';
import type { AccessLevel, AccessRuleResult } from '#domain/backend.ts';
import { removeLocksOf } from './accessLocks.ts';
import type { Queries, Tx } from './connection.ts';
import type { MetadataTable } from './metadata.ts';
import { and, join, list, type Sql, sql } from './sql.ts';

/** Where rules keep their metadata. */
export const accessRuleMetadata: MetadataTable = {
  table: 'share_access_rules_metadata',
  owner: 'access_id',
  live: 'False',
};

/** A rule with the API's names. */
export interface AccessRuleRow {
  id: string;
  share_id: string;
  access_type: AccessType;
  access_to: string;
  access_level: AccessLevel;
  /** a secret of those whom the rule is for */
  access_key: string | null;
  /** of all instances together */
  state: (typeof accessStatePrecedence)[number];
  /** what every rule shows where rules have no state of their own */
  share_access_rules_status: (typeof accessRulesStatusPrecedence)[number];
  created_at: string;
  updated_at: string | null;
  metadata: Record<string, string>;
  /** who locked the rule's sight, if anyone */
  sight_locks: { user_id: string; project_id: string }[];
}

type Raw = Omit<AccessRuleRow, 'metadata' | 'sight_locks'> & {
  metadata: string | null;
  sight_locks: string | null;
};

const texts = (all: readonly string[]): Sql => list(all);

/** The one of `order` furthest left among a group's values. */
const first = (column: Sql, order: readonly string[]): Sql =>
  sql`ELT(MIN(FIELD(${column}, ${texts(order)})), ${texts(order)})`;

async function select(db: Queries, where: Sql): Promise<AccessRuleRow[]> {
  const rows = await db.rows<Raw>`
    SELECT r.id, r.share_id, r.access_type, r.access_to, r.access_level, r.access_key, r.created_at,
      ${first(sql`m.state`, accessStatePrecedence)} AS state, MAX(m.updated_at) AS updated_at,
      ${first(sql`i.access_rules_status`, accessRulesStatusPrecedence)} AS share_access_rules_status,
      (SELECT JSON_OBJECTAGG(d.\`key\`, d.value) FROM share_access_rules_metadata d
       WHERE d.access_id = r.id AND d.deleted = 'False') AS metadata,
      l.locks AS sight_locks
    FROM share_access_map r
    JOIN share_instance_access_map m ON m.access_id = r.id AND m.deleted = 'False'
    JOIN share_instances i ON i.id = m.share_instance_id AND i.deleted = 'False'
    LEFT JOIN (
      SELECT resource_id, JSON_ARRAYAGG(JSON_OBJECT('user_id', user_id, 'project_id', project_id)) AS locks
      FROM resource_locks
      WHERE resource_type = 'access_rule' AND resource_action = 'show' AND deleted = 'False'
      GROUP BY resource_id) l ON l.resource_id = r.id
    WHERE r.deleted = 'False' AND ${where}
    GROUP BY r.id ORDER BY r.created_at, r.id`;
  return rows.map(({ metadata, sight_locks, ...rest }) => ({
    ...rest,
    metadata: metadata ? (JSON.parse(metadata) as AccessRuleRow['metadata']) : {},
    sight_locks: sight_locks ? (JSON.parse(sight_locks) as AccessRuleRow['sight_locks']) : [],
  }));
}

/** What a list of rules is narrowed by; all given must hold. */
export interface AccessRuleFilter {
  accessType?: string;
  accessTo?: string;
  accessLevel?: string;
  accessKey?: string;
  metadata?: Readonly<Record<string, string>>;
}

/** The rules of a share, oldest first; one statement. */
export function listAccessRules(
  db: Queries,
  shareId: string,
  filter: AccessRuleFilter = {},
): Promise<AccessRuleRow[]> {
  const { accessType, accessTo, accessLevel, accessKey, metadata = {} } = filter;
  return select(
    db,
    sql`r.share_id = ${shareId}${and([
      ...(accessType === undefined ? [] : [sql`r.access_type = ${accessType}`]),
      ...(accessTo === undefined ? [] : [sql`r.access_to = ${accessTo}`]),
      ...(accessLevel === undefined ? [] : [sql`r.access_level = ${accessLevel}`]),
      ...(accessKey === undefined ? [] : [sql`r.access_key = ${accessKey}`]),
      ...Object.entries(metadata).map(
        ([key, value]) => sql`EXISTS (SELECT 1 FROM share_access_rules_metadata d
          WHERE d.access_id = r.id AND d.deleted = 'False' AND d.\`key\` = ${key} AND d.value = ${value})`,
      ),
    ])}`,
  );
}

/** One rule, whoever's it is; undefined when there is none. */
export async function findAccessRule(db: Queries, id: string): Promise<AccessRuleRow | undefined> {
  return (await select(db, sql`r.id = ${id}`))[0];
}

/** Locks a rule's row; false when it is gone. */
export async function lockAccessRule(tx: Tx, id: string): Promise<boolean> {
  return (
    (await tx.row`SELECT id FROM share_access_map WHERE id = ${id} AND deleted = 'False' FOR UPDATE`) !==
    undefined
  );
}

/**
 * The live instances of a share, as far as their rules are concerned, locked: until the transaction ends no job
 * settles their states.
 */
export function lockRuledInstances(tx: Tx, shareId: string): Promise<(RulesOfInstance & { id: string })[]> {
  return tx.rows`
    SELECT id, status, host, access_rules_status AS accessRulesStatus FROM share_instances
    WHERE share_id = ${shareId} AND deleted = 'False' ORDER BY created_at, id FOR UPDATE`;
}

/** Before states are settled: what a request has queued by then is seen, what comes later waits. */
async function lockInstance(tx: Tx, instanceId: string): Promise<void> {
  await tx.row`SELECT id FROM share_instances WHERE id = ${instanceId} FOR UPDATE`;
}

/** Whom the share's rules are for, those on their way out among them. */
export function accessesOf(
  db: Queries,
  shareId: string,
): Promise<{ accessType: AccessType; accessTo: string }[]> {
  return db.rows`
    SELECT access_type AS accessType, access_to AS accessTo FROM share_access_map
    WHERE share_id = ${shareId} AND deleted = 'False'`;
}

export interface NewAccessRule {
  id: string;
  shareId: string;
  createdAt: string;
  accessType: string;
  accessTo: string;
  accessLevel: string;
}

/** Writes a rule, queued to be applied on each of the instances. */
export async function insertAccessRule(
  tx: Tx,
  rule: NewAccessRule,
  instanceIds: readonly string[],
): Promise<void> {
  await tx.run`
    INSERT INTO share_access_map (created_at, deleted, id, share_id, access_type, access_to, access_level)
    VALUES (${rule.createdAt}, 'False', ${rule.id}, ${rule.shareId}, ${rule.accessType}, ${rule.accessTo}, ${rule.accessLevel})`;
  const maps = instanceIds.map(
    (id) =>
      sql`(${rule.createdAt}, 'False', ${randomUUID()}, ${id}, ${rule.id}, ${accessSteps.apply.queued})`,
  );
  await tx.run`
    INSERT INTO share_instance_access_map (created_at, deleted, id, share_instance_id, access_id, state)
    VALUES ${join(maps, ', ')}`;
  await markSyncing(tx, rule.shareId);
}

/** Queues a rule to be denied; false when it is already on its way out everywhere. */
export async function queueDenial(tx: Tx, ruleId: string, shareId: string): Promise<boolean> {
  const { queued, doing } = accessSteps.deny;
  const { affected } = await tx.run`
    UPDATE share_instance_access_map SET state = ${queued}, updated_at = UTC_TIMESTAMP(6)
    WHERE access_id = ${ruleId} AND deleted = 'False' AND state NOT IN (${list([queued, doing])})`;
  if (affected > 0) await markSyncing(tx, shareId);
  return affected > 0;
}

/** Changes a rule's level and queues it to be updated; false when it is on its way out. */
export async function queueUpdate(
  tx: Tx,
  ruleId: string,
  shareId: string,
  level: AccessLevel,
): Promise<boolean> {
  const { apply, update, deny } = accessSteps;
  // A rule that waits to be applied will be with the new level.
  const { affected } = await tx.run`
    UPDATE share_instance_access_map
    SET state = IF(state = ${apply.queued}, state, ${update.queued}), updated_at = UTC_TIMESTAMP(6)
    WHERE access_id = ${ruleId} AND deleted = 'False' AND state NOT IN (${list([deny.queued, deny.doing])})`;
  if (affected === 0) return false;
  await tx.run`UPDATE share_access_map SET access_level = ${level}, updated_at = UTC_TIMESTAMP(6) WHERE id = ${ruleId}`;
  await markSyncing(tx, shareId);
  return true;
}

/** An error stays until the job has looked again: a client must not take a change that is queued for a cure. */
async function markSyncing(tx: Tx, shareId: string): Promise<void> {
  await tx.run`
    UPDATE share_instances SET access_rules_status = 'syncing'
    WHERE share_id = ${shareId} AND deleted = 'False' AND access_rules_status = 'active'`;
}

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

/** `access_rules_status` from the states of the instance's rules. */
async function settleStatus(tx: Tx, instanceId: string): Promise<void> {
  const any = (condition: Sql) => sql`
    EXISTS (SELECT 1 FROM share_instance_access_map m
      WHERE m.share_instance_id = ${instanceId} AND m.deleted = 'False' AND ${condition})`;
  await tx.run`
    UPDATE share_instances SET access_rules_status = CASE
      WHEN ${any(sql`m.state = 'error'`)} THEN 'error'
      WHEN ${any(sql`m.state <> 'active'`)} THEN 'syncing' ELSE 'active' END
    WHERE id = ${instanceId} AND deleted = 'False'`;
}
