/** What comes under management, and what is known already: looked up and written apart from other shares and snapshots. */
import type { ExportLocation } from '#domain/backend.ts';
import type { Queries, Tx } from './connection.ts';
import { placeInstance, replaceExportLocations } from './shareInstances.ts';

/** A back end's service, for what is told to it by name. */
export interface BackendService {
  id: number;
  updated_at: string | null;
  created_at: string | null;
}

/** The share service of a back end, `host@backend`; undefined when there is none. */
export function findBackendService(db: Queries, backend: string): Promise<BackendService | undefined> {
  return db.row`
    SELECT id, updated_at, created_at FROM services WHERE host = ${backend} AND \`binary\` = 'manila-share' AND deleted = 0`;
}

/** Locks the service's row until the transaction ends: one share at a time comes under management on a back end. */
export async function lockService(tx: Tx, { id }: BackendService): Promise<void> {
  await tx.row`SELECT id FROM services WHERE id = ${id} FOR UPDATE`;
}

/** Is something on this pool, `host@backend#pool`, exported by that path already? */
export async function isExported(db: Queries, host: string, path: string): Promise<boolean> {
  const found = await db.rows`
    SELECT i.id FROM share_instances i JOIN share_instance_export_locations l ON l.share_instance_id = i.id AND l.deleted = 0
    WHERE i.host = ${host} AND l.path = ${path} AND i.deleted = 'False' LIMIT 1`;
  return found.length > 0;
}

/** The snapshot of a share that is managed under that provider location; undefined when there is none. */
export async function snapshotAt(
  db: Queries,
  shareId: string,
  providerLocation: string,
): Promise<string | undefined> {
  const row = await db.row<{ id: string }>`
    SELECT n.id FROM share_snapshots n JOIN share_snapshot_instances i ON i.snapshot_id = n.id AND i.deleted = 'False'
    WHERE n.share_id = ${shareId} AND n.deleted = 'False' AND i.provider_location = ${providerLocation} LIMIT 1`;
  return row?.id;
}

/** A share server, as far as shares that are managed on it are concerned. */
export interface ManagingServer {
  id: string;
  status: string;
  host: string | null;
  shareNetworkId: string | null;
}

/** One live share server and the share network that it is in; undefined when there is none. */
export function findManagingServer(db: Queries, id: string): Promise<ManagingServer | undefined> {
  return db.row`
    SELECT v.id, v.status, v.host, n.share_network_id AS shareNetworkId FROM share_servers v
    LEFT JOIN share_server_share_network_subnet_mappings m ON m.share_server_id = v.id AND m.deleted = 0
    LEFT JOIN share_network_subnets n ON n.id = m.share_network_subnet_id AND n.deleted = 'False'
    WHERE v.id = ${id} AND v.deleted = 'False' ORDER BY m.id LIMIT 1`;
}

/** Puts an instance on the share server that its share is served by. */
export async function setServer(tx: Tx, instanceId: string, server: ManagingServer): Promise<void> {
  await tx.run`
    UPDATE share_instances SET share_server_id = ${server.id}, share_network_id = ${server.shareNetworkId}
    WHERE id = ${instanceId}`;
}

/** What the back end told of a share that it has: it is where it is, and the zone is its service's. */
export async function recordShareManaged(
  tx: Tx,
  instance: { id: string; host: string | null },
  locations: readonly ExportLocation[],
): Promise<void> {
  await replaceExportLocations(tx, instance.id, locations);
  await placeInstance(tx, instance.id, instance.host!);
  await tx.run`
    UPDATE share_instances SET scheduled_at = NULL, launched_at = UTC_TIMESTAMP() WHERE id = ${instance.id}`;
}

/** What the back end told of a snapshot that it has; `size` in GiB. */
export async function recordSnapshotManaged(
  tx: Tx,
  snapshot: { id: string; snapshotId: string },
  { size, providerLocation }: { size: number; providerLocation: string },
): Promise<void> {
  await tx.run`
    UPDATE share_snapshot_instances SET provider_location = ${providerLocation}, progress = '100%', updated_at = UTC_TIMESTAMP(6)
    WHERE id = ${snapshot.id}`;
  await tx.run`UPDATE share_snapshots SET size = ${size}, updated_at = UTC_TIMESTAMP(6) WHERE id = ${snapshot.snapshotId}`;
}

/** What the back end calls a snapshot, as the request that names it says. */
export async function setProviderLocation(tx: Tx, instanceId: string, location: string): Promise<void> {
  await tx.run`UPDATE share_snapshot_instances SET provider_location = ${location} WHERE id = ${instanceId}`;
}
