/**
 * Turns a handler's newest object into what the caller's version and roles show, from the generated field table.
 * A projector is made once for each schema, version and set of visible fields, and kept.
 */
import { type Field, fields, type SchemaName } from '#generated/fields.ts';
import type { Operation } from '#generated/operations.ts';
import type { PolicyName } from '#generated/policies.ts';

export interface Viewer {
  version: number;
  /** what links begin with, no slash at the end */
  links: LinkBases;
  sees(visibleTo: PolicyName | 'admin'): boolean;
}

/** `self` is under the version, `bookmark` is not; both carry the project where the request's path did. */
export interface LinkBases {
  self: string;
  bookmark: string;
}

type Item = Record<string, unknown>;
type Projector = (item: Item, links: LinkBases) => Item;

/** The rules by which fields are hidden anywhere in the contract: their answers make up the cache key. */
const rules = [
  ...new Set(
    Object.values(fields).flatMap((list) => list.flatMap((f) => (f.visibleTo ? [f.visibleTo] : []))),
  ),
];
/** The rules that matter to a schema, itself and what it nests. */
const rulesOf = new Map<SchemaName, readonly (PolicyName | 'admin')[]>();
const projectors = new Map<string, Projector>();

/** Projects the whole envelope: `{ share: … }`, `{ shares: […], count }`. */
export function project(operation: Operation, result: unknown, viewer: Viewer): unknown {
  if (!operation.response || result === null || result === undefined) return undefined;
  const envelope: Item = {};
  const source = result as Item;
  for (const [key, part] of Object.entries(operation.response.envelope)) {
    const value = key === '.' ? source : source[part.from ?? key];
    if (value === undefined || viewer.version < part.since || viewer.version > part.until) continue;
    const shown = projectValue(value, part, viewer);
    if (key === '.') return shown;
    envelope[key] = shown;
  }
  return envelope;
}

function projectValue(
  value: unknown,
  { schema, list }: { schema: SchemaName | null; list: boolean },
  viewer: Viewer,
): unknown {
  if (!schema || value === null) return value;
  const to = projectorFor(schema, viewer);
  return list ? (value as Item[]).map((item) => to(item, viewer.links)) : to(value as Item, viewer.links);
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

function rulesUsed(
  schema: SchemaName,
  seen: Set<string>,
  found = new Set<PolicyName | 'admin'>(),
): Set<PolicyName | 'admin'> {
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
    (field) =>
      version >= field.since && version <= field.until && (!field.visibleTo || viewer.sees(field.visibleTo)),
  );
  const writers = shown.map((field) => writer(field, viewer));
  return (item, links) => {
    const out: Item = {};
    for (const write of writers) write(item, out, links);
    return out;
  };
}

function writer(field: Field, viewer: Viewer): (item: Item, out: Item, links: LinkBases) => void {
  const { name } = field;
  const from = field.from ?? name;
  if (field.links) {
    const collection = field.links;
    return (item, out, links) => {
      out[name] = [
        { rel: 'self', href: `${links.self}/${collection}/${item.id}` },
        { rel: 'bookmark', href: `${links.bookmark}/${collection}/${item.id}` },
      ];
    };
  }
  if (field.schema) {
    const nested = projectorFor(field.schema, viewer);
    return (item, out, links) => {
      const value = item[from];
      if (value === undefined && field.optional) return;
      if (value === undefined || value === null) out[name] = null;
      else
        out[name] = field.list
          ? (value as Item[]).map((one) => nested(one, links))
          : nested(value as Item, links);
    };
  }
  const map = field.values?.find(
    ({ since, until }) => viewer.version >= since && viewer.version <= until,
  )?.map;
  if (map) {
    return (item, out) => {
      const value = item[from];
      if (value === undefined && field.optional) return;
      out[name] = typeof value === 'string' && Object.hasOwn(map, value) ? map[value] : (value ?? null);
    };
  }
  if (field.optional) {
    return (item, out) => {
      if (item[from] !== undefined) out[name] = item[from];
    };
  }
  return (item, out) => {
    out[name] = item[from] ?? null;
  };
}
