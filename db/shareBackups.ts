/** Backups: lists, one, making one, what its jobs write down. Rows have the API's names. */

import type { Order, Page } from '#domain/paging.ts';
import type { Queries, Tx } from './connection.ts';
import { containing } from './like.ts';
import { limited, ordered } from './paging.ts';
import { and, name, type Sql, sql } from './sql.ts';
import { updateRow } from './updateRow.ts';

export interface ShareBackupRow {
  id: string;
  name: string | null;
  description: string | null;
  share_id: string;
  status: string;
  /** GiB */
  size: number;
  created_at: string;
  updated_at: string | null;
  project_id: string;
  user_id: string;
  availability_zone: string | null;
  /** per cent, as text */
  progress: string;
  restore_progress: string;
  backup_type: string | null;
  /** where the data worker is, once one has been at it */
  host: string | null;
  topic: string | null;
}

/** These times have no fraction, and are shown with one. */
const told = (time: Sql): Sql => sql`DATE_FORMAT(${time}, '%Y-%m-%dT%H:%i:%s.000000')`;

const columns = sql`
  b.id, b.display_name AS name, b.display_description AS description, b.share_id, b.status, b.size,
  ${told(sql`b.created_at`)} AS created_at, ${told(sql`b.updated_at`)} AS updated_at,
  b.project_id, b.user_id, z.name AS availability_zone, b.progress, b.restore_progress, b.backup_type, b.host, b.topic`;

const tables = sql`share_backups b LEFT JOIN availability_zones z ON z.id = b.availability_zone_id`;

/** One backup, whoever's it is; undefined when there is none. */
export function findBackup(db: Queries, id: string): Promise<ShareBackupRow | undefined> {
  return db.row`SELECT ${columns} FROM ${tables} WHERE b.id = ${id} AND b.deleted = 'False'`;
}

/** What lists of backups can be narrowed by: conditions on `b`, the backup. */
export const backupIs = {
  anyOnes: (): Sql => sql`TRUE`,
  ofProject: (id: string): Sql => sql`b.project_id = ${id}`,
  ofShare: (id: string): Sql => sql`b.share_id = ${id}`,
  inStatus: (status: string): Sql => sql`b.status = ${status}`,
  named: (text: string): Sql => sql`b.display_name = ${text}`,
  namedLike: (part: string): Sql => sql`b.display_name LIKE ${containing(part)}`,
  described: (text: string): Sql => sql`b.display_description = ${text}`,
  describedLike: (part: string): Sql => sql`b.display_description LIKE ${containing(part)}`,
} as const;

/** Keys that backups can be sorted by, and the column each is. */
const sortColumns = {
  id: sql`b.id`,
  name: sql`b.display_name`,
  display_name: sql`b.display_name`,
  description: sql`b.display_description`,
  display_description: sql`b.display_description`,
  share_id: sql`b.share_id`,
  status: sql`b.status`,
  size: sql`b.size`,
  progress: sql`b.progress`,
  restore_progress: sql`b.restore_progress`,
  host: sql`b.host`,
  user_id: sql`b.user_id`,
  project_id: sql`b.project_id`,
  created_at: sql`b.created_at`,
  updated_at: sql`b.updated_at`,
} as const;

export const backupSortKeys = Object.keys(sortColumns);

/** A page of backups; one statement whatever its length. */
export function listBackups(
  db: Queries,
  { where, order, page }: { where: Sql[]; order: Order; page: Page },
): Promise<ShareBackupRow[]> {
  return db.rows`
    SELECT ${columns} FROM ${tables} WHERE b.deleted = 'False'${and(where)}
    ${ordered(sortColumns, order, sql`b.`)} ${limited(page)}`;
}

export interface NewBackup {
  id: string;
  userId: string;
  projectId: string;
  name: string | null;
  description: string | null;
  status: string;
  share: { id: string; size: number; instance_id: string };
}

/** Writes a backup of a share, in the zone where the share is. */
export async function insertBackup(tx: Tx, backup: NewBackup): Promise<void> {
  const { share } = backup;
  await tx.run`
    INSERT INTO share_backups (created_at, deleted, id, user_id, project_id, display_name, display_description, status, progress,
      restore_progress, size, share_id, availability_zone_id)
    SELECT UTC_TIMESTAMP(), 'False', ${backup.id}, ${backup.userId}, ${backup.projectId}, ${backup.name}, ${backup.description},
      ${backup.status}, '0', '0', ${share.size}, ${share.id}, i.availability_zone_id
    FROM share_instances i WHERE i.id = ${share.instance_id}`;
}

/** Changes what is given, leaves what is undefined. */
export function updateBackup(
  tx: Tx,
  id: string,
  set: { name?: string | null | undefined; description?: string | null | undefined },
): Promise<void> {
  return updateRow(tx, 'share_backups', id, { display_name: set.name, display_description: set.description });
}

/** The data service has it in hand from now on; of several, the one heard of last. */
export async function recordDataService(tx: Tx, id: string): Promise<void> {
  await tx.run`
    UPDATE share_backups b JOIN (SELECT host, topic FROM services WHERE \`binary\` = 'manila-data' AND deleted = 0
      ORDER BY COALESCE(updated_at, created_at) DESC LIMIT 1) s
    SET b.host = s.host, b.topic = s.topic WHERE b.id = ${id}`;
}

/** How far a copy is, while the backup is still in that status; answers whether it was. */
export async function recordProgress(
  db: Queries,
  id: string,
  column: 'progress' | 'restore_progress',
  percent: number,
  status: string,
): Promise<boolean> {
  const { affected } = await db.run`
    UPDATE share_backups SET ${name(column)} = ${String(percent)}, updated_at = UTC_TIMESTAMP()
    WHERE id = ${id} AND status = ${status} AND deleted = 'False'`;
  return affected > 0;
}

/** Why it failed, for operators; cut to what the column holds. */
export async function recordFailure(tx: Tx, id: string, reason: string): Promise<void> {
  await tx.run`UPDATE share_backups SET fail_reason = ${[...reason].slice(0, 255).join('')} WHERE id = ${id}`;
}

/** The backup that was last written to the share. */
export async function recordSource(tx: Tx, shareId: string, backupId: string): Promise<void> {
  await tx.run`UPDATE shares SET source_backup_id = ${backupId}, updated_at = UTC_TIMESTAMP(6) WHERE id = ${shareId} AND deleted = 'False'`;
}

/** Soft-deletes it; answers whether it was there. */
export async function removeBackup(tx: Tx, id: string): Promise<boolean> {
  const { affected } = await tx.run`
    UPDATE share_backups SET deleted = id, deleted_at = UTC_TIMESTAMP(), status = 'deleted' WHERE id = ${id} AND deleted = 'False'`;
  return affected > 0;
}
