/** Snapshot instances, one for each instance of the share: where they are, what they export, their end. */
import { randomUUID } from 'node:crypto';
import type { ExportLocation } from '#domain/backend.ts';
import type { Queries, Tx } from './connection.ts';
import { and, join, sql } from './sql.ts';

/** The live instances of a snapshot and where each is, `host@backend#pool`. */
export function instancesOfSnapshot(
  db: Queries,
  snapshotId: string,
): Promise<{ id: string; status: string; host: string }[]> {
  return db.rows`
    SELECT i.id, i.status, COALESCE(h.host, '') AS host
    FROM share_snapshot_instances i JOIN share_instances h ON h.id = i.share_instance_id
    WHERE i.snapshot_id = ${snapshotId} AND i.deleted = 'False' ORDER BY i.created_at, i.id`;
}

/** Sets the status by hand, whatever it was: of one instance, or of all that a snapshot has. */
export async function setSnapshotStatus(
  tx: Tx,
  of: { snapshotId: string } | { instanceId: string },
  status: string,
): Promise<void> {
  const whose = 'snapshotId' in of ? sql`snapshot_id = ${of.snapshotId}` : sql`id = ${of.instanceId}`;
  await tx.run`
    UPDATE share_snapshot_instances SET status = ${status}, updated_at = UTC_TIMESTAMP(6) WHERE ${whose} AND deleted = 'False'`;
}

/** What the back end told of a snapshot that it made. */
export async function recordSnapshotMade(
  tx: Tx,
  instanceId: string,
  providerLocation: string | null,
): Promise<void> {
  await tx.run`
    UPDATE share_snapshot_instances SET provider_location = ${providerLocation}, progress = '100%', updated_at = UTC_TIMESTAMP(6)
    WHERE id = ${instanceId}`;
}

/** Makes the instance's export locations exactly these. */
export async function replaceSnapshotExportLocations(
  tx: Tx,
  instanceId: string,
  locations: readonly ExportLocation[],
): Promise<void> {
  await tx.run`
    UPDATE share_snapshot_instance_export_locations SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE share_snapshot_instance_id = ${instanceId} AND deleted = 'False'`;
  if (locations.length === 0) return;
  const rows = locations.map(
    ({ path, isAdminOnly }) =>
      sql`(${randomUUID()}, UTC_TIMESTAMP(6), 'False', ${instanceId}, ${path}, ${isAdminOnly})`,
  );
  await tx.run`
    INSERT INTO share_snapshot_instance_export_locations (id, created_at, deleted, share_snapshot_instance_id, path, is_admin_only)
    VALUES ${join(rows, ', ')}`;
}

/**
 * Soft-deletes the instance and what hangs on it; the snapshot too when this was its last. Answers whether it was.
 */
export async function removeSnapshotInstance(
  tx: Tx,
  instanceId: string,
  snapshotId: string,
): Promise<boolean> {
  await replaceSnapshotExportLocations(tx, instanceId, []);
  await tx.run`
    UPDATE share_snapshot_instance_access_map SET deleted = id, deleted_at = UTC_TIMESTAMP(6), state = 'deleted'
    WHERE share_snapshot_instance_id = ${instanceId} AND deleted = 'False'`;
  const { affected } = await tx.run`
    UPDATE share_snapshot_instances SET deleted = id, deleted_at = UTC_TIMESTAMP(6), status = 'deleted'
    WHERE id = ${instanceId} AND deleted = 'False'`;
  if (affected === 0) return false;
  const left = await tx.rows`
    SELECT id FROM share_snapshot_instances WHERE snapshot_id = ${snapshotId} AND deleted = 'False' LIMIT 1`;
  if (left.length > 0) return false;
  await tx.run`
    UPDATE share_snapshot_metadata SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE share_snapshot_id = ${snapshotId} AND deleted = 'False'`;
  await tx.run`
    UPDATE share_snapshot_access_map SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE share_snapshot_id = ${snapshotId} AND deleted = 'False'`;
  await tx.run`
    UPDATE share_snapshots SET deleted = id, deleted_at = UTC_TIMESTAMP(6) WHERE id = ${snapshotId} AND deleted = 'False'`;
  return true;
}

/** A snapshot instance as administrators see it; members of share group snapshots have no snapshot_id. */
export interface SnapshotInstanceRow {
  id: string;
  snapshot_id: string | null;
  status: string;
  created_at: string;
  updated_at: string | null;
  share_id: string;
  share_instance_id: string;
  progress: string | null;
  provider_location: string | null;
}

/** All live snapshot instances, or those of one snapshot or with one id; oldest first. */
export function listSnapshotInstances(
  db: Queries,
  only: { snapshotId?: string | undefined; id?: string },
): Promise<SnapshotInstanceRow[]> {
  const conditions = [
    ...(only.snapshotId === undefined ? [] : [sql`i.snapshot_id = ${only.snapshotId}`]),
    ...(only.id === undefined ? [] : [sql`i.id = ${only.id}`]),
  ];
  return db.rows`
    SELECT i.id, i.snapshot_id, i.status, i.created_at, i.updated_at, h.share_id, i.share_instance_id, i.progress, i.provider_location
    FROM share_snapshot_instances i JOIN share_instances h ON h.id = i.share_instance_id
    WHERE i.deleted = 'False'${and(conditions)} ORDER BY i.created_at, i.id`;
}

export interface SnapshotExportLocationRow {
  id: string;
  path: string;
  is_admin_only: boolean;
  share_snapshot_instance_id: string;
  created_at: string;
  updated_at: string | null;
}

/** Export locations of a snapshot or of one instance of it; `id` for one of them. */
export function snapshotExportLocations(
  db: Queries,
  of: { snapshotId: string } | { instanceId: string },
  id?: string,
): Promise<SnapshotExportLocationRow[]> {
  const whose = 'snapshotId' in of ? sql`i.snapshot_id = ${of.snapshotId}` : sql`i.id = ${of.instanceId}`;
  return db.rows`
    SELECT l.id, l.path, l.is_admin_only, l.share_snapshot_instance_id, l.created_at, l.updated_at
    FROM share_snapshot_instance_export_locations l
    JOIN share_snapshot_instances i ON i.id = l.share_snapshot_instance_id AND i.deleted = 'False'
    WHERE l.deleted = 'False' AND ${whose}${and(id === undefined ? [] : [sql`l.id = ${id}`])} ORDER BY l.created_at, l.path`;
}
