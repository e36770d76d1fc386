/**
 * For every operation of the contract, the requests that it has to refuse: of someone without a role, about what isn't
 * there, about what belongs to another project, with a body that can't be read or lacks its entity. Bodies are those
 * of recorded requests that succeeded.
 */
import { type Operation, operations } from '#generated/operations.ts';
import { isOperation, type OperationName } from '../replayer/coverage.ts';
import { type Json, loadScenario, type RecordedRequest, scenarioNames } from '../replayer/recordings.ts';
import { namesIn } from '../replayer/templating.ts';
import type { Step } from './record.ts';
import { names, owned, world } from './world.ts';

const NOWHERE = '00000000-0000-4000-8000-00000000dead';

/** One is ours alone. */
const ofTheReference = Object.values(operations).filter(({ id }) => id !== 'explainScheduling');

/** The whole script. */
export function refusals(): Step[] {
  const samples = succeeded();
  return [...world, ...ofTheReference.flatMap((operation) => refusalsOf(operation, samples))];
}

function refusalsOf(operation: Operation, samples: readonly RecordedRequest[]): Step[] {
  const version = Math.min(operation.until, 99);
  const path = operation.paths.find(({ since, until }) => version >= since && version <= until)!.path;
  const { filled, collections } = fill(path);
  const sample = samples.find((request) => namesOf(operation).some((name) => isOperation(name, request)));
  const body = ours(bodyOf(operation, sample));
  const experimental = operation.experimental?.some(
    ({ since, until }) => version >= since && version <= until,
  );
  const base = {
    method: operation.method,
    version: `2.${version}`,
    ...(experimental ? { experimental: true } : {}),
  };
  const withBody = body === undefined ? {} : { body };
  const steps: RecordedRequest[] = [];
  if (operation.policy) steps.push({ ...base, path: filled, as: 'nobody', ...withBody });
  const named = collections.length > 0 || namesIn(body).size > 0;
  const swapped = (text: string) => text.replace(/\{\{(?!project|user)\w+\}\}/g, NOWHERE);
  if (named) {
    const gone = body === undefined || collections.length > 0 ? withBody : { body: mapped(body, swapped) };
    steps.push({ ...base, path: swapped(filled), as: 'admin', ...gone });
  }
  if (named && (collections.length === 0 || collections.some((each) => owned.has(each))))
    steps.push({ ...base, path: filled, as: 'alt', ...withBody });
  if (operation.body || operation.actions) {
    steps.push({
      ...base,
      path: filled,
      as: 'demo',
      raw_body: '{"share": ',
      headers: { 'Content-Type': 'application/json' },
    });
    steps.push({ ...base, path: filled, as: 'demo', body: {} });
  }
  return steps.map((request) => ({ request }));
}

/** The path with our things in it, and what its parameters name. */
function fill(path: string): { filled: string; collections: string[] } {
  const collections: string[] = [];
  const segments = path.split('/').map((segment, i, all) => {
    if (!segment.startsWith('{')) return segment;
    const collection = all[i - 1]!;
    collections.push(collection);
    if (collection === 'export-locations')
      return all[1] === 'share-replicas' ? '{{replica_export_location_1}}' : '{{snapshot_export_location_1}}';
    if (all[3] === 'metadata' && i === 2) return names[all[1]!]!;
    return names[collection] ?? (collection === 'services' || collection === 'os-services' ? 'enable' : 'a');
  });
  return { filled: `/v2${segments.join('/')}`, collections: collections.filter((each) => names[each]) };
}

function bodyOf(operation: Operation, sample: RecordedRequest | undefined): Json | undefined {
  if (operation.actions) {
    const key = operation.actions.at(-1)!.name;
    const value = sample?.body ? Object.values(sample.body as object)[0] : null;
    return { [key]: value as Json };
  }
  if (sample?.body !== undefined) return fitting(operation, sample.body);
  if (operation.body?.key) return { [operation.body.key]: {} };
  return operation.body ? {} : undefined;
}

/** A body whose one key is that of the path has ours. */
function fitting(operation: Operation, body: Json): Json {
  const [before, last] = operation.paths.at(-1)!.path.split('/').slice(-2) as [string, string];
  if (!last.startsWith('{') || names[before]) return body;
  const renamed = (value: Json): Json =>
    Object.fromEntries(Object.entries(value as object).map(([, item]) => ['a', item as Json]));
  const [[outer, inner]] = Object.entries(body as object) as [[string, Json]];
  return typeof inner === 'object' ? { [outer]: renamed(inner) } : renamed(body);
}

/** Another scenario's names, as names of our things. */
function ours(body: Json | undefined): Json | undefined {
  if (body === undefined) return undefined;
  const known = new Set(world.flatMap(({ captures }) => Object.keys(captures ?? {})));
  return mapped(body, (text) =>
    text.replace(/\{\{(\w+)\}\}/g, (whole, name: string) => {
      if (/^(project|user)_/.test(name) || known.has(name)) return whole;
      const first = name.replace(/_\d+$/, '_1');
      return known.has(first) ? `{{${first}}}` : NOWHERE;
    }),
  );
}

function mapped(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapped(item, change));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapped(item, change)]));
}

/** Recorded requests that succeeded, those of the newest versions first. */
function succeeded(): RecordedRequest[] {
  const minor = ({ version }: RecordedRequest) => Number(version?.split('.')[1] ?? 0);
  return scenarioNames()
    .flatMap((name) => loadScenario(name).exchanges)
    .filter(({ response }) => response.status < 300)
    .map(({ request }) => request)
    .sort((a, b) => minor(b) - minor(a));
}

/** The operation by each of its spellings. */
export function namesOf({ method, paths, actions }: Operation): OperationName[] {
  return paths.flatMap(({ path }) =>
    actions ? actions.map(({ name }) => ({ method, path, action: name })) : [{ method, path }],
  );
}
