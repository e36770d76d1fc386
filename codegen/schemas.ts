/**
 * JSON Schemas out of the contract: as they stand at one version, or over all of them. References in
 * the contract are `#/Name`; whoever asks says how they should come out.
 */
import type { Contract, Field, JsonSchema, ObjectSchema } from './contract.ts';
import { within } from './windows.ts';

/** How a reference to a named schema is written. */
export type Refer = (name: string) => JsonSchema;

export const refName = (schema: JsonSchema): string | null =>
  typeof schema.$ref === 'string' ? schema.$ref.replace(/^#\//, '') : null;

/** Rewrites every reference in a schema. Keys beside a `$ref` (a description) stay beside it. */
export function withRefs(schema: unknown, refer: Refer): JsonSchema {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref, ...rest } = value as JsonSchema;
    const others = Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, walk(inner)]));
    return typeof $ref === 'string' ? { ...refer($ref.replace(/^#\//, '')), ...others } : others;
  };
  return walk(schema) as JsonSchema;
}

/** The names that a schema refers to. */
export function refsIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(refsIn);
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, value]) =>
    key === '$ref' && typeof value === 'string' ? [value.replace(/^#\//, '')] : refsIn(value),
  );
}

/** All schemas that are reached from these names, themselves included. */
export function reach(contract: Contract, names: readonly string[]): Set<string> {
  const reached = new Set<string>();
  const visit = (name: string): void => {
    const schema = contract.schemas[name];
    if (reached.has(name) || !schema) return;
    reached.add(name);
    const bodies = schema.kind === 'plain' ? [schema.schema] : schema.fields.map((field) => field.schema);
    for (const body of bodies) refsIn(body).forEach(visit);
  };
  names.forEach(visit);
  return reached;
}

/** A field's schema at a version, with the values of that version. */
export function fieldSchema(field: Field, version: number, refer: Refer): JsonSchema {
  const schema = withRefs(field.schema, refer);
  const map = field.values.find((values) => within(values, version))?.map;
  if (!map || !Array.isArray(schema.enum)) return schema;
  const values = schema.enum.map((value) => (typeof value === 'string' && value in map ? map[value] : value));
  return { ...schema, enum: [...new Set(values)] };
}

/** As a response shows it, as a request is described, or as a request is validated. */
export type Side = 'response' | 'request' | 'validation';

/** A named schema at a version. */
export function schemaAt(
  contract: Contract,
  name: string,
  version: number,
  side: Side,
  refer: Refer,
): JsonSchema {
  const schema = contract.schemas[name];
  if (!schema) throw new Error(`no schema ${name}`);
  if (schema.kind === 'plain') return withRefs(schema.schema, refer);
  const present = schema.fields.filter((field) => within(field, version));
  const properties: Record<string, JsonSchema | false> = {};
  for (const field of present) properties[field.name] = fieldSchema(field, version, refer);
  if (side === 'validation') {
    for (const { name, refused } of schema.fields) if (refused) properties[name] ??= false;
  }
  const required =
    side !== 'response'
      ? schema.required.filter((key) => key in properties)
      : present.filter((field) => !field.optional && !field.visibleTo).map((field) => field.name);
  return {
    type: 'object',
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(schema.closed ? { additionalProperties: false } : {}),
  };
}

/**
 * A named schema over all versions under the handlers' names: what handlers are given (requests) and
 * give (responses).
 */
export function handlerSchema(
  contract: Contract,
  schema: ObjectSchema,
  isRequest: boolean,
  refer: Refer,
): JsonSchema {
  const byName = new Map<string, Field[]>();
  for (const field of schema.fields) {
    if (field.links !== null) continue;
    const name = field.from ?? field.name;
    byName.set(name, [...(byName.get(name) ?? []), field]);
  }
  const properties: Record<string, JsonSchema> = {};
  const required: string[] = [];
  for (const [name, fields] of byName) {
    const shapes = new Map(
      fields.map((field) => [JSON.stringify(field.schema), withRefs(field.schema, refer)]),
    );
    const distinct = [...shapes.values()];
    properties[name] = distinct.length === 1 ? (distinct[0] as JsonSchema) : { anyOf: distinct };
    const needed = isRequest
      ? fields.every((field) => schema.required.includes(field.name) && isAlways(contract, field))
      : !fields.every((field) => field.optional);
    if (needed) required.push(name);
  }
  return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
}

const isAlways = (contract: Contract, field: Field): boolean =>
  field.since === contract.range.since && field.until === contract.range.until;
