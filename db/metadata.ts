/**
 * Metadata of shares, snapshots and subnets: pairs of texts in a table of their own. Keys are compared as the database
 * compares them, without case; the spelling that came first stays. A write is two statements, however many pairs.
 */
import type { Queries, Tx } from './connection.ts';
import { list, name, nothing, type Sql, sql } from './sql.ts';

/** Where a resource keeps its metadata. */
export interface MetadataTable {
  table: string;
  /** the column that names the resource */
  owner: string;
  /** what `deleted` is while a row lives: the reference's tables differ */
  live: 0 | 'False';
}

export const shareMetadata: MetadataTable = { table: 'share_metadata', owner: 'share_id', live: 0 };
export const snapshotMetadata: MetadataTable = {
  table: 'share_snapshot_metadata',
  owner: 'share_snapshot_id',
  live: 'False',
};
export const subnetMetadata: MetadataTable = {
  table: 'share_network_subnet_metadata',
  owner: 'share_network_subnet_id',
  live: 'False',
};

export type Metadata = Record<string, string>;

function rowsOf({ table, owner, live }: MetadataTable, id: string): { from: Sql; whose: Sql } {
  return { from: name(table), whose: sql`m.${name(owner)} = ${id} AND m.deleted = ${live}` };
}

/** All pairs, oldest first. */
export async function metadataOf(db: Queries, where: MetadataTable, id: string): Promise<Metadata> {
  const { from, whose } = rowsOf(where, id);
  const rows = await db.rows<{ key: string; value: string }>`
    SELECT m.\`key\`, m.value FROM ${from} m WHERE ${whose} ORDER BY m.id`;
  return Object.fromEntries(rows.map(({ key, value }) => [key, value]));
}

/** One pair, its key as it is stored; undefined when there is none. */
export function metadataItem(
  db: Queries,
  where: MetadataTable,
  id: string,
  key: string,
): Promise<{ key: string; value: string } | undefined> {
  const { from, whose } = rowsOf(where, id);
  return db.row`SELECT m.\`key\`, m.value FROM ${from} m WHERE ${whose} AND m.\`key\` = ${key}`;
}

/** Those of `keys` that the database takes for one of `reserved`, whatever their case. */
export async function keysAmong(
  db: Queries,
  keys: readonly string[],
  reserved: readonly string[],
): Promise<string[]> {
  if (keys.length === 0 || reserved.length === 0) return [];
  const found = await db.rows<{ k: string }>`
    SELECT n.k FROM ${pairs(Object.fromEntries(keys.map((key) => [key, ''])))} n WHERE n.k IN (${list(reserved)})`;
  return found.map(({ k }) => k);
}

/** Adds pairs and changes those that are there. The caller holds a lock on the resource's row. */
export async function mergeMetadata(
  tx: Tx,
  where: MetadataTable,
  id: string,
  entries: Readonly<Metadata>,
): Promise<void> {
  if (Object.keys(entries).length === 0) return;
  const { from, whose } = rowsOf(where, id);
  await tx.run`
    UPDATE ${from} m JOIN ${pairsByKey(entries)} n ON m.\`key\` = n.k
    SET m.value = n.v, m.updated_at = UTC_TIMESTAMP(6) WHERE ${whose}`;
  await tx.run`
    INSERT INTO ${from} (created_at, deleted, ${name(where.owner)}, \`key\`, value)
    SELECT UTC_TIMESTAMP(6), ${where.live}, ${id}, n.k, n.v FROM ${pairsByKey(entries)} n
    LEFT JOIN (SELECT DISTINCT m.\`key\` AS k FROM ${from} m WHERE ${whose}) there ON there.k = n.k
    WHERE there.k IS NULL ORDER BY n.place`;
}

/** Makes the metadata exactly `entries`, but for the keys in `kept`, which stay if they are there. */
export async function replaceMetadata(
  tx: Tx,
  where: MetadataTable,
  id: string,
  entries: Readonly<Metadata>,
  kept: readonly string[] = [],
): Promise<void> {
  const { from, whose } = rowsOf(where, id);
  const except = kept.length === 0 ? nothing : sql` AND m.\`key\` NOT IN (${list(kept)})`;
  await tx.run`
    UPDATE ${from} m LEFT JOIN ${pairsByKey(entries)} n ON n.k = m.\`key\`
    SET m.deleted = m.id, m.deleted_at = UTC_TIMESTAMP(6) WHERE ${whose}${except} AND n.k IS NULL`;
  await mergeMetadata(tx, where, id, entries);
}

/** Removes one pair; false when it isn't there. */
export async function removeMetadataItem(
  tx: Tx,
  where: MetadataTable,
  id: string,
  key: string,
): Promise<boolean> {
  const { from, whose } = rowsOf(where, id);
  const { affected } = await tx.run`
    UPDATE ${from} m SET m.deleted = m.id, m.deleted_at = UTC_TIMESTAMP(6) WHERE ${whose} AND m.\`key\` = ${key}`;
  return affected > 0;
}

/** Pairs as a table (place, k, v) that statements can join. */
function pairs(entries: Readonly<Metadata>): Sql {
  return sql`JSON_TABLE(${JSON.stringify(Object.entries(entries))}, '$[*]'
    COLUMNS (place FOR ORDINALITY, k VARCHAR(255) CHARACTER SET utf8mb3 PATH '$[0]', v VARCHAR(1023) CHARACTER SET utf8mb3 PATH '$[1]'))`;
}

/** One pair for each key. A table that the database gives an index on k: a scan for each pair takes too long. */
function pairsByKey(entries: Readonly<Metadata>): Sql {
  return sql`(SELECT MIN(p.place) AS place, MAX(p.k) AS k, MAX(p.v) AS v FROM ${pairs(entries)} p GROUP BY p.k)`;
}
