/** Share instances: where a share is, as jobs and drivers need it. */

import { randomUUID } from 'node:crypto';
import type { BackendShare, BackendShareServer, ExportLocation } from '#domain/backend.ts';
import { removeRulesOfShare, removeUnheldRules } from './accessStates.ts';
import type { Queries, Tx } from './connection.ts';
import { parseServer, serverObject } from './drivenServers.ts';
import { beginningWith } from './like.ts';
import { join, list, sql } from './sql.ts';

/** An instance with what a driver needs of its share and type. */
export interface InstanceRow {
  id: string;
  shareId: string;
  status: string;
  host: string | null;
  availabilityZone: string | null;
  accessRulesStatus: string;
  shareTypeId: string | null;
  shareServerId: string | null;
  shareNetworkId: string | null;
  projectId: string;
  userId: string;
  size: number;
  protocol: string;
  snapshotId: string | null;
  snapshotSupport: boolean;
  replicationType: string | null;
  replicaState: string | null;
  shareGroupId: string | null;
  /** the member of a share group snapshot that the share was made from */
  sourceMemberId: string | null;
  mountPointName: string | null;
  encryptionKeyRef: string | null;
  extraSpecs: Record<string, string>;
  /** of its QoS type; empty without one */
  qosSpecs: Record<string, string>;
  metadata: Record<string, string>;
  exportLocations: ExportLocation[];
  /** what serves it, where it has a share server */
  server: BackendShareServer | null;
}

type Raw = Omit<InstanceRow, 'extraSpecs' | 'qosSpecs' | 'metadata' | 'exportLocations' | 'server'> & {
  extraSpecs: string | null;
  qosSpecs: string | null;
  metadata: string | null;
  exportLocations: string | null;
  server: string | null;
};

const columns = sql`
  i.id, i.share_id AS shareId, i.status, i.host, z.name AS availabilityZone, i.access_rules_status AS accessRulesStatus,
  i.share_type_id AS shareTypeId, i.share_server_id AS shareServerId, i.share_network_id AS shareNetworkId,
  s.project_id AS projectId, s.user_id AS userId, s.size, s.share_proto AS protocol, s.snapshot_id AS snapshotId,
  s.snapshot_support AS snapshotSupport, s.replication_type AS replicationType, i.replica_state AS replicaState, s.share_group_id AS shareGroupId,
  s.source_share_group_snapshot_member_id AS sourceMemberId,
  i.mount_point_name AS mountPointName, i.encryption_key_ref AS encryptionKeyRef,
  (SELECT JSON_OBJECTAGG(e.spec_key, e.spec_value) FROM share_type_extra_specs e
   WHERE e.share_type_id = i.share_type_id AND e.deleted = 0) AS extraSpecs,
  (SELECT JSON_OBJECTAGG(q.\`key\`, q.value) FROM qos_type_specs q
   WHERE q.qos_type_id = i.qos_type_id AND q.deleted = 'False') AS qosSpecs,
  (SELECT JSON_OBJECTAGG(m.\`key\`, m.value) FROM share_metadata m WHERE m.share_id = s.id AND m.deleted = 0) AS metadata,
  (SELECT JSON_ARRAYAGG(JSON_OBJECT('path', l.path, 'isAdminOnly', l.is_admin_only = 1) ORDER BY l.id)
   FROM share_instance_export_locations l WHERE l.share_instance_id = i.id AND l.deleted = 0) AS exportLocations,
  (SELECT ${serverObject} FROM share_servers v WHERE v.id = i.share_server_id) AS server`;

const tables = sql`
  share_instances i JOIN shares s ON s.id = i.share_id LEFT JOIN availability_zones z ON z.id = i.availability_zone_id`;

function instanceRow({ extraSpecs, qosSpecs, metadata, exportLocations, server, ...rest }: Raw): InstanceRow {
  return {
    ...rest,
    extraSpecs: extraSpecs ? (JSON.parse(extraSpecs) as Record<string, string>) : {},
    qosSpecs: qosSpecs ? (JSON.parse(qosSpecs) as Record<string, string>) : {},
    metadata: metadata ? (JSON.parse(metadata) as Record<string, string>) : {},
    exportLocations: exportLocations ? (JSON.parse(exportLocations) as ExportLocation[]) : [],
    server: server ? parseServer(server) : null,
  };
}

/** One live instance; undefined when it is gone. */
export async function findInstance(db: Queries, id: string): Promise<InstanceRow | undefined> {
  const raw = await db.row<Raw>`SELECT ${columns} FROM ${tables} WHERE i.id = ${id} AND i.deleted = 'False'`;
  return raw && instanceRow(raw);
}

/** The live instances of a share, oldest first. */
export async function instancesOf(db: Queries, shareId: string): Promise<InstanceRow[]> {
  const rows =
    await db.rows<Raw>`SELECT ${columns} FROM ${tables} WHERE i.share_id = ${shareId} AND i.deleted = 'False' ORDER BY i.created_at, i.id`;
  return rows.map(instanceRow);
}

/** The live instances of a back end, `host@backend`. */
export async function instancesOn(db: Queries, backend: string): Promise<InstanceRow[]> {
  const rows = await db.rows<Raw>`
    SELECT ${columns} FROM ${tables} WHERE i.deleted = 'False' AND (i.host = ${backend} OR i.host LIKE ${beginningWith(`${backend}#`)}) ORDER BY i.created_at`;
  return rows.map(instanceRow);
}

/** The live instances on a share server. */
export async function instancesOnServer(db: Queries, serverId: string): Promise<InstanceRow[]> {
  const rows = await db.rows<Raw>`
    SELECT ${columns} FROM ${tables} WHERE i.share_server_id = ${serverId} AND i.deleted = 'False' ORDER BY i.created_at, i.id`;
  return rows.map(instanceRow);
}

/** The pools that these shares are on. */
export async function hostsOfShares(db: Queries, shareIds: readonly string[]): Promise<string[]> {
  const rows = await db.rows<{ host: string }>`
    SELECT DISTINCT host FROM share_instances WHERE share_id IN (${list(shareIds)}) AND deleted = 'False' AND host IS NOT NULL`;
  return rows.map(({ host }) => host);
}

/** As a driver sees it. */
export function backendShare(row: InstanceRow): BackendShare {
  return {
    id: row.id,
    shareId: row.shareId,
    projectId: row.projectId,
    size: row.size,
    protocol: row.protocol,
    backend: row.host?.split('#')[0] ?? null,
    pool: row.host?.split('#')[1] ?? '',
    shareTypeId: row.shareTypeId,
    extraSpecs: row.extraSpecs,
    qosSpecs: row.qosSpecs,
    metadata: row.metadata,
    snapshotSupport: row.snapshotSupport,
    exportLocations: row.exportLocations,
    ...(row.server ? { server: row.server } : {}),
    mountPointName: row.mountPointName,
    encryptionKeyRef: row.encryptionKeyRef,
  };
}

/** Drivers say True and False; metadata of export locations has 1 and 0. */
const words: ReadonlyMap<string, string> = new Map([
  ['True', '1'],
  ['False', '0'],
]);

/** Puts an instance on a pool, and into the zone of that pool's service. */
export async function placeInstance(tx: Tx, id: string, host: string): Promise<void> {
  await tx.run`
    UPDATE share_instances SET host = ${host}, scheduled_at = UTC_TIMESTAMP(), updated_at = UTC_TIMESTAMP(6),
      availability_zone_id = COALESCE((SELECT s.availability_zone_id FROM services s
        WHERE s.host = ${host.split('#', 1)[0]!} AND s.binary = 'manila-share' AND s.deleted = 0 LIMIT 1), availability_zone_id)
    WHERE id = ${id} AND deleted = 'False'`;
}

/** The back end has made it. */
export async function markLaunched(tx: Tx, id: string): Promise<void> {
  await tx.run`UPDATE share_instances SET progress = '100%', launched_at = UTC_TIMESTAMP() WHERE id = ${id}`;
}

/** Makes the instance's export locations exactly these; those that stay keep their ids, and what users said of them. */
export async function replaceExportLocations(
  tx: Tx,
  instanceId: string,
  locations: readonly ExportLocation[],
): Promise<void> {
  const existing = await tx.rows<{ id: number; path: string; admin: number }>`
    SELECT id, path, is_admin_only + 0 AS admin FROM share_instance_export_locations
    WHERE share_instance_id = ${instanceId} AND deleted = 0 FOR UPDATE`;
  const same = (a: { path: string; admin: number }, b: ExportLocation) =>
    a.path === b.path && (a.admin === 1) === b.isAdminOnly;
  for (const old of existing) {
    if (locations.some((location) => same(old, location))) continue;
    await tx.run`UPDATE share_instance_export_locations SET deleted = id, deleted_at = UTC_TIMESTAMP(6) WHERE id = ${old.id}`;
    await tx.run`UPDATE share_instance_export_locations_metadata SET deleted = id, deleted_at = UTC_TIMESTAMP(6) WHERE export_location_id = ${old.id} AND deleted = 0`;
  }
  const [added, kept]: [ExportLocation[], MetadataOf[]] = [[], []];
  for (const location of locations) {
    const old = existing.find((row) => same(row, location));
    if (old) kept.push({ id: old.id, metadata: location.metadata });
    else added.push(location);
  }
  if (added.length > 0) kept.push(...(await addExportLocations(tx, instanceId, added)));
  await putMetadata(tx, kept);
}

/** Of an export location, by its row's id. */
interface MetadataOf {
  id: number;
  metadata: ExportLocation['metadata'];
}

async function addExportLocations(
  tx: Tx,
  instanceId: string,
  locations: readonly ExportLocation[],
): Promise<MetadataOf[]> {
  const rows = locations.map((location) => ({ ...location, uuid: randomUUID() }));
  const inserted = await tx.rows<{ id: number; uuid: string }>`
    INSERT INTO share_instance_export_locations (created_at, updated_at, deleted, path, share_instance_id, is_admin_only, uuid)
    VALUES ${join(
      rows.map(
        ({ path, isAdminOnly, uuid }) =>
          sql`(UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 0, ${path}, ${instanceId}, ${isAdminOnly}, ${uuid})`,
      ),
      ', ',
    )} RETURNING id, uuid`;
  return rows.map(({ uuid, metadata }) => ({ id: inserted.find((row) => row.uuid === uuid)!.id, metadata }));
}

/** What the driver says of locations, over what is there under the same keys. */
async function putMetadata(tx: Tx, locations: readonly MetadataOf[]): Promise<void> {
  const rows = locations.flatMap(({ id, metadata }) =>
    Object.entries(metadata ?? {}).map(
      ([key, value]) => sql`(UTC_TIMESTAMP(6), 0, ${id}, ${key}, ${words.get(value) ?? value})`,
    ),
  );
  if (rows.length > 0)
    await tx.run`
      INSERT INTO share_instance_export_locations_metadata (created_at, deleted, export_location_id, \`key\`, value)
      VALUES ${join(rows, ', ')} ON DUPLICATE KEY UPDATE value = VALUES(value)`;
}

/** Soft-deletes the instance and what hangs on it; the share too when this was its last. Answers whether it was. */
export async function removeInstance(tx: Tx, instanceId: string, shareId: string): Promise<boolean> {
  await tx.run`UPDATE share_instance_export_locations SET deleted = id, deleted_at = UTC_TIMESTAMP(6) WHERE share_instance_id = ${instanceId} AND deleted = 0`;
  await tx.run`UPDATE share_instance_access_map SET deleted = id, deleted_at = UTC_TIMESTAMP(6), state = 'deleted' WHERE share_instance_id = ${instanceId} AND deleted = 'False'`;
  await tx.run`UPDATE share_instance_metadata SET deleted = id, deleted_at = UTC_TIMESTAMP(6) WHERE share_instance_id = ${instanceId} AND deleted = 'False'`;
  const { affected } = await tx.run`
    UPDATE share_instances SET deleted = id, deleted_at = UTC_TIMESTAMP(6), status = 'deleted', terminated_at = UTC_TIMESTAMP()
    WHERE id = ${instanceId} AND deleted = 'False'`;
  if (affected === 0) return false;
  const left =
    await tx.rows`SELECT id FROM share_instances WHERE share_id = ${shareId} AND deleted = 'False' LIMIT 1`;
  if (left.length > 0) {
    await removeUnheldRules(tx, shareId);
    return false;
  }
  await tx.run`UPDATE share_metadata SET deleted = id, deleted_at = UTC_TIMESTAMP(6) WHERE share_id = ${shareId} AND deleted = 0`;
  await removeRulesOfShare(tx, shareId);
  await tx.run`UPDATE shares SET deleted = id, deleted_at = UTC_TIMESTAMP(6) WHERE id = ${shareId} AND deleted = 'False'`;
  return true;
}
