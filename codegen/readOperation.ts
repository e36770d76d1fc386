/** Reads one operation of operations/<resource>.yaml. */
import type { ActionName, JsonSchema, Operation, RequestBody, ResponseKey, Spelling } from './contract.ts';
import { isMap, onlyKeys, type Raw, type Reading, readWindow } from './reading.ts';
import { divide, isPlain, textOrNull } from './readSchema.ts';
import { hull, intersect, isEmpty, type Window } from './windows.ts';

const operationKeys = [
  'method',
  'path',
  'summary',
  'description',
  'x-since',
  'x-until',
  'x-experimental',
  'x-action',
  'x-policy',
  'x-success',
  'x-missing',
  'x-document-only',
  'query',
  'request',
  'response',
];

const methods = ['get', 'post', 'put', 'delete'];

export function readOperation(
  reading: Reading,
  file: string,
  resource: string,
  id: string,
  raw: unknown,
  planned: boolean,
): Operation | null {
  const { problems } = reading;
  if (!isMap(raw)) {
    problems.add(file, id, 'must be a map');
    return null;
  }
  onlyKeys(reading, file, id, raw, operationKeys);
  if (!methods.includes(String(raw.method)))
    problems.add(file, id, 'method must be get, post, put or delete');
  if (typeof raw.summary !== 'string') problems.add(file, id, 'needs a summary');
  if (raw['x-policy'] === undefined)
    problems.add(file, id, 'needs an x-policy (null when the handler decides)');
  const missing = raw['x-missing'] ?? 400;
  if (missing !== 400 && missing !== 422) problems.add(file, id, 'x-missing must be 400 or 422');

  const outer = readWindow(reading, file, id, raw, ['x-since', 'x-until']);
  const narrow = <T extends Window>(items: readonly T[]): T[] =>
    items.map((item) => ({ ...item, ...intersect(item, outer) })).filter((item) => !isEmpty(item));
  const paths = narrow(readPaths(reading, file, id, raw.path));
  const actions =
    raw['x-action'] === undefined ? null : narrow(readActions(reading, file, id, raw['x-action']));
  const spelt = [paths, actions]
    .filter((list) => list && list.length > 0)
    .map((list) => hull(list as Window[]));
  return {
    id,
    file,
    resource,
    documentOnly: raw['x-document-only'] === true,
    planned,
    ...spelt.reduce(intersect, outer),
    method: String(raw.method).toUpperCase() as Operation['method'],
    paths,
    actions,
    experimental: narrow(readExperimental(reading, file, id, raw['x-experimental'])),
    policy: textOrNull(raw['x-policy']),
    success: typeof raw['x-success'] === 'number' ? raw['x-success'] : 200,
    missing: missing === 422 ? 422 : 400,
    summary: String(raw.summary),
    description: textOrNull(raw.description),
    query: isMap(raw.query) ? raw.query : null,
    request: readRequest(reading, file, id, raw.request, actions !== null),
    response: readResponse(reading, file, id, raw.response),
  };
}

function readPaths(reading: Reading, file: string, id: string, raw: unknown): Spelling[] {
  if (typeof raw === 'string') return [{ path: raw, ...reading.range }];
  if (!Array.isArray(raw) || raw.length === 0) {
    reading.problems.add(file, id, 'needs a path, or a list of { path, since, until }');
    return [];
  }
  return raw.filter(isMap).map((entry) => {
    onlyKeys(reading, file, id, entry, ['path', 'since', 'until']);
    return { path: String(entry.path), ...readWindow(reading, file, id, entry) };
  });
}

function readActions(reading: Reading, file: string, id: string, raw: unknown): ActionName[] {
  if (typeof raw === 'string') return [{ name: raw, ...reading.range }];
  if (!Array.isArray(raw)) {
    reading.problems.add(file, id, 'x-action must be a name, or a list of { name, since, until }');
    return [];
  }
  return raw.filter(isMap).map((entry) => {
    onlyKeys(reading, file, id, entry, ['name', 'since', 'until']);
    return { name: String(entry.name), ...readWindow(reading, file, id, entry) };
  });
}

function readExperimental(reading: Reading, file: string, id: string, raw: unknown): Window[] {
  if (raw === undefined) return [];
  if (raw === true) return [reading.range];
  const entries = Array.isArray(raw) ? raw : [raw];
  return entries.filter(isMap).map((entry) => {
    onlyKeys(reading, file, id, entry, ['since', 'until']);
    return readWindow(reading, file, id, entry);
  });
}

function readRequest(
  reading: Reading,
  file: string,
  id: string,
  raw: unknown,
  action: boolean,
): RequestBody | null {
  if (raw === undefined) return null;
  if (!isMap(raw)) {
    reading.problems.add(file, id, 'request must be a map');
    return null;
  }
  if (action || isPlain(raw)) return { key: null, also: null, schema: raw };
  const [key, ...others] = Object.keys(raw);
  const entity = key === undefined ? undefined : raw[key];
  if (key === undefined || others.length > 0 || !isMap(entity)) {
    reading.problems.add(file, id, 'request must be a schema, or one key with a schema');
    return null;
  }
  const { own, schema } = divide(entity);
  onlyKeys(reading, file, `${id}.request.${key}`, own, ['x-also']);
  return { key, also: textOrNull(own['x-also']), schema };
}

function readResponse(reading: Reading, file: string, id: string, raw: unknown): ResponseKey[] | null {
  if (raw === undefined || raw === null) return null;
  if (!isMap(raw)) {
    reading.problems.add(file, id, 'response must be a map');
    return null;
  }
  if (isPlain(raw)) {
    return [{ key: '.', from: null, list: false, optional: false, ...reading.range, schema: raw }];
  }
  return Object.entries(raw).flatMap(([key, value]) => {
    const read = readResponseKey(reading, file, `${id}.response.${key}`, key, value);
    return read ? [read] : [];
  });
}

/** A key of a response is a schema, a list of one schema, or `list:` with one, for x- keys beside it. */
function readResponseKey(
  reading: Reading,
  file: string,
  where: string,
  key: string,
  raw: unknown,
): ResponseKey | null {
  const whole: unknown = Array.isArray(raw) ? { list: raw[0] } : raw;
  if (!isMap(whole)) {
    reading.problems.add(file, where, 'must be a schema, or a list of one');
    return null;
  }
  const { own, schema } = divide(whole);
  onlyKeys(reading, file, where, own, ['x-since', 'x-until', 'x-optional', 'x-from']);
  const list = isMap(schema.list);
  return {
    key,
    from: textOrNull(own['x-from']),
    list,
    optional: own['x-optional'] === true,
    ...readWindow(reading, file, where, own as Raw, ['x-since', 'x-until']),
    schema: list ? (schema.list as JsonSchema) : schema,
  };
}
