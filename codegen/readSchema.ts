/**
 * Reads schemas/<resource>.yaml. A schema is either plain JSON Schema (it has a type, a
 * description, a $ref, an enum or a choice at its top) or a map of fields. A field is JSON Schema with x- keys for its windows,
 * names and visibility, or a list of such for a field that changed over the versions.
 */
import type { Field, JsonSchema, ObjectSchema, Schema, ValueMap } from './contract.ts';
import { isMap, onlyKeys, type Raw, type Reading, readWindow } from './reading.ts';

const schemaKeys = ['x-required', 'x-closed', 'x-include'];
const fieldKeys = [
  'x-since',
  'x-until',
  'x-from',
  'x-visible-to',
  'x-values',
  'x-links',
  'x-optional',
  'x-default',
  'x-outside',
];

/** Schemas to include the fields of, until includeFields has done so. */
const included = new WeakMap<ObjectSchema, string>();

export function isPlain(raw: Raw): boolean {
  const { type, $ref, description, enum: choices, anyOf, oneOf } = raw;
  return (
    [type, $ref, description].some((value) => typeof value === 'string') ||
    Array.isArray(type) ||
    [choices, anyOf, oneOf].some(Array.isArray)
  );
}

export function readSchema(reading: Reading, file: string, name: string, raw: unknown): Schema | null {
  if (!isMap(raw)) {
    reading.problems.add(file, name, 'must be a schema or a map of fields');
    return null;
  }
  if (isPlain(raw)) return { kind: 'plain', name, file, schema: raw };
  const fields: Field[] = [];
  for (const [key, value] of Object.entries(raw)) {
    if (schemaKeys.includes(key)) continue;
    if (key.startsWith('x-')) {
      reading.problems.add(file, name, `unknown key \`${key}\``);
      continue;
    }
    for (const variant of Array.isArray(value) ? value : [value]) {
      const field = readField(reading, file, `${name}.${key}`, key, variant);
      if (field) fields.push(field);
    }
  }
  const required = Array.isArray(raw['x-required']) ? raw['x-required'].map(String) : [];
  const schema: ObjectSchema = {
    kind: 'object',
    name,
    file,
    fields,
    required,
    closed: raw['x-closed'] === true,
  };
  if (raw['x-include'] !== undefined) included.set(schema, String(raw['x-include']));
  return schema;
}

function readField(reading: Reading, file: string, where: string, name: string, raw: unknown): Field | null {
  if (!isMap(raw)) {
    reading.problems.add(file, where, 'must be a schema in braces');
    return null;
  }
  const { own, schema } = divide(raw);
  onlyKeys(reading, file, where, own, fieldKeys);
  return {
    name,
    ...readWindow(reading, file, where, own, ['x-since', 'x-until']),
    from: textOrNull(own['x-from']),
    visibleTo: textOrNull(own['x-visible-to']),
    links: textOrNull(own['x-links']),
    optional: own['x-optional'] === true,
    refused: readOutside(reading, file, where, own['x-outside']),
    fallback: own['x-default'],
    values: readValues(reading, file, where, own['x-values']),
    schema: own['x-links'] === undefined ? schema : { $ref: '#/Links' },
  };
}

function readOutside(reading: Reading, file: string, where: string, raw: unknown): boolean {
  if (raw !== undefined && raw !== 'refuse')
    reading.problems.add(file, where, 'x-outside can only be `refuse`');
  return raw === 'refuse';
}

function readValues(reading: Reading, file: string, where: string, raw: unknown): ValueMap[] {
  if (raw === undefined) return [];
  if (!Array.isArray(raw)) {
    reading.problems.add(file, where, 'x-values must be a list of { since, until, map }');
    return [];
  }
  return raw.filter(isMap).map((entry) => {
    onlyKeys(reading, file, where, entry, ['since', 'until', 'map']);
    const map = isMap(entry.map) ? (entry.map as Record<string, string | null>) : {};
    return { ...readWindow(reading, file, where, entry), map };
  });
}

/** Parts the x- keys of a schema from the rest. */
export function divide(raw: Raw): { own: Raw; schema: JsonSchema } {
  const own: Raw = {};
  const schema: JsonSchema = {};
  for (const [key, value] of Object.entries(raw)) (key.startsWith('x-') ? own : schema)[key] = value;
  return { own, schema };
}

export const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Puts the fields of included schemas in front of a schema's own, which replace those of their name. */
export function includeFields(reading: Reading, schemas: Record<string, Schema>): void {
  const done = new Set<string>();
  const include = (schema: Schema): void => {
    const source = schema.kind === 'object' ? included.get(schema) : undefined;
    if (schema.kind !== 'object' || source === undefined || done.has(schema.name)) return;
    done.add(schema.name);
    const other = schemas[source];
    if (other?.kind !== 'object') {
      reading.problems.add(schema.file, schema.name, `includes \`${source}\`, which is no map of fields`);
      return;
    }
    include(other);
    const base = schemas[source] as ObjectSchema;
    const own = new Set(schema.fields.map((field) => field.name));
    schemas[schema.name] = {
      ...schema,
      fields: [...base.fields.filter((field) => !own.has(field.name)), ...schema.fields],
      required: [...new Set([...base.required, ...schema.required])],
    };
  };
  for (const schema of Object.values(schemas)) include(schema);
}
