/** Share types with their extra specs, and the projects that may use those that aren't public. */
import type { Queries, Tx } from './connection.ts';
import { unlessTaken } from './duplicates.ts';
import { flag, json, jsonRow, parseRows, time } from './jsonRow.ts';
import { and, join, list, type Sql, sql } from './sql.ts';

export interface ShareTypeRow {
  id: string;
  name: string;
  description: string | null;
  is_public: boolean;
  created_at: string;
  updated_at: string | null;
  extra_specs: Record<string, string | null>;
}

type Raw = { row: string };

const columns = jsonRow({
  id: 't.id',
  name: 't.name',
  description: 't.description',
  is_public: flag('t.is_public'),
  created_at: time('t.created_at'),
  updated_at: time('t.updated_at'),
  extra_specs: json(`COALESCE((SELECT JSON_OBJECTAGG(e.spec_key, e.spec_value) FROM share_type_extra_specs e
    WHERE e.share_type_id = t.id AND e.deleted = 0), '{}')`),
});

/** Who may see the type: all, when public; else the projects that were given access. null sees all. */
function visibleTo(projectId: string | null): Sql[] {
  if (projectId === null) return [];
  return [
    sql`(t.is_public = 1 OR EXISTS (SELECT 1 FROM share_type_projects p
      WHERE p.share_type_id = t.id AND p.project_id = ${projectId} AND p.deleted = 0))`,
  ];
}

/** A type by id. `projectId` null looks past who may see it. */
export async function findShareType(
  db: Queries,
  id: string,
  projectId: string | null,
): Promise<ShareTypeRow | undefined> {
  const found = await db.rows<Raw>`
    SELECT ${columns} FROM share_types t WHERE t.id = ${id} AND t.deleted = 'False'${and(visibleTo(projectId))}`;
  return parseRows<ShareTypeRow>(found)[0];
}

/** A type by id or by name; an id wins. */
export async function findShareTypeByNameOrId(
  db: Queries,
  nameOrId: string,
  projectId: string | null,
): Promise<ShareTypeRow | undefined> {
  const found = await db.rows<Raw>`
    SELECT ${columns} FROM share_types t
    WHERE (t.id = ${nameOrId} OR t.name = ${nameOrId}) AND t.deleted = 'False'${and(visibleTo(projectId))}`;
  const types = parseRows<ShareTypeRow>(found);
  return types.find((type) => type.id === nameOrId) ?? types[0];
}

/** Which types a list is of: those that a project may use, those that are not public, or all. */
export type ShareTypeScope = { usableBy: string } | 'private' | 'all';

/** Types by name. */
export async function listShareTypes(db: Queries, scope: ShareTypeScope): Promise<ShareTypeRow[]> {
  const where =
    typeof scope === 'object' ? visibleTo(scope.usableBy) : scope === 'private' ? [sql`t.is_public = 0`] : [];
  const rows = await db.rows<Raw>`
    SELECT ${columns} FROM share_types t WHERE t.deleted = 'False'${and(where)} ORDER BY t.name, t.id`;
  return parseRows<ShareTypeRow>(rows);
}

/** Locks the type's row until the transaction ends; false when there is no such type. */
export async function lockShareType(tx: Tx, id: string): Promise<boolean> {
  return (
    (await tx.rows`SELECT id FROM share_types WHERE id = ${id} AND deleted = 'False' FOR UPDATE`).length > 0
  );
}

export interface NewShareType {
  id: string;
  name: string;
  description: string | null;
  isPublic: boolean;
  specs: Readonly<Record<string, string | null>>;
}

/** Writes a type with its specs; false when the name is taken, and then nothing is written. */
export async function insertShareType(tx: Tx, type: NewShareType): Promise<boolean> {
  const written = await unlessTaken(tx.run`
    INSERT INTO share_types (created_at, deleted, id, name, description, is_public)
    VALUES (UTC_TIMESTAMP(6), 'False', ${type.id}, ${type.name}, ${type.description}, ${type.isPublic})`);
  if (written) await insertSpecs(tx, type.id, type.specs);
  return written;
}

export interface ShareTypeChanges {
  name?: string;
  description?: string | null;
  isPublic?: boolean;
}

/** Changes a type; false when the name is taken. */
export function updateShareType(
  tx: Tx,
  id: string,
  { name, description, isPublic }: ShareTypeChanges,
): Promise<boolean> {
  const set = [
    sql`updated_at = UTC_TIMESTAMP(6)`,
    ...(name === undefined ? [] : [sql`name = ${name}`]),
    ...(description === undefined ? [] : [sql`description = ${description}`]),
    ...(isPublic === undefined ? [] : [sql`is_public = ${isPublic}`]),
  ];
  return unlessTaken(
    tx.run`UPDATE share_types SET ${join(set, ', ')} WHERE id = ${id} AND deleted = 'False'`,
  );
}

/** Does anything need the type: a share (also one in the recycle bin), a share group or a type of such? */
export async function isShareTypeUsed(db: Queries, id: string): Promise<boolean> {
  const row = await db.row<{ used: number }>`
    SELECT EXISTS (SELECT 1 FROM share_instances WHERE share_type_id = ${id} AND deleted = 'False')
      OR EXISTS (SELECT 1 FROM share_group_share_type_mappings WHERE share_type_id = ${id} AND deleted = 'False')
      OR EXISTS (SELECT 1 FROM share_group_type_share_type_mappings WHERE share_type_id = ${id} AND deleted = 'False') AS used`;
  return row!.used !== 0;
}

/** Soft-deletes the type and all that is only there for it: specs, access, quotas and their usage. */
export async function removeShareType(tx: Tx, id: string): Promise<void> {
  const gone = sql`deleted = id, deleted_at = UTC_TIMESTAMP(6)`;
  await tx.run`UPDATE share_type_extra_specs SET ${gone} WHERE share_type_id = ${id} AND deleted = 0`;
  await tx.run`UPDATE share_type_projects SET ${gone} WHERE share_type_id = ${id} AND deleted = 0`;
  await tx.run`UPDATE project_share_type_quotas SET ${gone} WHERE share_type_id = ${id} AND deleted = 0`;
  await tx.run`UPDATE quota_usages SET ${gone} WHERE share_type_id = ${id} AND deleted = 0`;
  await tx.run`UPDATE share_types SET ${gone} WHERE id = ${id} AND deleted = 'False'`;
}

/** Sets specs, new or known. The type is locked by the caller. */
export async function putSpecs(
  tx: Tx,
  id: string,
  specs: Readonly<Record<string, string | null>>,
): Promise<void> {
  await removeSpecs(tx, id, Object.keys(specs));
  await insertSpecs(tx, id, specs);
}

/** Removes specs; answers how many there were. */
export async function removeSpecs(tx: Tx, id: string, keys: readonly string[]): Promise<number> {
  if (keys.length === 0) return 0;
  const { affected } = await tx.run`
    UPDATE share_type_extra_specs SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE share_type_id = ${id} AND deleted = 0 AND spec_key IN (${list(keys)})`;
  return affected;
}

async function insertSpecs(
  tx: Tx,
  id: string,
  specs: Readonly<Record<string, string | null>>,
): Promise<void> {
  const rows = Object.entries(specs).map(
    ([key, value]) => sql`(UTC_TIMESTAMP(6), 0, ${id}, ${key}, ${value})`,
  );
  if (rows.length === 0) return;
  await tx.run`
    INSERT INTO share_type_extra_specs (created_at, deleted, share_type_id, spec_key, spec_value) VALUES ${join(rows, ', ')}`;
}

/** The projects that may use a type that isn't public. */
export function listTypeProjects(
  db: Queries,
  id: string,
): Promise<{ share_type_id: string; project_id: string }[]> {
  return db.rows`
    SELECT share_type_id, project_id FROM share_type_projects WHERE share_type_id = ${id} AND deleted = 0 ORDER BY project_id`;
}

/** Lets a project use the type; false when it may already. */
export function addTypeProject(tx: Tx, id: string, projectId: string): Promise<boolean> {
  return unlessTaken(tx.run`
    INSERT INTO share_type_projects (created_at, deleted, share_type_id, project_id)
    VALUES (UTC_TIMESTAMP(6), 0, ${id}, ${projectId})`);
}

/** Takes the type away from a project; false when the project didn't have it. */
export async function removeTypeProject(tx: Tx, id: string, projectId: string): Promise<boolean> {
  const { affected } = await tx.run`
    UPDATE share_type_projects SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE share_type_id = ${id} AND project_id = ${projectId} AND deleted = 0`;
  return affected > 0;
}
