/** Shares and the instance that stands for each: lists, one, making one. Rows have the API's names. */

import type { Order, Page } from '#domain/paging.ts';
import type { Schemas } from '#generated/handlers.ts';
import type { Queries, Tx } from './connection.ts';
import { flag, json, jsonRow, parseRows, time } from './jsonRow.ts';
import { limited, ordered } from './paging.ts';
import { and, join, type Sql, sql } from './sql.ts';
import { updateRow } from './updateRow.ts';

export interface ShareRow {
  id: string;
  size: number;
  created_at: string;
  updated_at: string | null;
  user_id: string;
  project_id: string;
  name: string | null;
  description: string | null;
  snapshot_id: string | null;
  share_proto: string;
  is_public: boolean;
  snapshot_support: boolean;
  share_group_id: string | null;
  source_share_group_snapshot_member_id: string | null;
  task_state: string | null;
  replication_type: string | null;
  create_share_from_snapshot_support: boolean;
  revert_to_snapshot_support: boolean;
  mount_snapshot_support: boolean;
  is_soft_deleted: boolean;
  scheduled_to_be_deleted_at: string | null;
  source_backup_id: string | null;
  snapshot_inherit_share_access_support: boolean;
  // of the instance that stands for the share
  instance_id: string;
  status: Schemas['ShareStatus'];
  host: string | null;
  availability_zone: string | null;
  access_rules_status: Schemas['Share']['access_rules_status'];
  share_network_id: string | null;
  share_server_id: string | null;
  share_type: string | null;
  share_type_name: string | null;
  progress: string | null;
  mount_point_name: string | null;
  encryption_key_ref: string | null;
  qos_type_id: string | null;
  replica_state: string | null;
  has_replicas: boolean;
  metadata: Record<string, string>;
  /** present when asked for */
  export_locations?: string[];
}

/**
 * Of several instances, the one whose state is the share's: the active replica, else the one that most says what
 * goes on. A share has one instance unless it has replicas or is being migrated.
 */
const standsFor = sql`
  i.id = (SELECT x.id FROM share_instances x WHERE x.share_id = s.id AND x.deleted = 'False'
    ORDER BY x.replica_state <=> 'active' DESC,
      FIELD(x.status, 'migrating_to', 'inactive') = 0 DESC,
      FIELD(x.status, 'available', 'error', 'migrating', 'error_deleting', 'deleting', 'creating') , x.created_at LIMIT 1)`;

const columns = {
  id: 's.id',
  size: 's.size',
  created_at: time('s.created_at'),
  updated_at: time('s.updated_at'),
  user_id: 's.user_id',
  project_id: 's.project_id',
  name: 's.display_name',
  description: 's.display_description',
  snapshot_id: 's.snapshot_id',
  share_proto: 's.share_proto',
  is_public: flag('s.is_public'),
  snapshot_support: flag('s.snapshot_support'),
  share_group_id: 's.share_group_id',
  source_share_group_snapshot_member_id: 's.source_share_group_snapshot_member_id',
  task_state: 's.task_state',
  replication_type: 's.replication_type',
  create_share_from_snapshot_support: flag('s.create_share_from_snapshot_support'),
  revert_to_snapshot_support: flag('s.revert_to_snapshot_support'),
  mount_snapshot_support: flag('s.mount_snapshot_support'),
  is_soft_deleted: flag('s.is_soft_deleted'),
  scheduled_to_be_deleted_at: time('s.scheduled_to_be_deleted_at'),
  source_backup_id: 's.source_backup_id',
  snapshot_inherit_share_access_support: flag('s.snapshot_inherit_share_access_support'),
  instance_id: 'i.id',
  status: 'i.status',
  host: 'i.host',
  availability_zone: 'z.name',
  access_rules_status: 'i.access_rules_status',
  share_network_id: 'i.share_network_id',
  share_server_id: 'i.share_server_id',
  share_type: 'i.share_type_id',
  share_type_name: 't.name',
  progress: 'i.progress',
  mount_point_name: 'i.mount_point_name',
  encryption_key_ref: 'i.encryption_key_ref',
  qos_type_id: 'i.qos_type_id',
  replica_state: 'i.replica_state',
  has_replicas: `i.replica_state IS NOT NULL AND EXISTS (SELECT 1 FROM share_instances r
    WHERE r.share_id = s.id AND r.id <> i.id AND r.deleted = 'False' AND r.replica_state IS NOT NULL)`,
  metadata: json(
    "COALESCE((SELECT JSON_OBJECTAGG(m.`key`, m.value) FROM share_metadata m WHERE m.share_id = s.id AND m.deleted = 0), '{}')",
  ),
};

const shareColumns = jsonRow(columns);
const shareColumnsWithPaths = jsonRow({
  ...columns,
  export_locations:
    json(`COALESCE((SELECT JSON_ARRAYAGG(e.path ORDER BY e.id) FROM share_instance_export_locations e
    WHERE e.share_instance_id = i.id AND e.deleted = 0 AND e.is_admin_only = 0), '[]')`),
});

const tables = sql`
  shares s JOIN share_instances i ON ${standsFor}
  LEFT JOIN availability_zones z ON z.id = i.availability_zone_id
  LEFT JOIN share_types t ON t.id = i.share_type_id`;

type Raw = { row: string };

/** One share, whoever's it is; undefined when there is none. */
export async function findShare(
  db: Queries,
  id: string,
  { withPaths = false } = {},
): Promise<ShareRow | undefined> {
  const found = await db.rows<Raw>`
    SELECT ${withPaths ? shareColumnsWithPaths : shareColumns} FROM ${tables} WHERE s.id = ${id} AND s.deleted = 'False'`;
  return parseRows<ShareRow>(found)[0];
}

/** Locks the share's row until the transaction ends: for checks on what hangs on it. */
export async function lockShare(tx: Tx, id: string): Promise<void> {
  await tx.row`SELECT id FROM shares WHERE id = ${id} FOR UPDATE`;
}

/** What a list is narrowed by; conditions are on `s` (share) and `i` (instance). */
export interface ShareQuery {
  where: Sql[];
  order: Order;
  page: Page;
  withPaths?: boolean;
}

/** Keys that shares can be sorted by, and the column each is. */
const sortColumns = {
  id: sql`s.id`,
  size: sql`s.size`,
  name: sql`s.display_name`,
  display_name: sql`s.display_name`,
  description: sql`s.display_description`,
  status: sql`i.status`,
  host: sql`i.host`,
  share_proto: sql`s.share_proto`,
  availability_zone_id: sql`i.availability_zone_id`,
  user_id: sql`s.user_id`,
  project_id: sql`s.project_id`,
  created_at: sql`s.created_at`,
  updated_at: sql`s.updated_at`,
  snapshot_id: sql`s.snapshot_id`,
  share_type_id: sql`i.share_type_id`,
  share_type: sql`i.share_type_id`,
  share_network_id: sql`i.share_network_id`,
  share_network: sql`i.share_network_id`,
  is_public: sql`s.is_public`,
} as const;

export const shareSortKeys = Object.keys(sortColumns);

/** A page of shares; one statement whatever its length. */
export async function listShares(db: Queries, query: ShareQuery): Promise<ShareRow[]> {
  const rows = await db.rows<Raw>`
    SELECT ${query.withPaths ? shareColumnsWithPaths : shareColumns} FROM ${tables}
    WHERE s.deleted = 'False'${and(query.where)} ${ordered(sortColumns, query.order, sql`s.`)} ${limited(query.page)}`;
  return parseRows<ShareRow>(rows);
}

/** As `listShares`, but only what the short list shows. */
export function listShareNames(
  db: Queries,
  query: ShareQuery,
): Promise<{ id: string; name: string | null }[]> {
  return db.rows`
    SELECT s.id, s.display_name AS name FROM ${tables}
    WHERE s.deleted = 'False'${and(query.where)} ${ordered(sortColumns, query.order, sql`s.`)} ${limited(query.page)}`;
}

/** How many shares the conditions match, pages aside. */
export async function countShares(db: Queries, where: Sql[]): Promise<number> {
  const row = await db.row<{
    n: number;
  }>`SELECT COUNT(*) AS n FROM ${tables} WHERE s.deleted = 'False'${and(where)}`;
  return row!.n;
}

export interface NewShare {
  id: string;
  instanceId: string;
  createdAt: string;
  userId: string;
  projectId: string;
  size: number;
  name: string | null;
  description: string | null;
  protocol: string;
  isPublic: boolean;
  snapshotId: string | null;
  shareTypeId: string | null;
  availabilityZoneId: string | null;
  shareNetworkId?: string | null;
  capabilities: {
    snapshot_support: boolean;
    create_share_from_snapshot_support: boolean;
    revert_to_snapshot_support: boolean;
    mount_snapshot_support: boolean;
    replication_type: string | null;
  };
  metadata: Record<string, string>;
  status: string;
  /** known already when it goes where its snapshot or its group is */
  host: string | null;
  qosTypeId?: string | null;
  shareGroupId?: string | null;
  /** the member of a share group snapshot that it is made from */
  sourceMemberId?: string | null;
  mountPointName?: string | null;
  encryptionKeyRef?: string | null;
}

/** Writes a share, its instance and its metadata. */
export async function insertShare(tx: Tx, share: NewShare): Promise<void> {
  const { capabilities: can } = share;
  await tx.run`
    INSERT INTO shares (created_at, deleted, id, user_id, project_id, size, display_name, display_description, snapshot_id, share_proto,
      is_public, snapshot_support, replication_type, create_share_from_snapshot_support, revert_to_snapshot_support,
      mount_snapshot_support, is_soft_deleted, snapshot_inherit_share_access_support, share_group_id,
      source_share_group_snapshot_member_id)
    VALUES (${share.createdAt}, 'False', ${share.id}, ${share.userId}, ${share.projectId}, ${share.size}, ${share.name}, ${share.description},
      ${share.snapshotId}, ${share.protocol}, ${share.isPublic}, ${can.snapshot_support}, ${can.replication_type},
      ${can.create_share_from_snapshot_support}, ${can.revert_to_snapshot_support}, ${can.mount_snapshot_support}, 0, 0,
      ${share.shareGroupId ?? null}, ${share.sourceMemberId ?? null})`;
  await tx.run`
    INSERT INTO share_instances (created_at, deleted, id, share_id, host, status, share_type_id, availability_zone_id, share_network_id,
      access_rules_status, cast_rules_to_readonly, qos_type_id, mount_point_name, encryption_key_ref)
    VALUES (${share.createdAt}, 'False', ${share.instanceId}, ${share.id}, ${share.host}, ${share.status}, ${share.shareTypeId},
      ${share.availabilityZoneId}, ${share.shareNetworkId ?? null}, 'active', 0, ${share.qosTypeId ?? null},
      ${share.mountPointName ?? null}, ${share.encryptionKeyRef ?? null})`;
  await insertShareMetadata(tx, share.id, share.metadata);
}

/** Writes the metadata of a new share: later changes go through mergeMetadata. */
export async function insertShareMetadata(
  tx: Tx,
  shareId: string,
  entries: Record<string, string>,
): Promise<void> {
  const rows = Object.entries(entries).map(
    ([key, value]) => sql`(UTC_TIMESTAMP(6), 0, ${shareId}, ${key}, ${value})`,
  );
  if (rows.length === 0) return;
  await tx.run`INSERT INTO share_metadata (created_at, deleted, share_id, \`key\`, value) VALUES ${join(rows, ', ')}`;
}

/** Changes what is given, leaves what is undefined. */
export function updateShare(
  tx: Tx,
  id: string,
  set: { name?: string | null; description?: string | null; isPublic?: boolean },
): Promise<void> {
  return updateRow(tx, 'shares', id, {
    display_name: set.name,
    display_description: set.description,
    is_public: set.isPublic,
  });
}

/** The phase of something long, or null for none. */
export async function setTaskState(tx: Tx, id: string, state: string | null): Promise<void> {
  await tx.run`UPDATE shares SET task_state = ${state}, updated_at = UTC_TIMESTAMP(6) WHERE id = ${id} AND deleted = 'False'`;
}

/** The size the share has now, GiB. */
export async function setShareSize(tx: Tx, id: string, size: number): Promise<void> {
  await tx.run`UPDATE shares SET size = ${size}, updated_at = UTC_TIMESTAMP(6) WHERE id = ${id} AND deleted = 'False'`;
}
