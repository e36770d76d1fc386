/** Pages of lists as SQL. */
import type { Page } from '#domain/paging.ts';
import { int, nothing, type Sql, sql } from './sql.ts';

/** `LIMIT … OFFSET …`, or nothing for a whole list. */
export function limited({ limit, offset }: Page): Sql {
  if (limit === null && offset === 0) return nothing;
  return sql`LIMIT ${int(limit ?? 2 ** 31)} OFFSET ${int(Math.min(offset, 2 ** 31))}`;
}
