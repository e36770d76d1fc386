/** Pages of lists as SQL. */
import type { Order, Page } from '#domain/paging.ts';
import { int, nothing, type Sql, sql } from './sql.ts';

/** `LIMIT … OFFSET …`, or nothing for a whole list. */
export function limited({ limit, offset }: Page): Sql {
  if (limit === null && offset === 0) return nothing;
  return sql`LIMIT ${int(limit ?? 2 ** 31)} OFFSET ${int(Math.min(offset, 2 ** 31))}`;
}

/**
 * `ORDER BY` one of the columns that a list can be sorted by; what is alike there stands as it was made. `of` is the
 * prefix of the table's own columns: sql`s.`, or nothing.
 */
export function ordered(
  columns: Readonly<Record<string, Sql>>,
  { key, direction }: Order,
  of: Sql = nothing,
): Sql {
  const way = direction === 'asc' ? sql`ASC` : sql`DESC`;
  return sql`ORDER BY ${columns[key]!} ${way}, ${of}created_at ${way}, ${of}id ${way}`;
}
