/** QoS types with their specs. */
import type { Order, Page } from '#domain/paging.ts';
import type { Queries, Tx } from './connection.ts';
import { unlessTaken } from './duplicates.ts';
import { json, jsonRow, parseRows, time } from './jsonRow.ts';
import { containing } from './like.ts';
import { limited, ordered } from './paging.ts';
import { and, join, list, type Sql, sql } from './sql.ts';

export interface QosTypeRow {
  id: string;
  name: string;
  description: string | null;
  created_at: string;
  updated_at: string | null;
  specs: Record<string, string>;
}

type Raw = { row: string };
type Specs = Readonly<Record<string, string>>;

const columns = jsonRow({
  id: 'q.id',
  name: 'q.name',
  description: 'q.description',
  created_at: time('q.created_at'),
  updated_at: time('q.updated_at'),
  specs: json(`COALESCE((SELECT JSON_OBJECTAGG(e.\`key\`, e.value) FROM qos_type_specs e
    WHERE e.qos_type_id = q.id AND e.deleted = 'False'), '{}')`),
});

/** One type by id; undefined when there is none. */
export async function findQosType(db: Queries, id: string): Promise<QosTypeRow | undefined> {
  const found =
    await db.rows<Raw>`SELECT ${columns} FROM qos_types q WHERE q.id = ${id} AND q.deleted = 'False'`;
  return parseRows<QosTypeRow>(found)[0];
}

/** A type by id or by name; an id wins. */
export async function findQosTypeByNameOrId(db: Queries, nameOrId: string): Promise<QosTypeRow | undefined> {
  const found = await db.rows<Raw>`
    SELECT ${columns} FROM qos_types q WHERE (q.id = ${nameOrId} OR q.name = ${nameOrId}) AND q.deleted = 'False'`;
  const types = parseRows<QosTypeRow>(found);
  return types.find((type) => type.id === nameOrId) ?? types[0];
}

/** What lists of QoS types can be narrowed by: conditions on `q`. */
export const qosTypeIs = {
  named: (name: string): Sql => sql`q.name = ${name}`,
  namedLike: (part: string): Sql => sql`q.name LIKE ${containing(part)}`,
  described: (text: string): Sql => sql`q.description = ${text}`,
  describedLike: (part: string): Sql => sql`q.description LIKE ${containing(part)}`,
} as const;

/** Keys that QoS types can be sorted by, and the column each is. */
const sortColumns = {
  id: sql`q.id`,
  name: sql`q.name`,
  description: sql`q.description`,
  created_at: sql`q.created_at`,
  updated_at: sql`q.updated_at`,
} as const;

export const qosTypeSortKeys = Object.keys(sortColumns);

/** A page of types; one statement whatever its length. */
export async function listQosTypes(
  db: Queries,
  { where, order, page }: { where: Sql[]; order: Order; page: Page },
): Promise<QosTypeRow[]> {
  const rows = await db.rows<Raw>`
    SELECT ${columns} FROM qos_types q WHERE q.deleted = 'False'${and(where)}
    ${ordered(sortColumns, order, sql`q.`)} ${limited(page)}`;
  return parseRows<QosTypeRow>(rows);
}

/** Locks the type's row until the transaction ends; false when there is no such type. */
export async function lockQosType(tx: Tx, id: string): Promise<boolean> {
  return (
    (await tx.rows`SELECT id FROM qos_types WHERE id = ${id} AND deleted = 'False' FOR UPDATE`).length > 0
  );
}

/** Writes a type with its specs; false when the name is taken, and then nothing is written. */
export async function insertQosType(
  tx: Tx,
  type: { id: string; name: string; description: string | null; specs: Specs },
): Promise<boolean> {
  const written = await unlessTaken(tx.run`
    INSERT INTO qos_types (created_at, deleted, id, name, description)
    VALUES (UTC_TIMESTAMP(6), 'False', ${type.id}, ${type.name}, ${type.description})`);
  if (written) await insertSpecs(tx, type.id, type.specs);
  return written;
}

/** Describes the type anew. */
export async function describeQosType(tx: Tx, id: string, description: string | null): Promise<void> {
  await tx.run`
    UPDATE qos_types SET description = ${description}, updated_at = UTC_TIMESTAMP(6) WHERE id = ${id} AND deleted = 'False'`;
}

/** Does a share have the type? */
export async function isQosTypeUsed(db: Queries, id: string): Promise<boolean> {
  const used =
    await db.rows`SELECT id FROM share_instances WHERE qos_type_id = ${id} AND deleted = 'False' LIMIT 1`;
  return used.length > 0;
}

/** Soft-deletes the type and its specs. */
export async function removeQosType(tx: Tx, id: string): Promise<void> {
  const gone = sql`deleted = id, deleted_at = UTC_TIMESTAMP(6)`;
  await tx.run`UPDATE qos_type_specs SET ${gone} WHERE qos_type_id = ${id} AND deleted = 'False'`;
  await tx.run`UPDATE qos_types SET ${gone} WHERE id = ${id} AND deleted = 'False'`;
}

/** Sets specs, new or known. The type is locked by the caller. */
export async function putQosSpecs(tx: Tx, id: string, specs: Specs): Promise<void> {
  await removeQosSpecs(tx, id, Object.keys(specs));
  await insertSpecs(tx, id, specs);
}

/** Removes specs; answers how many there were. */
export async function removeQosSpecs(tx: Tx, id: string, keys: readonly string[]): Promise<number> {
  if (keys.length === 0) return 0;
  const { affected } = await tx.run`
    UPDATE qos_type_specs SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE qos_type_id = ${id} AND deleted = 'False' AND \`key\` IN (${list(keys)})`;
  return affected;
}

async function insertSpecs(tx: Tx, id: string, specs: Specs): Promise<void> {
  const rows = Object.entries(specs).map(
    ([key, value]) => sql`(UTC_TIMESTAMP(6), 'False', ${id}, ${key}, ${value})`,
  );
  if (rows.length === 0) return;
  await tx.run`
    INSERT INTO qos_type_specs (created_at, deleted, qos_type_id, \`key\`, value) VALUES ${join(rows, ', ')}`;
}
