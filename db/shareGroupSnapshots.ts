/**
 * Share group snapshots. Their members are snapshot instances that belong to no snapshot but to the group's: one for
 * each share that the group had.
 */

import type { Order, Page } from '#domain/paging.ts';
import type { Queries, Tx } from './connection.ts';
import { json, jsonRow, parseRows, time } from './jsonRow.ts';
import { limited, ordered } from './paging.ts';
import { findInstance } from './shareInstances.ts';
import type { DrivenSnapshot } from './snapshots.ts';
import { and, join, type Sql, sql } from './sql.ts';
import type { Subject } from './transition.ts';
import { updateRow } from './updateRow.ts';

export interface ShareGroupSnapshotRow {
  id: string;
  name: string | null;
  description: string | null;
  created_at: string;
  status: string;
  user_id: string;
  project_id: string;
  share_group_id: string;
  /** sizes in GiB */
  members: { id: string; size: number; share_id: string }[];
}

type Raw = { row: string };

const columns = jsonRow({
  id: 's.id',
  name: 's.name',
  description: 's.description',
  created_at: time('s.created_at'),
  status: 's.status',
  user_id: 's.user_id',
  project_id: 's.project_id',
  share_group_id: 's.share_group_id',
  members:
    json(`COALESCE((SELECT JSON_ARRAYAGG(JSON_OBJECT('id', m.id, 'size', m.size, 'share_id', h.share_id)
    ORDER BY m.created_at, m.id) FROM share_snapshot_instances m JOIN share_instances h ON h.id = m.share_instance_id
    WHERE m.share_group_snapshot_id = s.id AND m.deleted = 'False'), '[]')`),
});

/** One snapshot, whoever's it is; undefined when there is none. */
export async function findShareGroupSnapshot(
  db: Queries,
  id: string,
): Promise<ShareGroupSnapshotRow | undefined> {
  const found = await db.rows<Raw>`
    SELECT ${columns} FROM share_group_snapshots s WHERE s.id = ${id} AND s.deleted = 'False'`;
  return parseRows<ShareGroupSnapshotRow>(found)[0];
}

const columnIs = (column: Sql) => (value: string) => sql`${column} = ${value}`;

/** What lists of share group snapshots can be narrowed by: conditions on `s`. */
export const shareGroupSnapshotIs = {
  ofProject: columnIs(sql`s.project_id`),
  withId: columnIs(sql`s.id`),
  named: columnIs(sql`s.name`),
  described: columnIs(sql`s.description`),
  inStatus: columnIs(sql`s.status`),
  ofUser: columnIs(sql`s.user_id`),
  ofGroup: columnIs(sql`s.share_group_id`),
} as const;

/** Keys that share group snapshots can be sorted by, and the column each is. */
const sortColumns = {
  id: sql`s.id`,
  name: sql`s.name`,
  description: sql`s.description`,
  status: sql`s.status`,
  user_id: sql`s.user_id`,
  project_id: sql`s.project_id`,
  share_group_id: sql`s.share_group_id`,
  created_at: sql`s.created_at`,
  updated_at: sql`s.updated_at`,
} as const;

export const shareGroupSnapshotSortKeys = Object.keys(sortColumns);

/** A page of share group snapshots; one statement whatever its length. */
export async function listShareGroupSnapshots(
  db: Queries,
  { where, order, page }: { where: Sql[]; order: Order; page: Page },
): Promise<ShareGroupSnapshotRow[]> {
  const rows = await db.rows<Raw>`
    SELECT ${columns} FROM share_group_snapshots s WHERE s.deleted = 'False'${and(where)}
    ${ordered(sortColumns, order, sql`s.`)} ${limited(page)}`;
  return parseRows<ShareGroupSnapshotRow>(rows);
}

/** A member as the API shows it. */
export interface MemberRow {
  id: string;
  created_at: string;
  size: number;
  share_protocol: string;
  project_id: string;
  share_group_snapshot_id: string;
  share_id: string;
}

/** The members of a share group snapshot. */
export function membersOf(db: Queries, snapshotId: string): Promise<MemberRow[]> {
  return db.rows`
    SELECT m.id, m.created_at, m.size, m.share_proto AS share_protocol, m.project_id, m.share_group_snapshot_id, h.share_id
    FROM share_snapshot_instances m JOIN share_instances h ON h.id = m.share_instance_id
    WHERE m.share_group_snapshot_id = ${snapshotId} AND m.deleted = 'False' ORDER BY m.created_at, m.id`;
}

export interface NewShareGroupSnapshot {
  id: string;
  createdAt: string;
  userId: string;
  projectId: string;
  shareGroupId: string;
  name: string | null;
  description: string | null;
  status: string;
  /** one for each share of the group, with ids made beforehand; sizes in GiB */
  members: readonly { id: string; shareInstanceId: string; size: number; protocol: string }[];
}

/** Writes a share group snapshot with its members. */
export async function insertShareGroupSnapshot(tx: Tx, snapshot: NewShareGroupSnapshot): Promise<void> {
  const { id, createdAt, userId, projectId, status } = snapshot;
  await tx.run`
    INSERT INTO share_group_snapshots (created_at, deleted, id, user_id, project_id, share_group_id, name, description, status)
    VALUES (${createdAt}, 'False', ${id}, ${userId}, ${projectId}, ${snapshot.shareGroupId}, ${snapshot.name},
      ${snapshot.description}, ${status})`;
  if (snapshot.members.length === 0) return;
  const rows = snapshot.members.map(
    (member) =>
      sql`(${createdAt}, 'False', ${member.id}, ${member.shareInstanceId}, ${status}, ${userId}, ${projectId}, ${member.size},
        ${member.protocol}, ${id})`,
  );
  await tx.run`
    INSERT INTO share_snapshot_instances (created_at, deleted, id, share_instance_id, status, user_id, project_id, size,
      share_proto, share_group_snapshot_id) VALUES ${join(rows, ', ')}`;
}

/** Changes what is given, leaves what is undefined. */
export function updateShareGroupSnapshot(
  tx: Tx,
  id: string,
  set: { name?: string | null | undefined; description?: string | null | undefined },
): Promise<void> {
  return updateRow(tx, 'share_group_snapshots', id, { name: set.name, description: set.description });
}

export const shareGroupSnapshotSubject = (id: string): Subject => ({
  table: 'share_group_snapshots',
  where: sql`id = ${id}`,
  what: 'Share group snapshot',
  id,
});

/** A live member to be driven; undefined when it or its share is gone. */
export async function findDrivenMember(db: Queries, id: string): Promise<DrivenSnapshot | undefined> {
  const row = await db.row<Omit<DrivenSnapshot, 'share'> & { shareInstanceId: string }>`
    SELECT m.id, m.share_group_snapshot_id AS snapshotId, m.status, m.size, m.provider_location AS providerLocation,
      m.project_id AS projectId, m.user_id AS userId, FALSE AS mountable, m.share_instance_id AS shareInstanceId
    FROM share_snapshot_instances m
    WHERE m.id = ${id} AND m.share_group_snapshot_id IS NOT NULL AND m.deleted = 'False'`;
  if (!row) return undefined;
  const { shareInstanceId, ...rest } = row;
  const share = await findInstance(db, shareInstanceId);
  return share && { ...rest, share };
}

/** Is a share being made from a member just now? */
export async function isAnyMemberBeingCloned(db: Queries, snapshotId: string): Promise<boolean> {
  const clones = await db.rows`
    SELECT s.id FROM shares s JOIN share_instances i ON i.share_id = s.id AND i.deleted = 'False'
    WHERE s.source_share_group_snapshot_member_id IN (
        SELECT m.id FROM share_snapshot_instances m WHERE m.share_group_snapshot_id = ${snapshotId} AND m.deleted = 'False')
      AND s.deleted = 'False' AND i.status IN ('creating', 'creating_from_snapshot') LIMIT 1`;
  return clones.length > 0;
}

/** Soft-deletes the snapshot and its members; false when it is gone already. */
export async function removeShareGroupSnapshot(tx: Tx, id: string): Promise<boolean> {
  const gone = sql`deleted = id, deleted_at = UTC_TIMESTAMP(6), status = 'deleted'`;
  await tx.run`
    UPDATE share_snapshot_instances SET ${gone} WHERE share_group_snapshot_id = ${id} AND deleted = 'False'`;
  const { affected } = await tx.run`
    UPDATE share_group_snapshots SET ${gone} WHERE id = ${id} AND deleted = 'False'`;
  return affected > 0;
}
