/**
 * Which fields a JSON value has and of which types, as paths: `.` is the value itself, `shares[].id` a field of each
 * list item. Used where values can't be known: views across projects, and the sweep over microversions.
 */
import type { Json } from './recordings.ts';

export type FieldType = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object';

/** Field path to the types seen there. */
export type Fields = Map<string, Set<FieldType>>;

/** Keys below these are what users or back ends put in, not part of the interface. */
const dataKeys = new Set([
  'metadata',
  'extra_specs',
  'required_extra_specs',
  'group_specs',
  'specs',
  'details',
  'capabilities',
]);

export function typeOf(value: Json): FieldType {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as 'boolean' | 'string' | 'object';
}

/** The fields of a value. With `data`, the keys of metadata and the like count too. */
export function fieldsOf(value: Json, options: { data?: boolean } = {}): Fields {
  const fields: Fields = new Map();
  const visit = (item: Json, path: string): void => {
    const at = path === '' ? '.' : path;
    const types = fields.get(at) ?? new Set();
    fields.set(at, types.add(typeOf(item)));
    if (Array.isArray(item)) {
      for (const each of item) visit(each, `${path}[]`);
    } else if (item !== null && typeof item === 'object') {
      if (!options.data && isDataPath(path)) return;
      for (const [key, each] of Object.entries(item)) visit(each, path === '' ? key : `${path}.${key}`);
    }
  };
  visit(value, '');
  return fields;
}

/** Whether the keys below a path are data. */
export function isDataPath(path: string): boolean {
  return dataKeys.has(path.slice(path.lastIndexOf('.') + 1));
}

/**
 * Whether a field may have the types seen, where `recorded` are those of the recording. Null goes with anything, since
 * a recording catches a field in few states; a server of this language writes 1.0 as 1.
 */
export function typesAgree(recorded: ReadonlySet<FieldType>, seen: ReadonlySet<FieldType>): boolean {
  const allowed = [...recorded].filter((type) => type !== 'null');
  if (allowed.length === 0) return true;
  return [...seen].every(
    (type) => type === 'null' || allowed.includes(type) || (type === 'integer' && allowed.includes('number')),
  );
}
