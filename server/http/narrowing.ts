/**
 * Requests cut to the caller's version: fields that it doesn't know are dropped, as if they were not sent, and
 * those that had another name get the newest. The counterpart of projection.ts.
 */
import { type Field, fields, type SchemaName } from '#generated/fields.ts';

const known = new Map<string, readonly Field[]>();

/** The entity's fields of this version, under the handler's names. */
export function narrow(
  schema: SchemaName,
  entity: Readonly<Record<string, unknown>>,
  version: number,
): Record<string, unknown> {
  const key = `${schema} ${version}`;
  let list = known.get(key);
  if (!list) {
    list = fields[schema].filter((field) => version >= field.since && version <= field.until);
    known.set(key, list);
  }
  const cut: Record<string, unknown> = {};
  for (const { name, from } of list) {
    if (Object.hasOwn(entity, name)) cut[from ?? name] = entity[name];
  }
  return cut;
}
