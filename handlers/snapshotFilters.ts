/** What a list of snapshots can be narrowed by. */
import { snapshotIs } from '#db/snapshotConditions.ts';
import type { Sql } from '#db/sql.ts';
import { asBoolean } from '#domain/booleans.ts';
import { readDict } from '#domain/dictText.ts';
import { fault } from '#domain/faults.ts';
import type { Ctx } from './context.ts';

type Query = Readonly<Record<string, unknown>>;

/** The conditions of a list request on `s`, the snapshot. */
export function snapshotConditions(ctx: Ctx, query: Query): Sql[] {
  return [
    scope(ctx, query),
    ...(ctx.can('share_snapshot:list_snapshots_in_deferred_deletion_states')
      ? []
      : [snapshotIs.keptByProject()]),
    ...equalities(ctx, query),
    ...usage(ctx, query),
    ...likes(ctx, query),
    ...metadata(ctx, query),
  ];
}

/** Whose snapshots: the caller's project's, or everybody's for an admin who asks so. */
function scope(ctx: Ctx, query: Query): Sql {
  const asked = query.all_tenants !== undefined && asBoolean(query.all_tenants) !== false;
  if (!asked || !ctx.can('share_snapshot:list_all_projects')) return snapshotIs.ofProject(ctx.projectId);
  return query.project_id === undefined
    ? snapshotIs.anyOnes()
    : snapshotIs.ofProject(String(query.project_id));
}

function equalities(ctx: Ctx, query: Query): Sql[] {
  const found: Sql[] = [];
  const equal = (key: string, condition: (value: string) => Sql) => {
    if (query[key] !== undefined) found.push(condition(given(query, key)));
  };
  for (const key of ['name', 'display_name']) equal(key, snapshotIs.named);
  if (ctx.allows('likeFilters')) equal('description', snapshotIs.described);
  equal('display_description', snapshotIs.described);
  equal('status', snapshotIs.inStatus);
  equal('share_id', snapshotIs.ofShare);
  equal('size', (text) => snapshotIs.ofSize(wholeNumber(text)));
  return found;
}

function wholeNumber(text: string): string {
  if (/^\d+$/.test(text)) return text;
  throw fault('invalidQuery', {
    where: 'size',
    reason: `must be a whole number, not ${JSON.stringify(text)}`,
  });
}

const uses = {
  any: [],
  used: [snapshotIs.shared()],
  unused: [snapshotIs.unshared()],
} as const;

/** By whether shares were made of a snapshot: for admins alone. */
function usage(ctx: Ctx, query: Query): readonly Sql[] {
  if (query.usage === undefined || !ctx.isAdmin) return [];
  const asked = String(query.usage);
  if (Object.hasOwn(uses, asked)) return uses[asked as keyof typeof uses];
  throw fault('invalidQuery', {
    where: 'usage',
    reason: `must be any, used or unused, not ${JSON.stringify(asked)}`,
  });
}

/** By part of a name or description, where the version knows of it. */
function likes(ctx: Ctx, query: Query): Sql[] {
  if (!ctx.allows('likeFilters')) return [];
  const found: Sql[] = [];
  for (const key of ['name~', 'display_name~']) {
    if (query[key] !== undefined) found.push(snapshotIs.namedLike(given(query, key)));
  }
  for (const key of ['description~', 'display_description~']) {
    if (query[key] !== undefined) found.push(snapshotIs.describedLike(given(query, key)));
  }
  return found;
}

/** By pairs that a snapshot's metadata must have, all of them. */
function metadata(ctx: Ctx, query: Query): Sql[] {
  if (query.metadata === undefined || !ctx.allows('snapshotMetadata')) return [];
  const wanted = readDict(String(query.metadata));
  if (!wanted) throw fault('invalidQuery', { where: 'metadata', reason: 'must be a JSON object of texts' });
  return Object.entries(wanted).map(([key, value]) => snapshotIs.withMetadata(key, String(value)));
}

/** A filter's text; an empty one is a mistake, not a match for everything. */
function given(query: Query, key: string): string {
  const text = String(query[key]);
  if (text === '') throw fault('invalidQuery', { where: key, reason: 'must not be empty' });
  return text;
}
