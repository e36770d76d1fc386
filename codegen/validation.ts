/**
 * Which validators an operation needs: one for each stretch of versions at which its body (or query)
 * is a different schema, with all references resolved.
 */
import type { Contract, JsonSchema, Operation } from './contract.ts';
import { reach, refName, refsIn, schemaAt, withRefs } from './schemas.ts';
import { cut, type Window } from './windows.ts';

export interface Validator extends Window {
  readonly name: string;
  readonly schema: JsonSchema;
}

/** UUIDs as clients may write them. */
const uuid = '^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$';

export function bodyValidators(contract: Contract, operation: Operation): Validator[] {
  return operation.request ? validatorsOf(contract, operation, 'body', operation.request.schema) : [];
}

export function queryValidators(contract: Contract, operation: Operation): Validator[] {
  return operation.query ? validatorsOf(contract, operation, 'query', operation.query) : [];
}

function validatorsOf(
  contract: Contract,
  operation: Operation,
  part: 'body' | 'query',
  root: JsonSchema,
): Validator[] {
  const windows = [...reach(contract, refsIn(root))].flatMap((name) => {
    const schema = contract.schemas[name];
    return schema?.kind === 'object' ? schema.fields : [];
  });
  const found: Omit<Validator, 'name'>[] = [];
  for (const window of cut(operation, windows)) {
    const schema = resolved(contract, root, window.since);
    const last = found.at(-1);
    if (last && JSON.stringify(last.schema) === JSON.stringify(schema)) {
      found[found.length - 1] = { ...last, until: window.until };
    } else {
      found.push({ ...window, schema });
    }
  }
  return found.map((validator, i) => ({ ...validator, name: `v_${operation.id}_${part}_${i}` }));
}

/** A schema at a version with every reference replaced by what it refers to, ready for ajv. */
export function resolved(contract: Contract, root: JsonSchema, version: number): JsonSchema {
  const refer = (name: string): JsonSchema => schemaAt(contract, name, version, 'validation', refer);
  return forAjv(withRefs(root, refer)) as JsonSchema;
}

/** Only what ajv checks: formats become patterns, words for people go. */
function forAjv(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(forAjv);
  if (typeof value !== 'object' || value === null) return value;
  const { description: _d, examples: _e, title: _t, format, properties, ...rest } = value as JsonSchema;
  const out: JsonSchema = {};
  for (const [key, inner] of Object.entries(rest)) out[key] = forAjv(inner);
  if (format === 'uuid') out.pattern = uuid;
  if (typeof properties === 'object' && properties !== null) {
    out.properties = Object.fromEntries(
      Object.entries(properties).map(([key, inner]) => [key, forAjv(inner)]),
    );
  }
  return out;
}

/** The map of fields that a request or query is, by which the interpreter drops and renames; or null. */
export const requestObject = (contract: Contract, schema: JsonSchema): string | null => {
  const name = refName(schema);
  return name !== null && contract.schemas[name]?.kind === 'object' ? name : null;
};
