/** Share types with their extra specs. Rows have the API's names. */
import type { Queries } from './connection.ts';
import { nothing, type Sql, sql } from './sql.ts';

export interface ShareTypeRow {
  id: string;
  name: string;
  description: string | null;
  is_public: boolean;
  created_at: string;
  updated_at: string | null;
  extra_specs: Record<string, string>;
}

type Raw = Omit<ShareTypeRow, 'extra_specs'> & { extra_specs: string | null };

const columns = sql`
  t.id, t.name, t.description, t.is_public, t.created_at, t.updated_at,
  (SELECT JSON_OBJECTAGG(e.spec_key, e.spec_value) FROM share_type_extra_specs e
   WHERE e.share_type_id = t.id AND e.deleted = 0) AS extra_specs`;

export function shareTypeRow(raw: Raw): ShareTypeRow {
  return {
    ...raw,
    extra_specs: raw.extra_specs ? (JSON.parse(raw.extra_specs) as Record<string, string>) : {},
  };
}

/** Who may see the type: all, when public; else the projects that were given access. null sees all. */
function visibleTo(projectId: string | null): Sql {
  if (projectId === null) return nothing;
  return sql` AND (t.is_public = 1 OR EXISTS (SELECT 1 FROM share_type_projects p
    WHERE p.share_type_id = t.id AND p.project_id = ${projectId} AND p.deleted = 0))`;
}

/** A type by id. `projectId` null looks past who may see it. */
export async function findShareType(
  db: Queries,
  id: string,
  projectId: string | null,
): Promise<ShareTypeRow | undefined> {
  const raw =
    await db.row<Raw>`SELECT ${columns} FROM share_types t WHERE t.id = ${id} AND t.deleted = 'False'${visibleTo(projectId)}`;
  return raw && shareTypeRow(raw);
}

/** A type by id or by name; an id wins. */
export async function findShareTypeByNameOrId(
  db: Queries,
  nameOrId: string,
  projectId: string | null,
): Promise<ShareTypeRow | undefined> {
  const found = await db.rows<Raw>`
    SELECT ${columns} FROM share_types t
    WHERE (t.id = ${nameOrId} OR t.name = ${nameOrId}) AND t.deleted = 'False'${visibleTo(projectId)}`;
  const raw = found.find((row) => row.id === nameOrId) ?? found[0];
  return raw && shareTypeRow(raw);
}

/** Types that the project may see, or all of them; oldest first. */
export async function listShareTypes(
  db: Queries,
  projectId: string | null,
  isPublic: boolean | null,
): Promise<ShareTypeRow[]> {
  const only = isPublic === null ? nothing : sql` AND t.is_public = ${isPublic}`;
  const rows = await db.rows<Raw>`
    SELECT ${columns} FROM share_types t WHERE t.deleted = 'False'${visibleTo(projectId)}${only} ORDER BY t.created_at, t.id`;
  return rows.map(shareTypeRow);
}
