/** Snapshots and the instance that stands for each: lists, one, making one, driving one. Rows have the API's names. */

import type { BackendSnapshot } from '#domain/backend.ts';
import type { Order, Page } from '#domain/paging.ts';
import { statusPrecedence } from '#domain/snapshots.ts';
import type { Queries, Tx } from './connection.ts';
import { mergeMetadata, snapshotMetadata } from './metadata.ts';
import { limited, ordered } from './paging.ts';
import { backendShare, findInstance, type InstanceRow } from './shareInstances.ts';
import { lockShare } from './shares.ts';
import { and, join, list, type Sql, sql } from './sql.ts';
import { updateRow } from './updateRow.ts';

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

/** The id of the share's newest snapshot; undefined when it has none. */
export async function newestSnapshotOf(db: Queries, shareId: string): Promise<string | undefined> {
  const row = await db.row<{ id: string }>`
    SELECT id FROM share_snapshots WHERE share_id = ${shareId} AND deleted = 'False' ORDER BY created_at DESC, id DESC LIMIT 1`;
  return row?.id;
}

/** Is a share being made from the snapshot just now? */
export async function isBeingCloned(db: Queries, snapshotId: string): Promise<boolean> {
  const clones = await db.rows`
    SELECT s.id FROM shares s JOIN share_instances i ON i.share_id = s.id AND i.deleted = 'False'
    WHERE s.snapshot_id = ${snapshotId} AND s.deleted = 'False' AND i.status IN ('creating', 'creating_from_snapshot') LIMIT 1`;
  return clones.length > 0;
}

/** What a list is narrowed by; conditions are on `s` (snapshot), and `snapshotStatus` is its status. */
export interface SnapshotQuery {
  where: Sql[];
  order: Order;
  page: Page;
}

/** The combined status as an expression, for conditions. */
export const snapshotStatus = status;

/** Keys that snapshots can be sorted by, and the column each is. */
const sortColumns = {
  id: sql`s.id`,
  name: sql`s.display_name`,
  display_name: sql`s.display_name`,
  description: sql`s.display_description`,
  display_description: sql`s.display_description`,
  status,
  share_id: sql`s.share_id`,
  size: sql`s.size`,
  share_size: sql`s.share_size`,
  share_proto: sql`s.share_proto`,
  user_id: sql`s.user_id`,
  project_id: sql`s.project_id`,
  created_at: sql`s.created_at`,
  updated_at: sql`s.updated_at`,
} as const;

export const snapshotSortKeys = Object.keys(sortColumns);

function rest({ where, order, page }: SnapshotQuery): Sql {
  return sql`WHERE s.deleted = 'False'${and(where)} ${ordered(sortColumns, order, sql`s.`)} ${limited(page)}`;
}

/** A page of snapshots; one statement whatever its length. */
export async function listSnapshots(db: Queries, query: SnapshotQuery): Promise<SnapshotRow[]> {
  const rows = await db.rows<Raw>`SELECT ${columns} FROM ${tables} ${rest(query)}`;
  return rows.map(snapshotRow);
}

/** As `listSnapshots`, but only what the short list shows. */
export function listSnapshotNames(
  db: Queries,
  query: SnapshotQuery,
): Promise<{ id: string; name: string | null }[]> {
  return db.rows`SELECT s.id, s.display_name AS name FROM share_snapshots s ${rest(query)}`;
}

/** How many snapshots the conditions match, pages aside. */
export async function countSnapshots(db: Queries, where: Sql[]): Promise<number> {
  const row = await db.row<{
    n: number;
  }>`SELECT COUNT(*) AS n FROM share_snapshots s WHERE s.deleted = 'False'${and(where)}`;
  return row!.n;
}

export interface NewSnapshot {
  id: string;
  createdAt: string;
  userId: string;
  projectId: string;
  share: { id: string; size: number; share_proto: string };
  name: string | null;
  description: string | null;
  metadata: Record<string, string>;
  status: string;
  /** one for each instance of the share, with ids made beforehand */
  instances: readonly { id: string; shareInstanceId: string }[];
}

/** Writes a snapshot, its instances and its metadata. */
export async function insertSnapshot(tx: Tx, snapshot: NewSnapshot): Promise<void> {
  const { share, createdAt } = snapshot;
  await tx.run`
    INSERT INTO share_snapshots (created_at, deleted, id, user_id, project_id, share_id, size, display_name, display_description, share_size, share_proto)
    VALUES (${createdAt}, 'False', ${snapshot.id}, ${snapshot.userId}, ${snapshot.projectId}, ${share.id}, ${share.size},
      ${snapshot.name}, ${snapshot.description}, ${share.size}, ${share.share_proto})`;
  const rows = snapshot.instances.map(
    ({ id, shareInstanceId }) =>
      sql`(${createdAt}, 'False', ${id}, ${snapshot.id}, ${shareInstanceId}, ${snapshot.status})`,
  );
  await tx.run`
    INSERT INTO share_snapshot_instances (created_at, deleted, id, snapshot_id, share_instance_id, status) VALUES ${join(rows, ', ')}`;
  await mergeMetadata(tx, snapshotMetadata, snapshot.id, snapshot.metadata);
}

/** The instances that a snapshot of the share is taken of, and the share itself, locked until the transaction ends. */
export async function lockSources(
  tx: Tx,
  shareId: string,
): Promise<{ id: string; status: string; host: string }[]> {
  await lockShare(tx, shareId);
  return tx.rows`
    SELECT id, status, host FROM share_instances
    WHERE share_id = ${shareId} AND deleted = 'False' AND host IS NOT NULL ORDER BY created_at, id FOR UPDATE`;
}

/** Changes what is given, leaves what is undefined. */
export function updateSnapshot(
  tx: Tx,
  id: string,
  set: { name?: string | null | undefined; description?: string | null | undefined },
): Promise<void> {
  return updateRow(tx, 'share_snapshots', id, {
    display_name: set.name,
    display_description: set.description,
  });
}

/** Locks the snapshot's row until the transaction ends; false when there is none. */
export async function lockSnapshot(tx: Tx, id: string): Promise<boolean> {
  return (
    (await tx.row`SELECT id FROM share_snapshots WHERE id = ${id} AND deleted = 'False' FOR UPDATE`) !==
    undefined
  );
}

/** A snapshot instance with the share instance that it was taken of: what a driver needs. */
export interface DrivenSnapshot {
  id: string;
  snapshotId: string;
  status: string;
  /** GiB */
  size: number;
  providerLocation: string | null;
  projectId: string;
  userId: string;
  /** snapshots of such a share are exported, and opened by access rules */
  mountable: boolean;
  share: InstanceRow;
}

/** One live snapshot instance to be driven (`SnapshotRow.instance_id`); undefined when it or its share is gone. */
export async function findDrivenSnapshot(
  db: Queries,
  instanceId: string,
): Promise<DrivenSnapshot | undefined> {
  const row = await db.row<Omit<DrivenSnapshot, 'share'> & { shareInstanceId: string }>`
    SELECT i.id, i.snapshot_id AS snapshotId, i.status, n.size, i.provider_location AS providerLocation,
      n.project_id AS projectId, n.user_id AS userId, s.mount_snapshot_support AS mountable, i.share_instance_id AS shareInstanceId
    FROM share_snapshot_instances i JOIN share_snapshots n ON n.id = i.snapshot_id JOIN shares s ON s.id = n.share_id
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
