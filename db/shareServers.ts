/**
 * Share servers: lists, one, making, changing and removing one. Rows have the API's names; a server belongs to the
 * project of the share network whose subnets it serves.
 */
import type { Queries, Tx } from './connection.ts';
import { flag, json, jsonRow, parseRows, time } from './jsonRow.ts';
import { and, join, list, type Sql, sql } from './sql.ts';
import { lockedStatus, type Subject } from './transition.ts';

export interface ShareServerRow {
  id: string;
  project_id: string | null;
  created_at: string;
  updated_at: string | null;
  status: string;
  /** `host@backend` */
  host: string;
  share_network_id: string | null;
  /** the network's id where it has no name */
  share_network_name: string | null;
  /** oldest first */
  share_network_subnet_ids: string[];
  is_auto_deletable: boolean;
  /** what the back end calls it */
  identifier: string | null;
  task_state: string | null;
  /** the server that it takes the place of, in a migration */
  source_share_server_id: string | null;
  security_service_update_support: boolean;
  network_allocation_update_support: boolean;
  encryption_key_ref: string | null;
  /** what the back end keeps about it */
  backend_details: Record<string, string>;
}

const columns = jsonRow({
  id: 'v.id',
  project_id: 'n.project_id',
  created_at: time('v.created_at'),
  updated_at: time('v.updated_at'),
  status: 'v.status',
  host: 'v.host',
  share_network_id: 'n.id',
  share_network_name: "COALESCE(NULLIF(n.name, ''), n.id)",
  share_network_subnet_ids: json(`COALESCE((SELECT JSON_ARRAYAGG(m.share_network_subnet_id ORDER BY m.id)
    FROM share_server_share_network_subnet_mappings m WHERE m.share_server_id = v.id AND m.deleted = 0), '[]')`),
  is_auto_deletable: flag('v.is_auto_deletable'),
  identifier: 'v.identifier',
  task_state: 'v.task_state',
  source_share_server_id: 'v.source_share_server_id',
  security_service_update_support: flag('v.security_service_update_support'),
  network_allocation_update_support: flag('v.network_allocation_update_support'),
  encryption_key_ref: 'v.encryption_key_ref',
  backend_details:
    json(`COALESCE((SELECT JSON_OBJECTAGG(d.\`key\`, d.value) FROM share_server_backend_details d
    WHERE d.share_server_id = v.id AND d.deleted = 'False'), '{}')`),
});

const tables = sql`
  share_servers v LEFT JOIN share_networks n ON n.id = (SELECT u.share_network_id
    FROM share_server_share_network_subnet_mappings m JOIN share_network_subnets u ON u.id = m.share_network_subnet_id
    WHERE m.share_server_id = v.id AND m.deleted = 0 ORDER BY m.id LIMIT 1)`;

/** One server; undefined when there is none. */
export async function findShareServer(db: Queries, id: string): Promise<ShareServerRow | undefined> {
  const found = await db.rows<{ row: string }>`
    SELECT ${columns} FROM ${tables} WHERE v.id = ${id} AND v.deleted = 'False'`;
  return parseRows<ShareServerRow>(found)[0];
}

/** All servers that meet the conditions (serverIs), oldest first. */
export async function listShareServers(db: Queries, where: readonly Sql[]): Promise<ShareServerRow[]> {
  return parseRows(
    await db.rows<{ row: string }>`
      SELECT ${columns} FROM ${tables} WHERE v.deleted = 'False'${and(where)} ORDER BY v.created_at, v.id`,
  );
}

/** What lists can be narrowed by: conditions on `v` (server) and `n` (its network). */
export const serverIs = {
  withId: (id: string): Sql => sql`v.id = ${id}`,
  on: (host: string): Sql => sql`v.host = ${host}`,
  inStatus: (status: string): Sql => sql`v.status = ${status}`,
  inTaskState: (state: string): Sql => sql`v.task_state = ${state}`,
  ofProject: (id: string): Sql => sql`n.project_id = ${id}`,
  onNetwork: (id: string): Sql => sql`n.id = ${id}`,
  onNetworkNamed: (nameOrId: string): Sql => sql`(n.name = ${nameOrId} OR n.id = ${nameOrId})`,
  onSubnet: (id: string): Sql => sql`EXISTS (SELECT 1 FROM share_server_share_network_subnet_mappings x
    WHERE x.share_server_id = v.id AND x.deleted = 0 AND x.share_network_subnet_id = ${id})`,
  called: (identifier: string): Sql => sql`v.identifier = ${identifier}`,
  replacing: (id: string): Sql => sql`v.source_share_server_id = ${id}`,
  encryptedWith: (key: string): Sql => sql`v.encryption_key_ref = ${key}`,
} as const;

export const serverSubject = (id: string): Subject => ({
  table: 'share_servers',
  where: sql`id = ${id}`,
  what: 'Share server',
  id,
});

export interface NewShareServer {
  id: string;
  /** `host@backend` */
  host: string;
  status: string;
  subnetIds: readonly string[];
  isAutoDeletable: boolean;
  identifier: string | null;
  sourceId: string | null;
  taskState: string | null;
  encryptionKeyRef?: string | null;
}

/** Writes a server with the subnets that it is to serve. */
export async function insertShareServer(tx: Tx, server: NewShareServer): Promise<void> {
  await tx.run`
    INSERT INTO share_servers (created_at, updated_at, deleted, id, host, status, is_auto_deletable, identifier, task_state,
      source_share_server_id, encryption_key_ref)
    VALUES (UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'False', ${server.id}, ${server.host}, ${server.status}, ${server.isAutoDeletable},
      ${server.identifier}, ${server.taskState}, ${server.sourceId}, ${server.encryptionKeyRef ?? null})`;
  const rows = server.subnetIds.map((subnet) => sql`(UTC_TIMESTAMP(6), 0, ${server.id}, ${subnet})`);
  await tx.run`
    INSERT INTO share_server_share_network_subnet_mappings (created_at, deleted, share_server_id, share_network_subnet_id)
    VALUES ${join(rows, ', ')}`;
}

/** Another subnet that the server is to serve. */
export async function addServedSubnet(tx: Tx, id: string, subnetId: string): Promise<void> {
  await tx.run`
    INSERT INTO share_server_share_network_subnet_mappings (created_at, deleted, share_server_id, share_network_subnet_id)
    VALUES (UTC_TIMESTAMP(6), 0, ${id}, ${subnetId})`;
}

/** Locks a server until the transaction ends, so that nothing is put on it; answers its status, undefined when it is gone. */
export function lockShareServer(tx: Tx, id: string): Promise<string | undefined> {
  return lockedStatus(tx, 'share_servers', id);
}

/** What is on a server: share instances and share groups. */
export async function usesOfServer(db: Queries, id: string): Promise<{ instances: number; groups: number }> {
  const row = await db.row<{ instances: number; groups: number }>`
    SELECT (SELECT COUNT(*) FROM share_instances WHERE share_server_id = ${id} AND deleted = 'False') AS instances,
      (SELECT COUNT(*) FROM share_groups WHERE share_server_id = ${id} AND deleted = 'False') AS \`groups\``;
  return row!;
}

/** Live servers whose name, or the name that their back end has for them, is part of `identifier`. */
export async function serversCalled(db: Queries, host: string, identifier: string): Promise<string[]> {
  const rows = await db.rows<{ id: string }>`
    SELECT id FROM share_servers WHERE deleted = 'False' AND host = ${host} AND
      (LOCATE(identifier, ${identifier}) > 0 OR LOCATE(REPLACE(id, '-', '_'), REPLACE(${identifier}, '-', '_')) > 0)`;
  return rows.map(({ id }) => id);
}

/** The phase of a migration, or null for none. */
export async function setServerTask(tx: Tx, id: string, state: string | null): Promise<void> {
  await tx.run`
    UPDATE share_servers SET task_state = ${state}, updated_at = UTC_TIMESTAMP(6) WHERE id = ${id} AND deleted = 'False'`;
}

/** Goes on from one phase to the next; false when someone has taken the server into another meanwhile. */
export async function advanceServerTask(tx: Tx, id: string, from: string, to: string): Promise<boolean> {
  const { affected } = await tx.run`
    UPDATE share_servers SET task_state = ${to}, updated_at = UTC_TIMESTAMP(6)
    WHERE id = ${id} AND task_state = ${from} AND deleted = 'False'`;
  return affected > 0;
}

/** What the back end made of a server. */
export interface ServerMade {
  identifier: string;
  security_service_update_support: boolean;
  network_allocation_update_support: boolean;
  share_replicas_migration_support: boolean;
}

export async function recordServerMade(tx: Tx, id: string, made: ServerMade): Promise<void> {
  await tx.run`
    UPDATE share_servers SET identifier = ${made.identifier}, updated_at = UTC_TIMESTAMP(6),
      security_service_update_support = ${made.security_service_update_support},
      network_allocation_update_support = ${made.network_allocation_update_support},
      share_replicas_migration_support = ${made.share_replicas_migration_support}
    WHERE id = ${id} AND deleted = 'False'`;
}

/** Makes these details hold; others of the server stay. */
export async function saveDetails(
  tx: Tx,
  id: string,
  details: Readonly<Record<string, string>>,
): Promise<void> {
  const entries = Object.entries(details);
  if (entries.length === 0) return;
  await tx.run`
    UPDATE share_server_backend_details SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE share_server_id = ${id} AND \`key\` IN (${list(Object.keys(details))}) AND deleted = 'False'`;
  const rows = entries.map(([key, value]) => sql`(UTC_TIMESTAMP(6), 'False', ${id}, ${key}, ${value})`);
  await tx.run`
    INSERT INTO share_server_backend_details (created_at, deleted, share_server_id, \`key\`, value) VALUES ${join(rows, ', ')}`;
}

/** A server that is used, or no longer, from now on: the time that it may stay unused begins anew. */
export async function touchServer(tx: Tx, id: string): Promise<void> {
  await tx.run`UPDATE share_servers SET updated_at = UTC_TIMESTAMP(6) WHERE id = ${id} AND deleted = 'False'`;
}

/** A server with something on it that Shoal doesn't manage stays when it is unused. */
export async function keepUnused(tx: Tx, id: string): Promise<void> {
  await tx.run`UPDATE share_servers SET is_auto_deletable = 0, updated_at = UTC_TIMESTAMP(6) WHERE id = ${id} AND deleted = 'False'`;
}

/** Soft-deletes a server with its details, its ports and what ties it to subnets. */
export async function removeShareServer(tx: Tx, id: string): Promise<void> {
  const gone = sql`deleted = id, deleted_at = UTC_TIMESTAMP(6)`;
  await tx.run`UPDATE share_server_backend_details SET ${gone} WHERE share_server_id = ${id} AND deleted = 'False'`;
  await tx.run`UPDATE network_allocations SET ${gone} WHERE share_server_id = ${id} AND deleted = 'False'`;
  await tx.run`UPDATE share_server_share_network_subnet_mappings SET ${gone} WHERE share_server_id = ${id} AND deleted = 0`;
  await tx.run`UPDATE share_servers SET ${gone} WHERE id = ${id} AND deleted = 'False'`;
}
