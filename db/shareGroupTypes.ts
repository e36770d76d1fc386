/** Share group types with their specs and share types, and the projects that may use those that aren't public. */
import { randomUUID } from 'node:crypto';
import type { Queries, Tx } from './connection.ts';
import { unlessTaken } from './duplicates.ts';
import { flag, json, jsonRow, parseRows } from './jsonRow.ts';
import type { ShareTypeScope } from './shareTypes.ts';
import { and, join, list, type Sql, sql } from './sql.ts';

export interface ShareGroupTypeRow {
  id: string;
  name: string;
  is_public: boolean;
  group_specs: Record<string, string | null>;
  /** ids of share types */
  share_types: string[];
}

type Raw = { row: string };
type Specs = Readonly<Record<string, string>>;

const columns = jsonRow({
  id: 't.id',
  name: 't.name',
  is_public: flag('t.is_public'),
  group_specs: json(`COALESCE((SELECT JSON_OBJECTAGG(e.spec_key, e.spec_value) FROM share_group_type_specs e
    WHERE e.share_group_type_id = t.id AND e.deleted = 0), '{}')`),
  share_types: json(`COALESCE((SELECT JSON_ARRAYAGG(m.share_type_id ORDER BY m.created_at, m.share_type_id)
    FROM share_group_type_share_type_mappings m WHERE m.share_group_type_id = t.id AND m.deleted = 'False'), '[]')`),
});

/** Who may see the type: all, when public; else the projects that were given access. null sees all. */
function visibleTo(projectId: string | null): Sql[] {
  if (projectId === null) return [];
  return [
    sql`(t.is_public = 1 OR EXISTS (SELECT 1 FROM share_group_type_projects p
      WHERE p.share_group_type_id = t.id AND p.project_id = ${projectId} AND p.deleted = 0))`,
  ];
}

/** A type by id. `projectId` null looks past who may see it. */
export async function findShareGroupType(
  db: Queries,
  id: string,
  projectId: string | null,
): Promise<ShareGroupTypeRow | undefined> {
  const found = await db.rows<Raw>`
    SELECT ${columns} FROM share_group_types t WHERE t.id = ${id} AND t.deleted = 'False'${and(visibleTo(projectId))}`;
  return parseRows<ShareGroupTypeRow>(found)[0];
}

/** A type by id or by name, whoever may see it; an id wins. */
export async function findShareGroupTypeByNameOrId(
  db: Queries,
  nameOrId: string,
): Promise<ShareGroupTypeRow | undefined> {
  const found = await db.rows<Raw>`
    SELECT ${columns} FROM share_group_types t WHERE (t.id = ${nameOrId} OR t.name = ${nameOrId}) AND t.deleted = 'False'`;
  const types = parseRows<ShareGroupTypeRow>(found);
  return types.find((type) => type.id === nameOrId) ?? types[0];
}

/** Types by name. */
export async function listShareGroupTypes(db: Queries, scope: ShareTypeScope): Promise<ShareGroupTypeRow[]> {
  const where =
    typeof scope === 'object' ? visibleTo(scope.usableBy) : scope === 'private' ? [sql`t.is_public = 0`] : [];
  const rows = await db.rows<Raw>`
    SELECT ${columns} FROM share_group_types t WHERE t.deleted = 'False'${and(where)} ORDER BY t.name, t.id`;
  return parseRows<ShareGroupTypeRow>(rows);
}

/** Locks the type's row until the transaction ends; false when there is no such type. */
export async function lockShareGroupType(tx: Tx, id: string): Promise<boolean> {
  const found =
    await tx.rows`SELECT id FROM share_group_types WHERE id = ${id} AND deleted = 'False' FOR UPDATE`;
  return found.length > 0;
}

export interface NewShareGroupType {
  id: string;
  name: string;
  isPublic: boolean;
  specs: Specs;
  /** ids of share types */
  shareTypes: readonly string[];
}

/** Writes a type with its specs and share types; false when the name is taken, and then nothing is written. */
export async function insertShareGroupType(tx: Tx, type: NewShareGroupType): Promise<boolean> {
  const written = await unlessTaken(tx.run`
    INSERT INTO share_group_types (created_at, deleted, id, name, is_public)
    VALUES (UTC_TIMESTAMP(6), 'False', ${type.id}, ${type.name}, ${type.isPublic})`);
  if (!written) return false;
  await insertSpecs(tx, type.id, type.specs);
  const rows = type.shareTypes.map(
    (shareTypeId) => sql`(${randomUUID()}, UTC_TIMESTAMP(6), 'False', ${type.id}, ${shareTypeId})`,
  );
  await tx.run`
    INSERT INTO share_group_type_share_type_mappings (id, created_at, deleted, share_group_type_id, share_type_id)
    VALUES ${join(rows, ', ')}`;
  return true;
}

/** Has a share group the type? */
export async function isShareGroupTypeUsed(db: Queries, id: string): Promise<boolean> {
  const used = await db.rows`
    SELECT id FROM share_groups WHERE share_group_type_id = ${id} AND deleted = 'False' LIMIT 1`;
  return used.length > 0;
}

/** Soft-deletes the type and all that is only there for it: specs, share types, access. */
export async function removeShareGroupType(tx: Tx, id: string): Promise<void> {
  const gone = sql`deleted = id, deleted_at = UTC_TIMESTAMP(6)`;
  await tx.run`UPDATE share_group_type_specs SET ${gone} WHERE share_group_type_id = ${id} AND deleted = 0`;
  await tx.run`UPDATE share_group_type_projects SET ${gone} WHERE share_group_type_id = ${id} AND deleted = 0`;
  await tx.run`
    UPDATE share_group_type_share_type_mappings SET ${gone} WHERE share_group_type_id = ${id} AND deleted = 'False'`;
  await tx.run`UPDATE share_group_types SET ${gone} WHERE id = ${id} AND deleted = 'False'`;
}

/** Sets specs, new or known. The type is locked by the caller. */
export async function putGroupSpecs(tx: Tx, id: string, specs: Specs): Promise<void> {
  await removeGroupSpecs(tx, id, Object.keys(specs));
  await insertSpecs(tx, id, specs);
}

/** Removes specs; answers how many there were. */
export async function removeGroupSpecs(tx: Tx, id: string, keys: readonly string[]): Promise<number> {
  if (keys.length === 0) return 0;
  const { affected } = await tx.run`
    UPDATE share_group_type_specs SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE share_group_type_id = ${id} AND deleted = 0 AND spec_key IN (${list(keys)})`;
  return affected;
}

async function insertSpecs(tx: Tx, id: string, specs: Specs): Promise<void> {
  const rows = Object.entries(specs).map(
    ([key, value]) => sql`(UTC_TIMESTAMP(6), 0, ${id}, ${key}, ${value})`,
  );
  if (rows.length === 0) return;
  await tx.run`
    INSERT INTO share_group_type_specs (created_at, deleted, share_group_type_id, spec_key, spec_value)
    VALUES ${join(rows, ', ')}`;
}

/** The projects that may use a type that isn't public. */
export function listGroupTypeProjects(
  db: Queries,
  id: string,
): Promise<{ share_group_type_id: string; project_id: string }[]> {
  return db.rows`
    SELECT share_group_type_id, project_id FROM share_group_type_projects
    WHERE share_group_type_id = ${id} AND deleted = 0 ORDER BY project_id`;
}

/** Lets a project use the type; false when it may already. */
export function addGroupTypeProject(tx: Tx, id: string, projectId: string): Promise<boolean> {
  return unlessTaken(tx.run`
    INSERT INTO share_group_type_projects (created_at, deleted, share_group_type_id, project_id)
    VALUES (UTC_TIMESTAMP(6), 0, ${id}, ${projectId})`);
}

/** Takes the type away from a project; false when the project didn't have it. */
export async function removeGroupTypeProject(tx: Tx, id: string, projectId: string): Promise<boolean> {
  const { affected } = await tx.run`
    UPDATE share_group_type_projects SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE share_group_type_id = ${id} AND project_id = ${projectId} AND deleted = 0`;
  return affected > 0;
}
