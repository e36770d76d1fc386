/** Share groups: lists, one, making one, driving one. Rows have the API's names. */

import { randomUUID } from 'node:crypto';
import type { BackendGroup } from '#domain/backend.ts';
import type { Order, Page } from '#domain/paging.ts';
import type { Queries, Tx } from './connection.ts';
import { json, jsonRow, parseRows, time } from './jsonRow.ts';
import { containing } from './like.ts';
import { limited, ordered } from './paging.ts';
import { and, join, type Sql, sql } from './sql.ts';
import { lockedStatus, type Subject } from './transition.ts';
import { updateRow } from './updateRow.ts';

export interface ShareGroupRow {
  id: string;
  name: string | null;
  description: string | null;
  created_at: string;
  status: string;
  user_id: string;
  project_id: string;
  /** `host@backend#pool`; null until it is placed */
  host: string | null;
  share_group_type_id: string | null;
  source_share_group_snapshot_id: string | null;
  share_network_id: string | null;
  share_server_id: string | null;
  consistent_snapshot_support: 'pool' | 'host' | null;
  availability_zone: string | null;
  /** ids of share types */
  share_types: string[];
}

type Raw = { row: string };

const columns = jsonRow({
  id: 'g.id',
  name: 'g.name',
  description: 'g.description',
  created_at: time('g.created_at'),
  status: 'g.status',
  user_id: 'g.user_id',
  project_id: 'g.project_id',
  host: 'g.host',
  share_group_type_id: 'g.share_group_type_id',
  source_share_group_snapshot_id: 'g.source_share_group_snapshot_id',
  share_network_id: 'g.share_network_id',
  share_server_id: 'g.share_server_id',
  consistent_snapshot_support: 'g.consistent_snapshot_support',
  availability_zone: 'z.name',
  share_types: json(`COALESCE((SELECT JSON_ARRAYAGG(m.share_type_id ORDER BY m.created_at, m.share_type_id)
    FROM share_group_share_type_mappings m WHERE m.share_group_id = g.id AND m.deleted = 'False'), '[]')`),
});

const tables = sql`share_groups g LEFT JOIN availability_zones z ON z.id = g.availability_zone_id`;

/** One group, whoever's it is; undefined when there is none. */
export async function findShareGroup(db: Queries, id: string): Promise<ShareGroupRow | undefined> {
  const found =
    await db.rows<Raw>`SELECT ${columns} FROM ${tables} WHERE g.id = ${id} AND g.deleted = 'False'`;
  return parseRows<ShareGroupRow>(found)[0];
}

const columnIs = (column: Sql) => (value: string) => sql`${column} = ${value}`;

/** What lists of groups can be narrowed by: conditions on `g` (group) and `z` (its zone). */
export const shareGroupIs = {
  ofProject: columnIs(sql`g.project_id`),
  withId: columnIs(sql`g.id`),
  named: columnIs(sql`g.name`),
  namedLike: (part: string): Sql => sql`g.name LIKE ${containing(part)}`,
  described: columnIs(sql`g.description`),
  describedLike: (part: string): Sql => sql`g.description LIKE ${containing(part)}`,
  inStatus: columnIs(sql`g.status`),
  on: columnIs(sql`g.host`),
  ofUser: columnIs(sql`g.user_id`),
  ofType: columnIs(sql`g.share_group_type_id`),
  fromSnapshot: columnIs(sql`g.source_share_group_snapshot_id`),
  onNetwork: columnIs(sql`g.share_network_id`),
  onServer: columnIs(sql`g.share_server_id`),
  inZone: columnIs(sql`z.name`),
  consistentBy: columnIs(sql`g.consistent_snapshot_support`),
} as const;

/** Keys that groups can be sorted by, and the column each is. */
const sortColumns = {
  id: sql`g.id`,
  name: sql`g.name`,
  description: sql`g.description`,
  status: sql`g.status`,
  host: sql`g.host`,
  user_id: sql`g.user_id`,
  project_id: sql`g.project_id`,
  created_at: sql`g.created_at`,
  updated_at: sql`g.updated_at`,
  share_group_type_id: sql`g.share_group_type_id`,
  source_share_group_snapshot_id: sql`g.source_share_group_snapshot_id`,
  share_network_id: sql`g.share_network_id`,
  share_server_id: sql`g.share_server_id`,
  availability_zone_id: sql`g.availability_zone_id`,
} as const;

export const shareGroupSortKeys = Object.keys(sortColumns);

/** A page of groups; one statement whatever its length. */
export async function listShareGroups(
  db: Queries,
  { where, order, page }: { where: Sql[]; order: Order; page: Page },
): Promise<ShareGroupRow[]> {
  const rows = await db.rows<Raw>`
    SELECT ${columns} FROM ${tables} WHERE g.deleted = 'False'${and(where)}
    ${ordered(sortColumns, order, sql`g.`)} ${limited(page)}`;
  return parseRows<ShareGroupRow>(rows);
}

export interface NewShareGroup {
  id: string;
  createdAt: string;
  userId: string;
  projectId: string;
  name: string | null;
  description: string | null;
  status: string;
  host: string | null;
  shareGroupTypeId: string;
  sourceSnapshotId: string | null;
  shareNetworkId: string | null;
  shareServerId: string | null;
  availabilityZoneId: string | null;
  /** ids of share types */
  shareTypes: readonly string[];
}

/** Writes a group with its share types. */
export async function insertShareGroup(tx: Tx, group: NewShareGroup): Promise<void> {
  await tx.run`
    INSERT INTO share_groups (created_at, deleted, id, user_id, project_id, host, name, description, status,
      source_share_group_snapshot_id, share_network_id, share_server_id, share_group_type_id, availability_zone_id)
    VALUES (${group.createdAt}, 'False', ${group.id}, ${group.userId}, ${group.projectId}, ${group.host}, ${group.name},
      ${group.description}, ${group.status}, ${group.sourceSnapshotId}, ${group.shareNetworkId}, ${group.shareServerId},
      ${group.shareGroupTypeId}, ${group.availabilityZoneId})`;
  const rows = group.shareTypes.map(
    (shareTypeId) => sql`(${randomUUID()}, ${group.createdAt}, 'False', ${group.id}, ${shareTypeId})`,
  );
  await tx.run`
    INSERT INTO share_group_share_type_mappings (id, created_at, deleted, share_group_id, share_type_id)
    VALUES ${join(rows, ', ')}`;
}

/** Changes what is given, leaves what is undefined. */
export function updateShareGroup(
  tx: Tx,
  id: string,
  set: { name?: string | null | undefined; description?: string | null | undefined },
): Promise<void> {
  return updateRow(tx, 'share_groups', id, { name: set.name, description: set.description });
}

/** Locks the group's row until the transaction ends: what it holds is counted, or changed, under it. Answers its status. */
export function lockShareGroup(tx: Tx, id: string): Promise<string | undefined> {
  return lockedStatus(tx, 'share_groups', id);
}

/** How many shares and snapshots the group has. */
export async function contentsOf(db: Queries, id: string): Promise<{ shares: number; snapshots: number }> {
  const row = await db.row<{ shares: number; snapshots: number }>`
    SELECT (SELECT COUNT(*) FROM shares WHERE share_group_id = ${id} AND deleted = 'False') AS shares,
      (SELECT COUNT(*) FROM share_group_snapshots WHERE share_group_id = ${id} AND deleted = 'False') AS snapshots`;
  return row!;
}

/** Puts the group on a pool, and into the zone of that pool's service. */
export async function placeShareGroup(tx: Tx, id: string, host: string): Promise<void> {
  await tx.run`
    UPDATE share_groups SET host = ${host}, updated_at = UTC_TIMESTAMP(6),
      availability_zone_id = COALESCE((SELECT s.availability_zone_id FROM services s
        WHERE s.host = ${host.split('#', 1)[0]!} AND s.binary = 'manila-share' AND s.deleted = 0 LIMIT 1), availability_zone_id)
    WHERE id = ${id} AND deleted = 'False'`;
}

/** What the back end says of snapshots of the group: all shares of a pool or of a host at one moment, or none. */
export async function setConsistency(tx: Tx, id: string, support: 'pool' | 'host' | null): Promise<void> {
  await tx.run`UPDATE share_groups SET consistent_snapshot_support = ${support} WHERE id = ${id} AND deleted = 'False'`;
}

/** The group never came onto the server that was chosen for it. */
export async function forgetServerOfGroup(tx: Tx, id: string): Promise<void> {
  await tx.run`UPDATE share_groups SET share_server_id = NULL WHERE id = ${id} AND deleted = 'False'`;
}

/** A member of a group as it is now: the share and its instance. */
export interface GroupShare {
  shareId: string;
  instanceId: string;
  status: string;
  host: string | null;
  size: number;
  protocol: string;
  shareTypeId: string | null;
}

/** The shares of a group, oldest first; those in the recycle bin are left out. */
export function sharesOfGroup(db: Queries, id: string): Promise<GroupShare[]> {
  return db.rows`
    SELECT s.id AS shareId, i.id AS instanceId, i.status, i.host, s.size, s.share_proto AS protocol, i.share_type_id AS shareTypeId
    FROM shares s JOIN share_instances i ON i.share_id = s.id AND i.deleted = 'False'
    WHERE s.share_group_id = ${id} AND s.deleted = 'False' AND s.is_soft_deleted = 0 ORDER BY s.created_at, s.id`;
}

/** Soft-deletes the group and its share types; false when it is gone already. */
export async function removeShareGroup(tx: Tx, id: string): Promise<boolean> {
  const gone = sql`deleted = id, deleted_at = UTC_TIMESTAMP(6)`;
  await tx.run`
    UPDATE share_group_share_type_mappings SET ${gone} WHERE share_group_id = ${id} AND deleted = 'False'`;
  const { affected } = await tx.run`
    UPDATE share_groups SET ${gone}, status = 'deleted' WHERE id = ${id} AND deleted = 'False'`;
  return affected > 0;
}

export const shareGroupSubject = (id: string): Subject => ({
  table: 'share_groups',
  where: sql`id = ${id}`,
  what: 'Share group',
  id,
});

/** As a driver sees it. */
export function backendGroup(group: Pick<ShareGroupRow, 'id' | 'project_id' | 'host'>): BackendGroup {
  return { id: group.id, projectId: group.project_id, pool: group.host?.split('#')[1] ?? '' };
}
