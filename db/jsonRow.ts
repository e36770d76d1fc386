/**
 * Wide rows as one JSON column: the database writes each row as a text, which is parsed at once. For a row of forty
 * columns that is several times cheaper than taking it apart column by column.
 */
import { Sql } from './sql.ts';

/** A tinyint(1) as true or false. */
export const flag = (column: string): string => `${column} = 1`;
/** A datetime as the API writes it. */
export const time = (column: string): string => `REPLACE(REPLACE(${column}, ' ', 'T'), '.000000', '')`;
/** Something that is JSON already. */
export const json = (expression: string): string => `JSON_COMPACT(${expression})`;

/**
 * `JSON_OBJECT(…) AS row`, from expressions by the names that they get. Expressions are the code's own, never a
 * client's.
 */
export function jsonRow(expressions: Readonly<Record<string, string>>): Sql {
  const pairs = Object.entries(expressions).map(([name, expression]) => `'${name}', ${expression}`);
  return new Sql(`JSON_OBJECT(${pairs.join(', ')}) AS \`row\``, []);
}

/** The rows that a SELECT of `jsonRow` answered. */
export function parseRows<T>(rows: readonly { row: string }[]): T[] {
  return rows.map(({ row }) => JSON.parse(row) as T);
}
