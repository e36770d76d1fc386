/** Snapshots and the instance that stands for each: one, and as the drivers see it. Rows have the API's names. */

import type { BackendSnapshot } from '#domain/backend.ts';
import { statusPrecedence } from '#domain/snapshots.ts';
import type { Queries } from './connection.ts';
import { backendShare, findInstance, type InstanceRow } from './shareInstances.ts';
import { list, sql } from './sql.ts';

export interface SnapshotRow {
  id: string;
  share_id: string;
  /** GiB, what the share had when it was taken */
  share_size: number;
  created_at: string;
  updated_at: string | null;
  name: string | null;
  description: string | null;
  /** GiB */
  size: number;
  share_proto: string;
  user_id: string;
  project_id: string;
  /** of its instances, combined */
  status: string;
  // of the instance that stands for the snapshot
  instance_id: string;
  provider_location: string | null;
  /** where the share instance that it was taken of is: `host@backend#pool` */
  share_instance_id: string;
  host: string | null;
  metadata: Record<string, string>;
}

/** Of several instances, the one of the active replica, else the oldest: where the snapshot is read from. */
const standsFor = sql`
  i.id = (SELECT x.id FROM share_snapshot_instances x JOIN share_instances y ON y.id = x.share_instance_id
    WHERE x.snapshot_id = s.id AND x.deleted = 'False' ORDER BY y.replica_state <=> 'active' DESC, x.created_at, x.id LIMIT 1)`;

const status = sql`
  (SELECT x.status FROM share_snapshot_instances x WHERE x.snapshot_id = s.id AND x.deleted = 'False'
   ORDER BY FIELD(x.status, ${list(statusPrecedence)}) DESC LIMIT 1)`;

const columns = sql`
  s.id, s.share_id, s.share_size, s.created_at, s.updated_at, s.display_name AS name, s.display_description AS description,
  s.size, s.share_proto, s.user_id, s.project_id, ${status} AS status,
  i.id AS instance_id, i.provider_location, i.share_instance_id, h.host,
  (SELECT JSON_OBJECTAGG(m.\`key\`, m.value) FROM share_snapshot_metadata m
   WHERE m.share_snapshot_id = s.id AND m.deleted = 'False') AS metadata`;

const tables = sql`
  share_snapshots s JOIN share_snapshot_instances i ON ${standsFor} JOIN share_instances h ON h.id = i.share_instance_id`;

type Raw = Omit<SnapshotRow, 'metadata'> & { metadata: string | null };

function snapshotRow({ metadata, ...rest }: Raw): SnapshotRow {
  return { ...rest, metadata: metadata ? (JSON.parse(metadata) as Record<string, string>) : {} };
}

/** One snapshot, whoever's it is; undefined when there is none. */
export async function findSnapshot(db: Queries, id: string): Promise<SnapshotRow | undefined> {
  const raw = await db.row<Raw>`SELECT ${columns} FROM ${tables} WHERE s.id = ${id} AND s.deleted = 'False'`;
  return raw && snapshotRow(raw);
}

/** How many snapshots a share has. */
export async function countSnapshotsOf(db: Queries, shareId: string): Promise<number> {
  const row = await db.row<{ n: number }>`
    SELECT COUNT(*) AS n FROM share_snapshots WHERE share_id = ${shareId} AND deleted = 'False'`;
  return row!.n;
}

/** A snapshot instance with the share instance that it was taken of: what a driver needs. */
export interface DrivenSnapshot {
  id: string;
  snapshotId: string;
  status: string;
  size: number;
  providerLocation: string | null;
  share: InstanceRow;
}

/** One live snapshot instance to be driven (`SnapshotRow.instance_id`); undefined when it or its share is gone. */
export async function findDrivenSnapshot(
  db: Queries,
  instanceId: string,
): Promise<DrivenSnapshot | undefined> {
  const row = await db.row<Omit<DrivenSnapshot, 'share'> & { shareInstanceId: string }>`
    SELECT i.id, i.snapshot_id AS snapshotId, i.status, s.size, i.provider_location AS providerLocation, i.share_instance_id AS shareInstanceId
    FROM share_snapshot_instances i JOIN share_snapshots s ON s.id = i.snapshot_id
    WHERE i.id = ${instanceId} AND i.deleted = 'False'`;
  if (!row) return undefined;
  const { shareInstanceId, ...rest } = row;
  const share = await findInstance(db, shareInstanceId);
  return share && { ...rest, share };
}

/** As a driver sees it. */
export function backendSnapshot(row: DrivenSnapshot): BackendSnapshot {
  return {
    id: row.id,
    snapshotId: row.snapshotId,
    share: backendShare(row.share),
    size: row.size,
    providerLocation: row.providerLocation,
  };
}
