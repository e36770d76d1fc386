/** The table of fields: what the interpreter shows and takes at which version. */
import type { Contract, Field, JsonSchema } from './contract.ts';
import { header, literal, quote } from './printing.ts';
import { refName } from './schemas.ts';

/** The map of fields that a schema leads to, following plain references; null when it leads to none. */
export function objectBehind(contract: Contract, schema: JsonSchema): string | null {
  const name = refName(schema);
  if (name === null) return null;
  const target = contract.schemas[name];
  return target?.kind === 'plain' ? objectBehind(contract, target.schema) : (target?.name ?? null);
}

/** The map of fields that a field holds, or holds a list of. */
function nested(contract: Contract, field: Field): { schema?: string; list?: true } {
  const single = objectBehind(contract, field.schema);
  if (single) return { schema: single };
  const items = field.schema.items as JsonSchema | undefined;
  const listed = items ? objectBehind(contract, items) : null;
  return listed ? { schema: listed, list: true } : {};
}

export function emitFields(contract: Contract): string {
  const table: Record<string, unknown[]> = {};
  for (const schema of Object.values(contract.schemas)) {
    if (schema.kind !== 'object') continue;
    table[schema.name] = schema.fields.map((field) => ({
      name: field.name,
      from: field.from ?? undefined,
      since: field.since,
      until: field.until,
      visibleTo: field.visibleTo ?? undefined,
      values: field.values.length > 0 ? field.values : undefined,
      ...nested(contract, field),
      links: field.links ?? undefined,
      optional: field.optional || undefined,
      default: field.fallback,
    }));
  }
  const names = Object.keys(table).map((name) => `\n  | ${quote(name)}`);
  return `${header('The fields of every schema that the interpreter projects.', 'openapi/schemas/')}
import type { PolicyName } from './policies.ts';

export type SchemaName =${names.join('')};

export interface Field {
  /** The name on the wire. */
  readonly name: string;
  /** The handlers' name, when it differs. */
  readonly from?: string;
  readonly since: number;
  readonly until: number;
  /** Shown only to callers whom this policy admits. */
  readonly visibleTo?: PolicyName | 'admin';
  /** What a value is called at some versions. */
  readonly values?: readonly ValueMap[];
  /** What it holds: an object of this schema, or a list of them. */
  readonly schema?: SchemaName;
  readonly list?: true;
  /** Made by the interpreter: the self and bookmark links in this collection. */
  readonly links?: string;
  /** Left out when the handler's object lacks it. */
  readonly optional?: true;
  /** Shown when the handler's object lacks it; null unless given. */
  readonly default?: unknown;
}

export interface ValueMap {
  readonly since: number;
  readonly until: number;
  readonly map: Readonly<Record<string, string | null>>;
}

export const fields: Readonly<Record<SchemaName, readonly Field[]>> = ${tableText(table)};
`;
}

/** One field a line. */
function tableText(table: Record<string, unknown[]>): string {
  const schemas = Object.entries(table).map(
    ([name, rows]) => `  ${name}: [\n${rows.map((row) => `    ${literal(row, '    ')},\n`).join('')}  ],\n`,
  );
  return `{\n${schemas.join('')}}`;
}
