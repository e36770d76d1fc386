/** The snapshots of a replicated share on its replicas: each has an instance on every one. */
import { createHash } from 'node:crypto';
import type { ReplicaSnapshot } from '#domain/backend.ts';
import { deferredStates } from '#domain/shares.ts';
import { snapshotsQuota } from '#domain/snapshots.ts';
import type { Queries, Tx } from './connection.ts';
import { type QuotaOwner, release } from './quotas.ts';
import { backendShare, type InstanceRow } from './shareInstances.ts';
import { removeSnapshotInstance } from './snapshotInstances.ts';
import { list } from './sql.ts';

interface Raw {
  snapshotId: string;
  size: number;
  sourceId: string;
  sourceLocation: string | null;
  id: string | null;
  providerLocation: string | null;
}

/**
 * The snapshots that a replica is to have: those that the active one has. Where the replica has no instance of one
 * yet, its id is made from both, so that a job that runs twice names the same.
 */
export async function snapshotsOfReplica(
  db: Queries,
  replica: InstanceRow,
  active: InstanceRow,
): Promise<ReplicaSnapshot[]> {
  const rows = await db.rows<Raw>`
    SELECT n.id AS snapshotId, n.size, a.id AS sourceId, a.provider_location AS sourceLocation,
      r.id, r.provider_location AS providerLocation
    FROM share_snapshots n
    JOIN share_snapshot_instances a ON a.snapshot_id = n.id AND a.share_instance_id = ${active.id}
      AND a.deleted = 'False' AND a.status = 'available'
    LEFT JOIN share_snapshot_instances r ON r.snapshot_id = n.id AND r.share_instance_id = ${replica.id} AND r.deleted = 'False'
    WHERE n.share_id = ${replica.shareId} AND n.deleted = 'False' AND (r.id IS NULL OR r.status NOT IN ('deleting', 'error_deleting'))
    ORDER BY n.created_at, n.id`;
  return rows.map(({ snapshotId, size, sourceId, sourceLocation, id, providerLocation }) => ({
    id: id ?? instanceIdOf(replica.id, snapshotId),
    snapshotId,
    size,
    providerLocation,
    share: backendShare(replica),
    source: {
      id: sourceId,
      snapshotId,
      size,
      providerLocation: sourceLocation,
      share: backendShare(active),
    },
  }));
}

function instanceIdOf(replicaId: string, snapshotId: string): string {
  const hex = createHash('sha256').update(`${replicaId} ${snapshotId}`).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}

/** The replica has these by now. Snapshots that went meanwhile stay gone. */
export async function recordReplicaSnapshots(
  tx: Tx,
  replicaId: string,
  snapshots: readonly ReplicaSnapshot[],
): Promise<void> {
  if (snapshots.length === 0) return;
  for (const { id, snapshotId } of snapshots) {
    await tx.run`
      INSERT INTO share_snapshot_instances (created_at, deleted, id, snapshot_id, share_instance_id, status, progress)
      SELECT UTC_TIMESTAMP(6), 'False', ${id}, n.id, ${replicaId}, 'available', '100%' FROM share_snapshots n
      WHERE n.id = ${snapshotId} AND n.deleted = 'False'
        AND NOT EXISTS (SELECT 1 FROM share_snapshot_instances x WHERE x.id = ${id})
        AND NOT EXISTS (SELECT 1 FROM share_snapshot_instances x WHERE x.snapshot_id = n.id AND x.deleted = 'False' AND x.status = 'deleting')`;
  }
  await tx.run`
    UPDATE share_snapshot_instances SET status = 'available', progress = '100%', updated_at = UTC_TIMESTAMP(6)
    WHERE id IN (${list(snapshots.map(({ id }) => id))}) AND deleted = 'False' AND status IN ('creating', 'error')`;
}

/** Removes the snapshot instances of a share instance that goes, and gives back what snapshots counted that go with it. */
export async function removeSnapshotsOn(tx: Tx, instanceId: string): Promise<void> {
  const rows = await tx.rows<{ id: string; status: string; snapshotId: string; size: number } & QuotaOwner>`
    SELECT x.id, x.status, n.id AS snapshotId, n.size, n.project_id AS projectId, n.user_id AS userId, i.share_type_id AS shareTypeId
    FROM share_snapshot_instances x JOIN share_snapshots n ON n.id = x.snapshot_id JOIN share_instances i ON i.id = x.share_instance_id
    WHERE x.share_instance_id = ${instanceId} AND x.deleted = 'False'`;
  for (const { id, status, snapshotId, size, ...owner } of rows) {
    if (!(await removeSnapshotInstance(tx, id, snapshotId)) || deferredStates.includes(status)) continue;
    await release(tx, owner, snapshotsQuota(size));
  }
}

/** Is there a snapshot left on the instance? */
export async function hasSnapshotsOn(db: Queries, instanceId: string): Promise<boolean> {
  const found = await db.row`
    SELECT id FROM share_snapshot_instances WHERE share_instance_id = ${instanceId} AND deleted = 'False' LIMIT 1`;
  return found !== undefined;
}
