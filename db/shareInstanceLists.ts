/** Share instances with the API's names: lists, one, a status set by hand. Admins see those of all projects. */
import type { Page } from '#domain/paging.ts';
import type { Schemas } from '#generated/handlers.ts';
import type { Queries } from './connection.ts';
import { limited } from './paging.ts';
import { join, nothing, type Sql, sql } from './sql.ts';

export interface ShareInstanceRow {
  id: string;
  share_id: string;
  availability_zone: string | null;
  created_at: string;
  updated_at: string | null;
  host: string | null;
  status: Schemas['ShareStatus'];
  share_network_id: string | null;
  share_server_id: string | null;
  access_rules_status: Schemas['Share']['access_rules_status'];
  replica_state: string | null;
  share_type_id: string | null;
  cast_rules_to_readonly: boolean;
  progress: string | null;
  /** present when asked for */
  export_locations?: string[];
}

const paths = sql`,
  (SELECT JSON_ARRAYAGG(e.path ORDER BY e.id) FROM share_instance_export_locations e
   WHERE e.share_instance_id = i.id AND e.deleted = 0) AS export_locations`;

async function select(
  db: Queries,
  where: Sql,
  { withPaths = false, page = { limit: null, offset: 0 } }: { withPaths?: boolean; page?: Page } = {},
): Promise<ShareInstanceRow[]> {
  const rows = await db.rows<
    Omit<ShareInstanceRow, 'export_locations'> & { export_locations?: string | null }
  >`
    SELECT i.id, i.share_id, z.name AS availability_zone, i.created_at, i.updated_at, i.host, i.status, i.share_network_id,
      i.share_server_id, i.access_rules_status, i.replica_state, i.share_type_id, i.cast_rules_to_readonly,
      i.progress ${withPaths ? paths : nothing}
    FROM share_instances i JOIN shares s ON s.id = i.share_id
    LEFT JOIN availability_zones z ON z.id = i.availability_zone_id
    WHERE i.deleted = 'False' AND ${where} ORDER BY i.created_at, i.id ${limited(page)}`;
  return rows.map(({ export_locations, ...rest }) =>
    export_locations === undefined
      ? rest
      : { ...rest, export_locations: export_locations ? (JSON.parse(export_locations) as string[]) : [] },
  );
}

export interface ShareInstanceQuery {
  /** conditions on `i` (instance) and `s` (share) */
  where: readonly Sql[];
  page: Page;
  withPaths: boolean;
}

/** A page of instances, oldest first; one statement whatever its length. */
export function listShareInstances(
  db: Queries,
  { where, ...rest }: ShareInstanceQuery,
): Promise<ShareInstanceRow[]> {
  return select(db, join(where, ' AND '), rest);
}

/** One live instance; undefined when there is none. */
export async function findShareInstance(
  db: Queries,
  id: string,
  options: { withPaths?: boolean } = {},
): Promise<ShareInstanceRow | undefined> {
  return (await select(db, sql`i.id = ${id}`, options))[0];
}
