/**
 * Turns a handler's newest object into what the caller's version and roles show, from the generated field table.
 * A projector is made once for each schema, version and set of visible fields, and kept.
 */
import { type Field, fields, type SchemaName } from '#generated/fields.ts';
import type { Operation } from '#generated/operations.ts';
import type { PolicyName } from '#generated/policies.ts';

export interface Viewer {
  version: number;
  /** the service's own address, without a slash at the end */
  endpoint: string;
  sees(visibleTo: PolicyName | 'admin'): boolean;
}

type Item = Record<string, unknown>;
type Projector = (item: Item, endpoint: string) => Item;

/** The rules by which fields are hidden anywhere in the contract: their answers make up the cache key. */
const rules = [...new Set(Object.values(fields).flatMap((list) => list.flatMap((f) => (f.visibleTo ? [f.visibleTo] : []))))];
/** The rules that matter to a schema, itself and what it nests. */
const rulesOf = new Map<SchemaName, readonly (PolicyName | 'admin')[]>();
const projectors = new Map<string, Projector>();

/** Projects the whole envelope: `{ share: … }`, `{ shares: […], count }`. */
export function project(operation: Operation, result: unknown, viewer: Viewer): unknown {
  if (!operation.response || result === null || result === undefined) return undefined;
  const envelope: Item = {};
  const source = result as Item;
  for (const [key, part] of Object.entries(operation.response.envelope)) {
    const value = source[key];
    if (value === undefined || viewer.version < part.since || viewer.version > part.until) continue;
    if (!part.schema || value === null) {
      envelope[key] = value;
      continue;
    }
    const to = projectorFor(part.schema, viewer);
    envelope[key] = part.list ? (value as Item[]).map((item) => to(item, viewer.endpoint)) : to(value as Item, viewer.endpoint);
  }
  return envelope;
}

function projectorFor(schema: SchemaName, viewer: Viewer): Projector {
  let relevant = rulesOf.get(schema);
  if (!relevant) {
    const used = rulesUsed(schema, new Set());
    relevant = rules.filter((rule) => used.has(rule));
    rulesOf.set(schema, relevant);
  }
  let key = `${schema} ${viewer.version}`;
  for (const rule of relevant) key += viewer.sees(rule) ? '1' : '0';
  let projector = projectors.get(key);
  if (!projector) {
    projector = makeProjector(schema, viewer);
    projectors.set(key, projector);
  }
  return projector;
}

function rulesUsed(schema: SchemaName, seen: Set<string>, found = new Set<PolicyName | 'admin'>()): Set<PolicyName | 'admin'> {
  if (seen.has(schema)) return found;
  seen.add(schema);
  for (const field of fields[schema]) {
    if (field.visibleTo) found.add(field.visibleTo);
    if (field.schema) rulesUsed(field.schema, seen, found);
  }
  return found;
}

function makeProjector(schema: SchemaName, viewer: Viewer): Projector {
  const { version } = viewer;
  const shown = fields[schema].filter(
    (field) => version >= field.since && version <= field.until && (!field.visibleTo || viewer.sees(field.visibleTo)),
  );
  const writers = shown.map((field) => writer(field, viewer));
  return (item, endpoint) => {
    const out: Item = {};
    for (const write of writers) write(item, out, endpoint);
    return out;
  };
}

function writer(field: Field, viewer: Viewer): (item: Item, out: Item, endpoint: string) => void {
  const { name } = field;
  const from = field.from ?? name;
  if (field.links) {
    const collection = field.links;
    return (item, out, endpoint) => {
      out[name] = [
        { rel: 'self', href: `${endpoint}/v2/${collection}/${item.id}` },
        { rel: 'bookmark', href: `${endpoint}/${collection}/${item.id}` },
      ];
    };
  }
  if (field.schema) {
    const nested = projectorFor(field.schema, viewer);
    return (item, out, endpoint) => {
      const value = item[from];
      if (value === undefined && field.optional) return;
      if (value === undefined || value === null) out[name] = field.default ?? null;
      else out[name] = field.list ? (value as Item[]).map((one) => nested(one, endpoint)) : nested(value as Item, endpoint);
    };
  }
  const map = field.values?.find(({ since, until }) => viewer.version >= since && viewer.version <= until)?.map;
  const fallback = field.default ?? null;
  if (map) {
    return (item, out) => {
      const value = item[from];
      if (value === undefined && field.optional) return;
      out[name] = typeof value === 'string' && Object.hasOwn(map, value) ? map[value] : (value ?? fallback);
    };
  }
  if (field.optional) {
    return (item, out) => {
      if (item[from] !== undefined) out[name] = item[from];
    };
  }
  return (item, out) => {
    out[name] = item[from] ?? fallback;
  };
}
