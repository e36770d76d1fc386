/** Recorded requests that succeeded, as samples: their paths and bodies are made to speak of the world's things. */
import type { Operation } from '#generated/operations.ts';
import { type Json, loadScenario, type RecordedRequest, scenarioNames } from '../replayer/recordings.ts';
import { names, world } from './world.ts';

/** The id of nothing. */
export const NOWHERE = '00000000-0000-4000-8000-00000000dead';

/** The path with our things in it, and what its parameters name. */
export function fill(path: string): { filled: string; collections: string[] } {
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

/** A body whose one key is that of the path has ours. */
export function fitting(operation: Operation, body: Json): Json {
  const [before, last] = operation.paths.at(-1)!.path.split('/').slice(-2) as [string, string];
  if (!last.startsWith('{') || names[before]) return body;
  const renamed = (value: Json): Json =>
    Object.fromEntries(Object.entries(value as object).map(([, item]) => ['a', item as Json]));
  const [[outer, inner]] = Object.entries(body as object) as [[string, Json]];
  return typeof inner === 'object' ? { [outer]: renamed(inner) } : renamed(body);
}

/** Another scenario's names, as names of our things. */
export function ours(body: Json | undefined): Json | undefined {
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

export function mapped(value: Json, change: (text: string) => string): Json {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => mapped(item, change));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapped(item, change)]));
}

/** Recorded requests that succeeded, those of the newest versions first. */
export function succeeded(): RecordedRequest[] {
  const minor = ({ version }: RecordedRequest) => Number(version?.split('.')[1] ?? 0);
  return scenarioNames()
    .flatMap((name) => loadScenario(name).exchanges)
    .filter(({ response }) => response.status < 300)
    .map(({ request }) => request)
    .sort((a, b) => minor(b) - minor(a));
}
