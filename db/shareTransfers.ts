/** Transfers of shares: offers and their lists, and what changes hands when one is accepted. */
import type { Order, Page } from '#domain/paging.ts';
import type { Queries, Tx } from './connection.ts';
import { containing } from './like.ts';
import { limited, ordered } from './paging.ts';
import { and, int, type Sql, sql } from './sql.ts';

export interface ShareTransferRow {
  id: string;
  created_at: string;
  name: string | null;
  resource_type: 'share';
  /** the share */
  resource_id: string;
  source_project_id: string;
  destination_project_id: string | null;
  accepted: boolean;
  expires_at: string;
}

const columns = sql`id, created_at, display_name AS name, resource_type, resource_id, source_project_id, destination_project_id, accepted, expires_at`;

/** One transfer that nobody accepted or took back, whoever's it is. */
export function findShareTransfer(db: Queries, id: string): Promise<ShareTransferRow | undefined> {
  return db.row`SELECT ${columns} FROM transfers WHERE id = ${id} AND resource_type = 'share' AND deleted = 'False'`;
}

export interface LockedTransfer extends ShareTransferRow {
  salt: string;
  hash: string;
  is_expired: boolean;
}

/** The transfer with what is kept of its key, its row locked: it is accepted or taken back once only. */
export async function lockShareTransfer(tx: Tx, id: string): Promise<LockedTransfer | undefined> {
  const row = await tx.row<Omit<LockedTransfer, 'is_expired'> & { is_expired: number }>`
    SELECT ${columns}, salt, crypt_hash AS hash, expires_at < UTC_TIMESTAMP(6) AS is_expired
    FROM transfers WHERE id = ${id} AND resource_type = 'share' AND deleted = 'False' FOR UPDATE`;
  return row && { ...row, is_expired: row.is_expired === 1 };
}

const sortColumns = {
  created_at: sql`created_at`,
  updated_at: sql`updated_at`,
  expires_at: sql`expires_at`,
  id: sql`id`,
  name: sql`display_name`,
  display_name: sql`display_name`,
  resource_type: sql`resource_type`,
  resource_id: sql`resource_id`,
  source_project_id: sql`source_project_id`,
  destination_project_id: sql`destination_project_id`,
} as const;

export const shareTransferSortKeys = Object.keys(sortColumns);

export type TransferFilter =
  | 'id'
  | 'name'
  | 'resource_type'
  | 'resource_id'
  | 'source_project_id'
  | 'destination_project_id';

/** What the list is narrowed by; what isn't given narrows nothing. */
export interface ShareTransferQuery {
  equal: Partial<Record<TransferFilter, string>>;
  nameLike?: string;
  order: Order;
  page: Page;
}

/** A page of transfers. */
export function listShareTransfers(
  db: Queries,
  { equal, nameLike, order, page }: ShareTransferQuery,
): Promise<ShareTransferRow[]> {
  const where: Sql[] = [
    ...Object.entries(equal).map(([key, value]) => sql`${sortColumns[key as TransferFilter]} = ${value}`),
    ...(nameLike === undefined ? [] : [sql`display_name LIKE ${containing(nameLike)}`]),
  ];
  return db.rows`
    SELECT ${columns} FROM transfers WHERE resource_type = 'share' AND deleted = 'False'${and(where)}
    ${ordered(sortColumns, order)} ${limited(page)}`;
}

export interface NewShareTransfer {
  id: string;
  shareId: string;
  name: string | null;
  projectId: string;
  salt: string;
  hash: string;
}

/** Writes an offer that ends `seconds` from now. */
export async function insertShareTransfer(
  tx: Tx,
  transfer: NewShareTransfer,
  seconds: number,
): Promise<void> {
  await tx.run`
    INSERT INTO transfers (id, created_at, deleted, resource_id, resource_type, display_name, salt, crypt_hash, expires_at, source_project_id, accepted)
    VALUES (${transfer.id}, UTC_TIMESTAMP(6), 'False', ${transfer.shareId}, 'share', ${transfer.name}, ${transfer.salt}, ${transfer.hash},
      UTC_TIMESTAMP(6) + INTERVAL ${int(seconds)} SECOND, ${transfer.projectId}, 0)`;
}

/** Removes an offer; `acceptedBy` is the project that took it, null for none. */
export async function endShareTransfer(tx: Tx, id: string, acceptedBy: string | null): Promise<void> {
  await tx.run`
    UPDATE transfers SET deleted = id, deleted_at = UTC_TIMESTAMP(6), accepted = ${acceptedBy !== null},
      destination_project_id = ${acceptedBy}
    WHERE id = ${id} AND deleted = 'False'`;
}

/** Offers whose time is over. */
export function expiredShareTransfers(db: Queries): Promise<{ id: string }[]> {
  return db.rows`
    SELECT id FROM transfers WHERE resource_type = 'share' AND deleted = 'False' AND expires_at < UTC_TIMESTAMP(6)
    ORDER BY expires_at LIMIT 1000`;
}

export interface OwnedSnapshot {
  id: string;
  size: number;
  projectId: string;
  userId: string;
  status: string;
}

/** The snapshots that go with a share, whoever took them. */
export function snapshotsOfShare(db: Queries, shareId: string): Promise<OwnedSnapshot[]> {
  return db.rows`
    SELECT s.id, s.size, s.project_id AS projectId, s.user_id AS userId,
      COALESCE(MAX(IF(i.status = 'available', NULL, i.status)), 'available') AS status
    FROM share_snapshots s LEFT JOIN share_snapshot_instances i ON i.snapshot_id = s.id AND i.deleted = 'False'
    WHERE s.share_id = ${shareId} AND s.deleted = 'False' GROUP BY s.id`;
}

/** Gives the share and its snapshots to another user of another project. */
export async function giveShare(
  tx: Tx,
  shareId: string,
  to: { projectId: string; userId: string },
): Promise<void> {
  await tx.run`
    UPDATE shares SET project_id = ${to.projectId}, user_id = ${to.userId}, updated_at = UTC_TIMESTAMP(6)
    WHERE id = ${shareId} AND deleted = 'False'`;
  await tx.run`
    UPDATE share_snapshots SET project_id = ${to.projectId}, user_id = ${to.userId}, updated_at = UTC_TIMESTAMP(6)
    WHERE share_id = ${shareId} AND deleted = 'False'`;
}

/**
 * Lifts what users of the old project locked of the share and its rules: the new one could neither see nor lift it.
 * Locks of admins stay.
 */
export async function liftLocksOfProject(tx: Tx, shareId: string, projectId: string): Promise<void> {
  await tx.run`
    UPDATE resource_locks SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE deleted = 'False' AND project_id = ${projectId} AND lock_context = 'user' AND (resource_id = ${shareId}
      OR resource_id IN (SELECT r.id FROM share_access_map r WHERE r.share_id = ${shareId} AND r.deleted = 'False'))`;
}
