/** What a list of snapshots can be narrowed by. */
import { snapshotStatus } from '#db/snapshots.ts';
import { type Sql, sql } from '#db/sql.ts';
import { asBoolean } from '#domain/booleans.ts';
import { readDict } from '#domain/dictText.ts';
import { fault } from '#domain/faults.ts';
import type { Ctx } from './context.ts';
import { containing } from './shareFilters.ts';

type Query = Readonly<Record<string, unknown>>;

/** The conditions of a list request on `s`, the snapshot. */
export function snapshotConditions(ctx: Ctx, query: Query): Sql[] {
  return [scope(ctx, query), ...equalities(ctx, query), ...likes(ctx, query), ...metadata(ctx, query)];
}

/** Whose snapshots: the caller's project's, or everybody's for an admin who asks so. */
function scope(ctx: Ctx, query: Query): Sql {
  const asked = query.all_tenants !== undefined && asBoolean(query.all_tenants) !== false;
  if (!asked || !ctx.can('share_snapshot:list_all_projects')) return sql`s.project_id = ${ctx.projectId}`;
  return query.project_id === undefined ? sql`TRUE` : sql`s.project_id = ${String(query.project_id)}`;
}

function equalities(ctx: Ctx, query: Query): Sql[] {
  const found: Sql[] = [];
  const equal = (key: string, condition: (value: string) => Sql) => {
    if (query[key] !== undefined) found.push(condition(given(query, key)));
  };
  for (const key of ['name', 'display_name']) equal(key, (text) => sql`s.display_name = ${text}`);
  if (ctx.allows('likeFilters')) equal('description', (text) => sql`s.display_description = ${text}`);
  equal('display_description', (text) => sql`s.display_description = ${text}`);
  equal('status', (text) => sql`${snapshotStatus} = ${text}`);
  equal('share_id', (text) => sql`s.share_id = ${text}`);
  equal('size', (text) => (/^\d+$/.test(text) ? sql`s.size = ${text}` : sql`FALSE`));
  return found;
}

/** By part of a name or description, where the version knows of it. */
function likes(ctx: Ctx, query: Query): Sql[] {
  if (!ctx.allows('likeFilters')) return [];
  const found: Sql[] = [];
  for (const key of ['name~', 'display_name~']) {
    if (query[key] !== undefined) found.push(sql`s.display_name LIKE ${containing(given(query, key))}`);
  }
  for (const key of ['description~', 'display_description~']) {
    if (query[key] !== undefined)
      found.push(sql`s.display_description LIKE ${containing(given(query, key))}`);
  }
  return found;
}

/** By pairs that a snapshot's metadata must have, all of them. */
function metadata(ctx: Ctx, query: Query): Sql[] {
  if (query.metadata === undefined || !ctx.allows('snapshotMetadata')) return [];
  const wanted = readDict(String(query.metadata));
  if (!wanted) throw fault('invalidQuery', { where: 'metadata', reason: 'must be a JSON object of texts' });
  return Object.entries(wanted).map(
    ([key, value]) => sql`EXISTS (SELECT 1 FROM share_snapshot_metadata m
      WHERE m.share_snapshot_id = s.id AND m.deleted = 'False' AND m.\`key\` = ${key} AND m.value = ${String(value)})`,
  );
}

/** A filter's text; an empty one is a mistake, not a match for everything. */
function given(query: Query, key: string): string {
  const text = String(query[key]);
  if (text === '') throw fault('invalidQuery', { where: key, reason: 'must not be empty' });
  return text;
}
