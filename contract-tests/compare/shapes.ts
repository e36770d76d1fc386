/**
 * How two answers to one request differ: status, fault, top-level keys, fields and their JSON types, version headers.
 * Values don't count, nor states that work in the background moves on.
 */
import type { Answer } from '../replayer/comparison.ts';
import { seesAllProjects } from '../replayer/crossing.ts';
import { type Fields, type FieldType, fieldsOf, typesAgree } from '../replayer/fields.ts';
import type { Json, JsonObject, RecordedRequest } from '../replayer/recordings.ts';
import type { Answers } from './sides.ts';

const HEADERS = ['x-openstack-manila-api-version', 'x-openstack-manila-api-experimental'];

/** Lists of what everybody has: how long they are depends on what was done before. Admins see all messages and replicas. */
const everyones = /\/(share-servers|share-group-types|scheduler-stats\/pools|extensions)(\/detail)?$/;

/** Texts of what differs, the reference's first; none when the answers are alike. */
export function differencesOf(request: RecordedRequest, { reference, shoal }: Answers): string[] {
  if (reference.status !== shoal.status) return [`status: ${reference.status}, Shoal ${shoal.status}`];
  const differences = headerDifferences(reference, shoal);
  if (reference.status >= 300) return [...differences, ...faultDifferences(reference.body, shoal.body)];
  const [theirs, ours] = [fieldsOf(reference.body), fieldsOf(shoal.body)];
  // What a request has just made may be on its way here, and already there on the other side.
  const settled = request.method === 'GET' && !isEveryones(request);
  return [
    ...differences,
    ...fieldDifferences(theirs, ours, settled),
    ...(settled ? lengthDifferences(reference.body, shoal.body) : []),
  ];
}

function isEveryones(request: RecordedRequest): boolean {
  const [path, query = ''] = request.path.split('?', 2) as [string, string?];
  // Whoever may not see all is answered as without the word.
  return (
    everyones.test(path) ||
    (request.as === 'admin' && /\/(messages|share-replicas)(\/detail)?$/.test(path)) ||
    /(^|&)all_(tenants|projects)=/.test(query) ||
    seesAllProjects({ ...request, path })
  );
}

function headerDifferences(reference: Answer, shoal: Answer): string[] {
  return HEADERS.filter((name) => reference.headers[name] !== shoal.headers[name]).map(
    (name) => `header ${name}: ${reference.headers[name] ?? 'none'}, Shoal ${shoal.headers[name] ?? 'none'}`,
  );
}

function faultDifferences(theirs: Json, ours: Json): string[] {
  const [expected, got] = [faultOf(theirs), faultOf(ours)];
  return expected === got ? [] : [`fault: ${expected}, Shoal ${got}`];
}

/** The name of the fault and its keys; of a plain refusal, its keys. */
function faultOf(body: Json): string {
  if (!isObject(body)) return body === null ? 'no JSON' : JSON.stringify(body);
  const entries = Object.entries(body).map(([name, value]) =>
    isObject(value) ? `${name} {${Object.keys(value).sort().join(', ')}}` : name,
  );
  return entries.sort().join(', ');
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function fieldDifferences(theirs: Fields, ours: Fields, settled: boolean): string[] {
  const differences: string[] = [];
  for (const field of new Set([...theirs.keys(), ...ours.keys()])) {
    const [expected, got] = [theirs.get(field), ours.get(field)];
    if (expected && got) {
      const alike = typesAgree(expected, got) && !(settled && isNullInstead(expected, got));
      if (!alike) differences.push(`${field}: ${words(expected)}, Shoal ${words(got)}`);
    } else if (isOpen(field, expected ? ours : theirs)) {
      differences.push(`${field}: ${expected ? 'missing in Shoal' : 'only in Shoal'}`);
    }
  }
  return differences;
}

/** Whether the thing that a field would be of is there at all: an empty list tells nothing of its items. */
function isOpen(field: string, fields: Fields): boolean {
  const parent = field.replace(/(\[\]|\.?[^.[\]]+)$/, '') || '.';
  if (field.endsWith('[]')) return false;
  return fields.get(parent)?.has('object') ?? false;
}

function isNullInstead(expected: ReadonlySet<FieldType>, got: ReadonlySet<FieldType>): boolean {
  const isNull = (types: ReadonlySet<FieldType>) => types.size === 1 && types.has('null');
  return isNull(expected) !== isNull(got);
}

const words = (types: ReadonlySet<FieldType>) => [...types].sort().join(' or ');

function lengthDifferences(theirs: Json, ours: Json): string[] {
  if (!isObject(theirs) || !isObject(ours)) return [];
  return Object.entries(theirs).flatMap(([key, list]) => {
    const other = ours[key];
    if (!Array.isArray(list) || !Array.isArray(other) || list.length === other.length) return [];
    return [`${key}: Shoal has ${other.length > list.length ? 'more' : 'fewer'} items`];
  });
}
