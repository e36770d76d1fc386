/** Subnets of share networks: one or more for each availability zone, or for all zones. Rows have the API's names. */
import type { SubnetDescription } from '#domain/network.ts';
import type { Queries, Tx } from './connection.ts';
import { json, jsonRow, parseRows, time } from './jsonRow.ts';
import { mergeMetadata, subnetMetadata } from './metadata.ts';
import { list, sql } from './sql.ts';

export interface SubnetRow {
  id: string;
  share_network_id: string;
  /** the zone's name; null when the subnet is for every zone without one of its own */
  availability_zone: string | null;
  availability_zone_id: string | null;
  neutron_net_id: string | null;
  neutron_subnet_id: string | null;
  // what the network plug-in found out, once a share server needed it
  network_type: string | null;
  segmentation_id: number | null;
  cidr: string | null;
  gateway: string | null;
  mtu: number | null;
  ip_version: number | null;
  created_at: string;
  updated_at: string | null;
  metadata: Record<string, string>;
}

const expressions = {
  id: 's.id',
  share_network_id: 's.share_network_id',
  availability_zone: 'z.name',
  availability_zone_id: 's.availability_zone_id',
  neutron_net_id: 's.neutron_net_id',
  neutron_subnet_id: 's.neutron_subnet_id',
  network_type: 's.network_type',
  segmentation_id: 's.segmentation_id',
  cidr: 's.cidr',
  gateway: 's.gateway',
  mtu: 's.mtu',
  ip_version: 's.ip_version',
  created_at: time('s.created_at'),
  updated_at: time('s.updated_at'),
  metadata: json(`COALESCE((SELECT JSON_OBJECTAGG(m.\`key\`, m.value) FROM share_network_subnet_metadata m
    WHERE m.share_network_subnet_id = s.id AND m.deleted = 'False'), '{}')`),
};

/** A subnet `s` in zone `z` as JSON, for statements that read it with its network. */
export const subnetObject = `JSON_OBJECT(${Object.entries(expressions)
  .map(([name, expression]) => `'${name}', ${expression}`)
  .join(', ')})`;

const columns = jsonRow(expressions);
const tables = sql`share_network_subnets s LEFT JOIN availability_zones z ON z.id = s.availability_zone_id`;

/** One subnet, whoever's it is; undefined when there is none. */
export async function findSubnet(db: Queries, id: string): Promise<SubnetRow | undefined> {
  const found = await db.rows<{ row: string }>`
    SELECT ${columns} FROM ${tables} WHERE s.id = ${id} AND s.deleted = 'False'`;
  return parseRows<SubnetRow>(found)[0];
}

/** These subnets, oldest first. */
export async function findSubnets(db: Queries, ids: readonly string[]): Promise<SubnetRow[]> {
  return parseRows(
    await db.rows<{ row: string }>`
      SELECT ${columns} FROM ${tables} WHERE s.id IN (${list(ids)}) AND s.deleted = 'False' ORDER BY s.created_at, s.id`,
  );
}

/** All subnets of a network, oldest first. */
export async function subnetsOf(db: Queries, shareNetworkId: string): Promise<SubnetRow[]> {
  return parseRows(
    await db.rows<{ row: string }>`
      SELECT ${columns} FROM ${tables} WHERE s.share_network_id = ${shareNetworkId} AND s.deleted = 'False'
      ORDER BY s.created_at, s.id`,
  );
}

export interface NewSubnet {
  id: string;
  createdAt: string;
  shareNetworkId: string;
  availabilityZoneId: string | null;
  neutronNetId: string | null;
  neutronSubnetId: string | null;
  metadata: Record<string, string>;
}

/** Writes a subnet. The network is locked by the caller. */
export async function insertSubnet(tx: Tx, subnet: NewSubnet): Promise<void> {
  await tx.run`
    INSERT INTO share_network_subnets (created_at, deleted, id, share_network_id, availability_zone_id, neutron_net_id, neutron_subnet_id)
    VALUES (${subnet.createdAt}, 'False', ${subnet.id}, ${subnet.shareNetworkId}, ${subnet.availabilityZoneId},
      ${subnet.neutronNetId}, ${subnet.neutronSubnetId})`;
  await mergeMetadata(tx, subnetMetadata, subnet.id, subnet.metadata);
}

/** Points a subnet elsewhere. */
export async function redirectSubnet(
  tx: Tx,
  id: string,
  to: { neutronNetId: string | null; neutronSubnetId: string | null },
): Promise<void> {
  await tx.run`
    UPDATE share_network_subnets SET neutron_net_id = ${to.neutronNetId}, neutron_subnet_id = ${to.neutronSubnetId},
      updated_at = UTC_TIMESTAMP(6) WHERE id = ${id} AND deleted = 'False'`;
}

/** A subnet as a network plug-in is told of it. */
export function describedSubnet(row: SubnetRow): SubnetDescription {
  return {
    id: row.id,
    neutronNetId: row.neutron_net_id,
    neutronSubnetId: row.neutron_subnet_id,
    networkType: row.network_type,
    segmentationId: row.segmentation_id,
    cidr: row.cidr,
    gateway: row.gateway,
    mtu: row.mtu,
    ipVersion: row.ip_version,
  };
}

/** Writes down what the plug-in found out of a subnet. */
export async function saveDescription(tx: Tx, subnet: SubnetDescription): Promise<void> {
  await tx.run`
    UPDATE share_network_subnets SET network_type = ${subnet.networkType}, segmentation_id = ${subnet.segmentationId},
      cidr = ${subnet.cidr}, gateway = ${subnet.gateway}, mtu = ${subnet.mtu}, ip_version = ${subnet.ipVersion},
      updated_at = UTC_TIMESTAMP(6) WHERE id = ${subnet.id} AND deleted = 'False'`;
}

/** Locks a subnet until the transaction ends; false when there is none. */
export async function lockSubnet(tx: Tx, id: string): Promise<boolean> {
  const found =
    await tx.row`SELECT id FROM share_network_subnets WHERE id = ${id} AND deleted = 'False' FOR UPDATE`;
  return found !== undefined;
}

/** The live share servers that serve a subnet. */
export async function serversInSubnet(db: Queries, id: string): Promise<string[]> {
  const rows = await db.rows<{ id: string }>`
    SELECT v.id FROM share_servers v JOIN share_server_share_network_subnet_mappings m ON m.share_server_id = v.id AND m.deleted = 0
    WHERE m.share_network_subnet_id = ${id} AND v.deleted = 'False' ORDER BY v.created_at, v.id`;
  return rows.map((row) => row.id);
}

/** Soft-deletes a subnet with its metadata. */
export async function removeSubnet(tx: Tx, id: string): Promise<void> {
  await tx.run`
    UPDATE share_network_subnet_metadata SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE share_network_subnet_id = ${id} AND deleted = 'False'`;
  await tx.run`
    UPDATE share_network_subnets SET deleted = id, deleted_at = UTC_TIMESTAMP(6) WHERE id = ${id} AND deleted = 'False'`;
}
