/** Share replicas: the share instances of a replicated share. Rows have the API's names. */
import { randomUUID } from 'node:crypto';
import { accessSteps } from '#domain/accessRules.ts';
import type { BackendReplica, ReplicaState } from '#domain/backend.ts';
import type { Page } from '#domain/paging.ts';
import type { Schemas } from '#generated/handlers.ts';
import type { Queries, Tx } from './connection.ts';
import { beginningWith } from './like.ts';
import { type MetadataTable, mergeMetadata } from './metadata.ts';
import { limited } from './paging.ts';
import { backendShare, type InstanceRow } from './shareInstances.ts';
import { and, list, nothing, type Sql, sql } from './sql.ts';

/** Where replicas keep their metadata. */
export const replicaMetadata: MetadataTable = {
  table: 'share_instance_metadata',
  owner: 'share_instance_id',
  live: 'False',
};

export interface ReplicaRow {
  id: string;
  share_id: string;
  status: Schemas['ShareStatus'];
  replica_state: string | null;
  availability_zone: string | null;
  created_at: string;
  updated_at: string | null;
  share_network_id: string | null;
  share_server_id: string | null;
  host: string | null;
  cast_rules_to_readonly: boolean;
  metadata: Record<string, string>;
  // of the share
  project_id: string;
  user_id: string;
}

async function select(db: Queries, where: Sql, page: Sql = nothing): Promise<ReplicaRow[]> {
  const rows = await db.rows<Omit<ReplicaRow, 'metadata'> & { metadata: string | null }>`
    SELECT i.id, i.share_id, i.status, i.replica_state, z.name AS availability_zone, i.created_at, i.updated_at,
      i.share_network_id, i.share_server_id, i.host, i.cast_rules_to_readonly, s.project_id, s.user_id,
      (SELECT JSON_OBJECTAGG(m.\`key\`, m.value) FROM share_instance_metadata m
       WHERE m.share_instance_id = i.id AND m.deleted = 'False') AS metadata
    FROM share_instances i JOIN shares s ON s.id = i.share_id AND s.deleted = 'False'
    LEFT JOIN availability_zones z ON z.id = i.availability_zone_id
    WHERE i.deleted = 'False' AND i.replica_state IS NOT NULL AND ${where} ORDER BY i.created_at DESC, i.id ${page}`;
  return rows.map(({ metadata, ...rest }) => ({
    ...rest,
    metadata: metadata ? (JSON.parse(metadata) as Record<string, string>) : {},
  }));
}

/** A page of replicas, newest first: of a project (null: of all), of one share where that is said. */
export function listReplicas(
  db: Queries,
  of: { projectId: string | null; shareId?: string | undefined },
  page: Page,
): Promise<ReplicaRow[]> {
  const conditions = [
    ...(of.projectId === null ? [] : [sql`s.project_id = ${of.projectId}`]),
    ...(of.shareId === undefined ? [] : [sql`i.share_id = ${of.shareId}`]),
  ];
  return select(db, sql`TRUE${and(conditions)}`, limited(page));
}

/** One replica, whoever's it is; undefined when there is none. */
export async function findReplica(db: Queries, id: string): Promise<ReplicaRow | undefined> {
  return (await select(db, sql`i.id = ${id}`))[0];
}

/** How many replicas the share has, and how many of them are active. */
export async function countReplicas(db: Queries, shareId: string): Promise<{ all: number; active: number }> {
  const row = await db.row<{ n: number; active: number }>`
    SELECT COUNT(*) AS n, COUNT(IF(replica_state = 'active', 1, NULL)) AS active FROM share_instances
    WHERE share_id = ${shareId} AND deleted = 'False' AND replica_state IS NOT NULL`;
  return { all: row!.n, active: row!.active };
}

/** What a share's growth (or its shrinking) by so many GiB counts for its replicas; nothing without replication. */
export async function replicaSizes(
  db: Queries,
  share: { id: string; replicationType: string | null },
  gigabytes: number,
): Promise<{ replica_gigabytes?: number }> {
  if (share.replicationType === null) return {};
  // One that has no replica state yet is its own first replica all the same.
  return { replica_gigabytes: gigabytes * Math.max(1, (await countReplicas(db, share.id)).all) };
}

export interface NewReplica {
  id: string;
  shareId: string;
  createdAt: string;
  status: string;
  shareTypeId: string | null;
  qosTypeId: string | null;
  availabilityZoneId: string | null;
  shareNetworkId: string | null;
  castRulesToReadonly: boolean;
  metadata: Record<string, string>;
}

/**
 * Writes a replica that no pool has yet, with the share's access rules queued for it. It isn't in sync until a back
 * end says so.
 */
export async function insertReplica(tx: Tx, replica: NewReplica): Promise<void> {
  const state: ReplicaState = 'out_of_sync';
  await tx.run`
    INSERT INTO share_instances (created_at, deleted, id, share_id, status, share_type_id, qos_type_id, availability_zone_id,
      access_rules_status, cast_rules_to_readonly, replica_state, share_network_id)
    VALUES (${replica.createdAt}, 'False', ${replica.id}, ${replica.shareId}, ${replica.status}, ${replica.shareTypeId},
      ${replica.qosTypeId}, ${replica.availabilityZoneId}, 'active', ${replica.castRulesToReadonly}, ${state}, ${replica.shareNetworkId})`;
  await mergeMetadata(tx, replicaMetadata, replica.id, replica.metadata);
  const rules = await tx.rows<{ id: string }>`
    SELECT r.id FROM share_access_map r WHERE r.share_id = ${replica.shareId} AND r.deleted = 'False' AND EXISTS (
      SELECT 1 FROM share_instance_access_map m WHERE m.access_id = r.id AND m.deleted = 'False'
        AND m.state NOT IN (${list([accessSteps.deny.queued, accessSteps.deny.doing])}))`;
  for (const { id } of rules) {
    await tx.run`
      INSERT INTO share_instance_access_map (created_at, deleted, id, share_instance_id, access_id, state)
      VALUES (${replica.createdAt}, 'False', ${randomUUID()}, ${replica.id}, ${id}, ${accessSteps.apply.queued})`;
  }
  if (rules.length > 0)
    await tx.run`UPDATE share_instances SET access_rules_status = 'syncing' WHERE id = ${replica.id}`;
}

/** Locks a replica's row, for changing its metadata; false when it is gone. */
export async function lockReplica(tx: Tx, id: string): Promise<boolean> {
  const found = await tx.row`
    SELECT id FROM share_instances WHERE id = ${id} AND deleted = 'False' AND replica_state IS NOT NULL FOR UPDATE`;
  return found !== undefined;
}

/** Sets the state, whatever it was; answers what it was, undefined when the replica is gone. */
export async function setReplicaState(
  tx: Tx,
  id: string,
  state: string | null,
): Promise<string | null | undefined> {
  const before = await tx.row<{ replica_state: string | null }>`
    SELECT replica_state FROM share_instances WHERE id = ${id} AND deleted = 'False' FOR UPDATE`;
  if (!before) return undefined;
  await tx.run`
    UPDATE share_instances SET replica_state = ${state}, updated_at = UTC_TIMESTAMP(6) WHERE id = ${id} AND deleted = 'False'`;
  return before.replica_state;
}

/** The data changed under the other replicas: they are behind until their back ends say otherwise. */
export async function markOthersBehind(tx: Tx, shareId: string, instanceId: string): Promise<void> {
  await tx.run`
    UPDATE share_instances SET replica_state = 'out_of_sync', updated_at = UTC_TIMESTAMP(6)
    WHERE share_id = ${shareId} AND id <> ${instanceId} AND deleted = 'False' AND replica_state = 'in_sync'`;
}

/** A share's rules are for reading only on this replica, or no longer: those that hold are queued to be updated. */
export async function castRules(tx: Tx, instanceId: string, toReadonly: boolean): Promise<void> {
  await tx.run`UPDATE share_instances SET cast_rules_to_readonly = ${toReadonly} WHERE id = ${instanceId} AND deleted = 'False'`;
  await tx.run`
    UPDATE share_instance_access_map SET state = ${accessSteps.update.queued}, updated_at = UTC_TIMESTAMP(6)
    WHERE share_instance_id = ${instanceId} AND deleted = 'False' AND state = 'active'`;
  await tx.run`
    UPDATE share_instances SET access_rules_status = 'syncing' WHERE id = ${instanceId} AND deleted = 'False' AND EXISTS (
      SELECT 1 FROM share_instance_access_map m WHERE m.share_instance_id = ${instanceId} AND m.deleted = 'False' AND m.state = ${accessSteps.update.queued})`;
}

/** Replicas of a back end, `host@backend`, to be looked at again: no job waits for their shares. */
export function quietReplicas(
  db: Queries,
  backend: string,
): Promise<{ id: string; shareId: string; host: string }[]> {
  return db.rows`
    SELECT i.id, i.share_id AS shareId, i.host FROM share_instances i
    WHERE i.deleted = 'False' AND i.status = 'available' AND i.replica_state IN ('in_sync', 'out_of_sync', 'error')
      AND (i.host = ${backend} OR i.host LIKE ${beginningWith(`${backend}#`)})
      AND NOT EXISTS (SELECT 1 FROM shoal_outbox o WHERE o.resource = i.share_id)
    ORDER BY i.created_at LIMIT 1000`;
}

/** As a driver sees it. */
export function backendReplica(row: InstanceRow): BackendReplica {
  return { ...backendShare(row), replicaState: row.replicaState as ReplicaState | null };
}
