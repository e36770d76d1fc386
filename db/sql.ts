/** SQL written as SQL: a tagged template whose values become placeholders and whose fragments are spliced in. */

export type SqlValue = string | number | bigint | boolean | null | Date | Buffer;

export class Sql {
  readonly text: string;
  readonly values: readonly SqlValue[];
  constructor(text: string, values: readonly SqlValue[]) {
    this.text = text;
    this.values = values;
  }
}

/** A fragment or a whole statement: sql`WHERE id = ${id} ${onlyLive}`. undefined is a mistake and throws. */
export function sql(strings: TemplateStringsArray, ...parts: (SqlValue | Sql)[]): Sql {
  let text = strings[0]!;
  const values: SqlValue[] = [];
  for (const [i, part] of parts.entries()) {
    if (part instanceof Sql) {
      text += part.text;
      values.push(...part.values);
    } else if (part === undefined) {
      throw new Error(`undefined value in SQL after: ${text.slice(-80)}`);
    } else {
      text += '?';
      values.push(part);
    }
    text += strings[i + 1]!;
  }
  return new Sql(text, values);
}

/** Nothing: for a condition that doesn't apply. */
export const nothing = new Sql('', []);

/** `a, b, c` as placeholders, for IN (…). An empty list matches nothing. */
export function list(values: readonly SqlValue[]): Sql {
  return values.length === 0 ? new Sql('NULL', []) : new Sql(values.map(() => '?').join(', '), values);
}

/** Fragments one after another. */
export function join(parts: readonly Sql[], separator = ' '): Sql {
  return new Sql(
    parts.map((part) => part.text).join(separator),
    parts.flatMap((part) => part.values),
  );
}

/** ` AND a AND b …`, to follow a WHERE that has its first condition. */
export function and(parts: readonly Sql[]): Sql {
  return parts.length === 0 ? nothing : new Sql(` AND ${join(parts, ' AND ').text}`, join(parts).values);
}

/** A number spliced in as it is: LIMIT takes no placeholder of every type. */
export function int(value: number): Sql {
  if (!Number.isSafeInteger(value)) throw new Error(`not an integer: ${value}`);
  return new Sql(String(value), []);
}

/** A column or table name that the code, never a client, chose. */
export function name(identifier: string): Sql {
  if (!/^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/.test(identifier))
    throw new Error(`not a name: ${identifier}`);
  return new Sql(
    identifier
      .split('.')
      .map((part) => `\`${part}\``)
      .join('.'),
    [],
  );
}
