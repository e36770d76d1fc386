/** Access rules: lists, one, and what requests change. Their states on instances are settled in accessStates.ts. */
import { randomUUID } from 'node:crypto';
import {
  type AccessType,
  accessRulesStatusPrecedence,
  accessStatePrecedence,
  accessSteps,
  type RulesOfInstance,
} from '#domain/accessRules.ts';
import type { AccessLevel } from '#domain/backend.ts';
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

/** The one of `order` furthest left among a group's values. */
const first = (column: Sql, order: readonly string[]): Sql =>
  sql`ELT(MIN(FIELD(${column}, ${list(order)})), ${list(order)})`;

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

export interface RuledInstance extends RulesOfInstance {
  id: string;
}

/**
 * The live instances of a share, as far as their rules are concerned, locked: until the transaction ends no job
 * settles their states. A replica that no pool took is left out: it holds no rules, and never will.
 */
export async function lockRuledInstances(tx: Tx, shareId: string): Promise<RuledInstance[]> {
  const rows = await tx.rows<Omit<RuledInstance, 'hasFailed'> & { hasFailed: number }>`
    SELECT i.id, i.status, i.host, EXISTS (SELECT 1 FROM share_instance_access_map m
      WHERE m.share_instance_id = i.id AND m.deleted = 'False' AND m.state = 'error') AS hasFailed
    FROM share_instances i WHERE i.share_id = ${shareId} AND i.deleted = 'False'
      AND NOT (i.host IS NULL AND i.replica_state <=> 'error') ORDER BY i.created_at, i.id FOR UPDATE`;
  return rows.map((row) => ({ ...row, hasFailed: row.hasFailed === 1 }));
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

async function markSyncing(tx: Tx, shareId: string): Promise<void> {
  await tx.run`
    UPDATE share_instances SET access_rules_status = 'syncing' WHERE share_id = ${shareId} AND deleted = 'False'`;
}
