/** Export locations: the paths that clients mount. */
import { asBoolean } from '#domain/booleans.ts';
import type { Queries, Tx } from './connection.ts';
import type { MetadataTable } from './metadata.ts';
import { nothing, type Sql, sql } from './sql.ts';

/** Where export locations keep their metadata; the owner is the row's number. */
export const exportLocationMetadata: MetadataTable = {
  table: 'share_instance_export_locations_metadata',
  owner: 'export_location_id',
  live: 0,
};

/** The metadata key that is shown as a field of its own. */
const PREFERRED = 'preferred';

/** An export location with the API's names. */
export interface ExportLocationRow {
  id: string;
  /** the row's own number, which its metadata names */
  number: number;
  path: string;
  is_admin_only: boolean;
  preferred: boolean;
  share_instance_id: string;
  created_at: string;
  updated_at: string | null;
  /** without `preferred` */
  metadata: Record<string, string>;
}

type Raw = Omit<ExportLocationRow, 'metadata' | 'preferred'> & { metadata: string | null };

async function select(db: Queries, where: Sql): Promise<ExportLocationRow[]> {
  const rows = await db.rows<Raw>`
    SELECT e.uuid AS id, e.id AS number, e.path, e.is_admin_only, e.share_instance_id, e.created_at, e.updated_at,
      (SELECT JSON_OBJECTAGG(m.\`key\`, m.value) FROM share_instance_export_locations_metadata m
       WHERE m.export_location_id = e.id AND m.deleted = 0) AS metadata
    FROM share_instance_export_locations e JOIN share_instances i ON i.id = e.share_instance_id AND i.deleted = 'False'
    WHERE e.deleted = 0 AND ${where} ORDER BY i.created_at, e.id`;
  return rows.map(({ metadata, ...rest }) => {
    const { [PREFERRED]: preferred, ...others } = metadata
      ? (JSON.parse(metadata) as Record<string, string>)
      : {};
    return { ...rest, preferred: asBoolean(preferred) ?? false, metadata: others };
  });
}

/** Which of a share's locations count as the share's. */
export interface LocationsOfShare {
  shareId: string;
  /** leave out those of replicas that aren't active, which are listed by replica */
  activeReplicaOnly: boolean;
}

function ofShare({ shareId, activeReplicaOnly }: LocationsOfShare): Sql {
  const active = activeReplicaOnly
    ? sql` AND (i.replica_state IS NULL OR i.replica_state = 'active')`
    : nothing;
  // What a share is being copied to isn't to be mounted yet, what it has left behind no longer.
  return sql`i.share_id = ${shareId} AND i.status NOT IN ('migrating_to', 'server_migrating_to')${active}
    AND NOT (i.status IN ('deleting', 'error_deleting') AND EXISTS (SELECT 1 FROM share_instances o
      WHERE o.share_id = i.share_id AND o.id <> i.id AND o.status = 'available' AND o.deleted = 'False'))`;
}

export function listShareLocations(db: Queries, share: LocationsOfShare): Promise<ExportLocationRow[]> {
  return select(db, ofShare(share));
}

export async function findShareLocation(
  db: Queries,
  share: LocationsOfShare,
  id: string,
): Promise<ExportLocationRow | undefined> {
  return (await select(db, sql`e.uuid = ${id} AND ${ofShare(share)}`))[0];
}

export function listInstanceLocations(db: Queries, instanceId: string): Promise<ExportLocationRow[]> {
  return select(db, sql`i.id = ${instanceId}`);
}

export async function findInstanceLocation(
  db: Queries,
  instanceId: string,
  id: string,
): Promise<ExportLocationRow | undefined> {
  return (await select(db, sql`e.uuid = ${id} AND i.id = ${instanceId}`))[0];
}

/** Locks a location's row, for changing its metadata; false when it is gone. */
export async function lockLocation(tx: Tx, number: number): Promise<boolean> {
  const found = await tx.row`
    SELECT id FROM share_instance_export_locations WHERE id = ${number} AND deleted = 0 FOR UPDATE`;
  return found !== undefined;
}
