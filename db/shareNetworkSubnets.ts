/** Subnets of share networks: one or more for each availability zone, or for all zones. Rows have the API's names. */
import type { SubnetDescription } from '#domain/network.ts';
import type { Queries, Tx } from './connection.ts';
import { json, jsonRow, parseRows, time } from './jsonRow.ts';
import { mergeMetadata, subnetMetadata } from './metadata.ts';
import { list, nothing, sql } from './sql.ts';

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

/** The names of the zones that a network has subnets for; null when one is for every zone. */
export async function zonesOfShareNetwork(db: Queries, shareNetworkId: string): Promise<string[] | null> {
  const rows = await db.rows<{ zone: string | null }>`
    SELECT DISTINCT z.name AS zone FROM ${tables} WHERE s.share_network_id = ${shareNetworkId} AND s.deleted = 'False'`;
  const zones = rows.flatMap(({ zone }) => (zone === null ? [] : [zone]));
  return zones.length < rows.length ? null : zones;
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

export interface ServerInNetwork {
  id: string;
  /** host@backend */
  host: string;
  status: string;
  isAutoDeletable: boolean;
  /** may be given other security services, or more subnets, while it serves */
  takesSecurityServices: boolean;
  takesSubnets: boolean;
  /** share instances on it */
  shares: number;
  subnetIds: string[];
}

/** The live share servers of a network; of its subnets in one zone (null: for every zone) when that is said. */
export async function serversOfShareNetwork(
  db: Queries,
  shareNetworkId: string,
  zoneId?: string | null,
): Promise<ServerInNetwork[]> {
  const inZone = zoneId === undefined ? nothing : sql` AND s.availability_zone_id <=> ${zoneId}`;
  const rows = await db.rows<Omit<ServerInNetwork, 'subnetIds'> & { subnetIds: string }>`
    SELECT v.id, v.host, v.status, v.is_auto_deletable AS isAutoDeletable,
      v.security_service_update_support AS takesSecurityServices, v.network_allocation_update_support AS takesSubnets,
      (SELECT COUNT(*) FROM share_instances i WHERE i.share_server_id = v.id AND i.deleted = 'False') AS shares,
      JSON_ARRAYAGG(s.id) AS subnetIds
    FROM share_network_subnets s
    JOIN share_server_share_network_subnet_mappings m ON m.share_network_subnet_id = s.id AND m.deleted = 0
    JOIN share_servers v ON v.id = m.share_server_id AND v.deleted = 'False'
    WHERE s.share_network_id = ${shareNetworkId} AND s.deleted = 'False'${inZone}
    GROUP BY v.id ORDER BY v.created_at, v.id`;
  return rows.map((row) => ({ ...row, subnetIds: JSON.parse(row.subnetIds) as string[] }));
}

/** Soft-deletes a subnet with its metadata. */
export async function removeSubnet(tx: Tx, id: string): Promise<void> {
  await tx.run`
    UPDATE share_network_subnet_metadata SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE share_network_subnet_id = ${id} AND deleted = 'False'`;
  await tx.run`
    UPDATE share_network_subnets SET deleted = id, deleted_at = UTC_TIMESTAMP(6) WHERE id = ${id} AND deleted = 'False'`;
}
