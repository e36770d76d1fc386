/**
 * Share networks with their subnets: lists, one, making, changing and removing one. Rows have the API's names; a
 * network comes with its subnets in one statement.
 */

import type { Page } from '#domain/paging.ts';
import type { Queries, Tx } from './connection.ts';
import { jsonRow, parseRows, time } from './jsonRow.ts';
import { type SubnetRow, subnetObject } from './shareNetworkSubnets.ts';
import { and, int, nothing, type Sql, sql } from './sql.ts';
import { lockedStatus } from './transition.ts';
import { updateRow } from './updateRow.ts';

export interface ShareNetworkRow {
  id: string;
  project_id: string;
  user_id: string;
  name: string | null;
  description: string | null;
  /** active, error or network_change */
  status: string;
  created_at: string;
  updated_at: string | null;
  /** whether all of its share servers take a change of security services, or of subnets, while in use */
  security_service_update_support: boolean;
  network_allocation_update_support: boolean;
  /** oldest first */
  share_network_subnets: SubnetRow[];
}

/** True of a network when it is true of all its servers; of a network without any as well. */
function supported(column: 'security_service_update_support' | 'network_allocation_update_support'): string {
  return `NOT EXISTS (SELECT 1 FROM share_servers v JOIN share_server_share_network_subnet_mappings m ON m.share_server_id = v.id AND m.deleted = 0
    JOIN share_network_subnets u ON u.id = m.share_network_subnet_id AND u.deleted = 'False'
    WHERE u.share_network_id = n.id AND v.deleted = 'False' AND v.${column} = 0) = 1`;
}

const columns = jsonRow({
  id: 'n.id',
  project_id: 'n.project_id',
  user_id: 'n.user_id',
  name: 'n.name',
  description: 'n.description',
  status: 'n.status',
  created_at: time('n.created_at'),
  updated_at: time('n.updated_at'),
  security_service_update_support: supported('security_service_update_support'),
  network_allocation_update_support: supported('network_allocation_update_support'),
  share_network_subnets: `COALESCE((SELECT JSON_ARRAYAGG(${subnetObject} ORDER BY s.created_at, s.id)
    FROM share_network_subnets s LEFT JOIN availability_zones z ON z.id = s.availability_zone_id
    WHERE s.share_network_id = n.id AND s.deleted = 'False'), JSON_ARRAY())`,
});

/** One network, whoever's it is; undefined when there is none. */
export async function findShareNetwork(db: Queries, id: string): Promise<ShareNetworkRow | undefined> {
  const found = await db.rows<{ row: string }>`
    SELECT ${columns} FROM share_networks n WHERE n.id = ${id} AND n.deleted = 'False'`;
  return parseRows<ShareNetworkRow>(found)[0];
}

/** What a list is narrowed by; conditions are on `n` (network). */
export interface ShareNetworkQuery {
  where: Sql[];
  page: Page;
}

function rest({ where, page: { limit, offset } }: ShareNetworkQuery): Sql {
  const page =
    limit === null && offset === 0
      ? nothing
      : sql`LIMIT ${int(limit ?? 2 ** 31)} OFFSET ${int(Math.min(offset, 2 ** 31))}`;
  return sql`WHERE n.deleted = 'False'${and(where)} ORDER BY n.created_at, n.id ${page}`;
}

/** A page of networks; one statement whatever its length. */
export async function listShareNetworks(db: Queries, query: ShareNetworkQuery): Promise<ShareNetworkRow[]> {
  return parseRows(await db.rows<{ row: string }>`SELECT ${columns} FROM share_networks n ${rest(query)}`);
}

/** As `listShareNetworks`, but only what the short list shows. */
export function listShareNetworkNames(
  db: Queries,
  query: ShareNetworkQuery,
): Promise<{ id: string; name: string | null }[]> {
  return db.rows`SELECT n.id, n.name FROM share_networks n ${rest(query)}`;
}

export interface NewShareNetwork {
  id: string;
  createdAt: string;
  projectId: string;
  userId: string;
  name: string | null;
  description: string | null;
}

/** Writes an active network, so far without a subnet. */
export async function insertShareNetwork(tx: Tx, network: NewShareNetwork): Promise<void> {
  await tx.run`
    INSERT INTO share_networks (created_at, deleted, id, project_id, user_id, name, description, status)
    VALUES (${network.createdAt}, 'False', ${network.id}, ${network.projectId}, ${network.userId}, ${network.name},
      ${network.description}, 'active')`;
}

/** Changes what is given, leaves what is undefined. */
export function updateShareNetwork(
  tx: Tx,
  id: string,
  set: { name?: string | null | undefined; description?: string | null | undefined },
): Promise<void> {
  return updateRow(tx, 'share_networks', id, { name: set.name, description: set.description });
}

/**
 * Locks the network until the transaction ends, so that its subnets, security services and users change one at a
 * time; answers its status, or undefined when there is no such network.
 */
export function lockShareNetwork(tx: Tx, id: string): Promise<string | undefined> {
  return lockedStatus(tx, 'share_networks', id);
}

/** Keeps the network from being removed until the transaction ends; false when there is none. Many may at once. */
export async function holdShareNetwork(tx: Tx, id: string): Promise<boolean> {
  const row =
    await tx.row`SELECT id FROM share_networks WHERE id = ${id} AND deleted = 'False' LOCK IN SHARE MODE`;
  return row !== undefined;
}

/** What still needs a network: share instances and share groups. */
export async function usesOfShareNetwork(
  db: Queries,
  id: string,
): Promise<{ instances: number; groups: number }> {
  const row = await db.row<{ instances: number; groups: number }>`
    SELECT (SELECT COUNT(*) FROM share_instances WHERE share_network_id = ${id} AND deleted = 'False') AS instances,
      (SELECT COUNT(*) FROM share_groups WHERE share_network_id = ${id} AND deleted = 'False') AS \`groups\``;
  return row!;
}

/** Soft-deletes a network with its subnets and what ties security services to it. */
export async function removeShareNetwork(tx: Tx, id: string): Promise<void> {
  const gone = sql`deleted = id, deleted_at = UTC_TIMESTAMP(6)`;
  await tx.run`
    UPDATE share_network_subnet_metadata m JOIN share_network_subnets s ON s.id = m.share_network_subnet_id
    SET m.deleted = m.id, m.deleted_at = UTC_TIMESTAMP(6) WHERE s.share_network_id = ${id} AND m.deleted = 'False'`;
  await tx.run`UPDATE share_network_subnets SET ${gone} WHERE share_network_id = ${id} AND deleted = 'False'`;
  await tx.run`
    UPDATE share_network_security_service_association SET ${gone} WHERE share_network_id = ${id} AND deleted = 0`;
  await tx.run`UPDATE share_networks SET ${gone} WHERE id = ${id} AND deleted = 'False'`;
}
