/** Changing what is given of a row. */
import type { Tx } from './connection.ts';
import { join, name, type SqlValue, sql } from './sql.ts';

/** Tables whose rows are known by an id and kept with `deleted` as a text. */
type Table =
  | 'security_services'
  | 'share_backups'
  | 'share_group_snapshots'
  | 'share_groups'
  | 'share_networks'
  | 'share_snapshots'
  | 'shares';

/** Changes the columns that are given, leaves those that are undefined. */
export async function updateRow(
  tx: Tx,
  table: Table,
  id: string,
  set: Readonly<Record<string, SqlValue | undefined>>,
): Promise<void> {
  const changes = Object.entries(set).flatMap(([column, value]) =>
    value === undefined ? [] : [sql`${name(column)} = ${value}`],
  );
  const all = join([...changes, sql`updated_at = UTC_TIMESTAMP(6)`], ', ');
  await tx.run`UPDATE ${name(table)} SET ${all} WHERE id = ${id} AND deleted = 'False'`;
}
