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

/**
 * The body of an answer: the handler's result as the viewer sees it, `{ "share": … }` or `{ "shares": […], "count": 1 }`;
 * empty when the operation answers none, or the handler gave none. Items are projected and written one by one, so that a long list never
 * stands in memory twice.
 */
export function writeAnswer(operation: Operation, result: unknown, viewer: Viewer): string {
  if (!operation.response || result === null || result === undefined) return '';
  const source = result as Item;
  const written: string[] = [];
  let last: { value: unknown; schema: SchemaName | null; text: string } | undefined;
  for (const [key, part] of Object.entries(operation.response.envelope)) {
    const value = key === '.' ? source : source[part.from ?? key];
    if (value === undefined || viewer.version < part.since || viewer.version > part.until) continue;
    // What an answer holds under two keys (`share_types`, `volume_types`) is written once.
    const same = last && last.value === value && last.schema === part.schema;
    const text = same ? last!.text : writeValue(value, part, viewer);
    if (key === '.') return text;
    written.push(`${JSON.stringify(key)}:${text}`);
    last = { value, schema: part.schema, text };
  }
  return written.length === 0 ? '' : `{${written.join(',')}}`;
}

function writeValue(
  value: unknown,
  { schema, list }: { schema: SchemaName | null; list: boolean },
  viewer: Viewer,
): string {
  if (!schema || value === null) return JSON.stringify(value);
  const to = projectorFor(schema, viewer);
  const write = (item: Item): string => JSON.stringify(to(item, viewer.links));
  return list ? `[${(value as Item[]).map(write).join(',')}]` : write(value as Item);
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

/**
 * Compiles a projector from the table, as ajv compiles a schema: one object literal with every field that this
 * viewer sees. Setting the fields one by one instead takes most of the time of a long list.
 */
function makeProjector(schema: SchemaName, viewer: Viewer): Projector {
  const { version } = viewer;
  const shown = fields[schema].filter(
    (field) =>
      version >= field.since && version <= field.until && (!field.visibleTo || viewer.sees(field.visibleTo)),
  );
  const made = shown.map((field) => valueMaker(field, viewer));
  const entries = shown.map((field, i) => `${JSON.stringify(field.name)}: ${expression(field, i, made[i])}`);
  return new Function('made', `return (item, links) => ({ ${entries.join(', ')} });`)(made) as Projector;
}

type ValueMaker = (value: unknown, links: LinkBases, item: Item) => unknown;

/** Where a field's value comes from; a field that is left out stays undefined, which JSON doesn't write. */
function expression(field: Field, i: number, maker: ValueMaker | undefined): string {
  const value = `item[${JSON.stringify(field.from ?? field.name)}]`;
  const given = maker ? `made[${i}](${value}, links, item)` : value;
  if (field.links) return given;
  return field.optional ? `${value} === undefined ? undefined : ${given}` : `${given} ?? null`;
}

/** What makes the value of a field that isn't shown as it is. */
function valueMaker(field: Field, viewer: Viewer): ValueMaker | undefined {
  if (field.links) {
    const collection = field.links;
    return (_value, links, { id }) => [
      { rel: 'self', href: `${links.self}/${collection}/${id}` },
      { rel: 'bookmark', href: `${links.bookmark}/${collection}/${id}` },
    ];
  }
  if (field.schema) {
    const nested = projectorFor(field.schema, viewer);
    return field.list
      ? (value, links) => (value as Item[] | null)?.map((one) => nested(one, links))
      : (value, links) => value && nested(value as Item, links);
  }
  const map = field.values?.find(
    ({ since, until }) => viewer.version >= since && viewer.version <= until,
  )?.map;
  if (!map) return undefined;
  return (value) => {
    const name = value === null ? 'null' : value;
    return typeof name === 'string' && Object.hasOwn(map, name) ? map[name] : value;
  };
}
