/** What a list of shares can be narrowed by. */
import { type Sql, sql } from '#db/sql.ts';
import { asBoolean, readBoolean } from '#domain/booleans.ts';
import { readDict } from '#domain/dictText.ts';
import { fault } from '#domain/faults.ts';
import type { Ctx } from './context.ts';

type Query = Readonly<Record<string, unknown>>;

/** The conditions of a list request on `s` (share) and `i` (the instance that stands for it). */
export function shareConditions(ctx: Ctx, query: Query): Sql[] {
  return [
    scope(ctx, query),
    ...softDeleted(ctx, query),
    ...equalities(query),
    ...likes(ctx, query),
    ...hosts(ctx, query),
    ...structured(ctx, query),
  ];
}

/** Whose shares: the caller's project, all of them for an admin who asks so, and public ones where asked for. */
function scope(ctx: Ctx, query: Query): Sql {
  const isPublic = query.is_public === undefined ? undefined : readBoolean(query.is_public, 'is_public');
  const all =
    query.all_tenants !== undefined &&
    asBoolean(query.all_tenants) !== false &&
    ctx.can('share:list_all_projects');
  if (all) return text(query.project_id) ? sql`s.project_id = ${text(query.project_id)!}` : sql`TRUE`;
  return isPublic
    ? sql`(s.project_id = ${ctx.projectId} OR s.is_public = 1)`
    : sql`s.project_id = ${ctx.projectId}`;
}

function softDeleted(ctx: Ctx, query: Query): Sql[] {
  if (!ctx.allows('recycleBin') || query.is_soft_deleted === undefined) return [sql`s.is_soft_deleted = 0`];
  return [sql`s.is_soft_deleted = ${readBoolean(query.is_soft_deleted, 'is_soft_deleted')}`];
}

function equalities(query: Query): Sql[] {
  const found: Sql[] = [];
  const equal = (value: unknown, condition: (text: string) => Sql) => {
    const wanted = text(value);
    if (wanted !== undefined) found.push(condition(wanted));
  };
  equal(query.name ?? query.display_name, (x) => sql`s.display_name = ${x}`);
  equal(query.description ?? query.display_description, (x) => sql`s.display_description = ${x}`);
  equal(query.status, (x) => sql`i.status = ${x}`);
  equal(query.share_network_id, (x) => sql`i.share_network_id = ${x}`);
  equal(query.share_type_id, (x) => sql`i.share_type_id = ${x}`);
  equal(query.share_group_id, (x) => sql`s.share_group_id = ${x}`);
  equal(query.snapshot_id, (x) => sql`s.snapshot_id = ${x}`);
  equal(query.mount_point_name, (x) => sql`i.mount_point_name = ${x}`);
  equal(query.availability_zone, (x) => sql`z.name = ${x}`);
  equal(
    query.export_location_id,
    (x) =>
      sql`EXISTS (SELECT 1 FROM share_instance_export_locations l WHERE l.share_instance_id = i.id AND l.deleted = 0 AND l.uuid = ${x})`,
  );
  equal(
    query.export_location_path,
    (x) =>
      sql`EXISTS (SELECT 1 FROM share_instance_export_locations l WHERE l.share_instance_id = i.id AND l.deleted = 0 AND l.path = ${x})`,
  );
  return found;
}

/** Part of a name or description, where the version knows of it. */
function likes(ctx: Ctx, query: Query): Sql[] {
  if (!ctx.allows('likeFilters')) return [];
  const found: Sql[] = [];
  const name = text(query['name~'] ?? query['display_name~']);
  const description = text(query['description~'] ?? query['display_description~']);
  if (name !== undefined) found.push(sql`s.display_name LIKE ${containing(name)}`);
  if (description !== undefined) found.push(sql`s.display_description LIKE ${containing(description)}`);
  return found;
}

/** A LIKE pattern for texts that contain this one; `%` and `_` mean themselves. */
export function containing(part: string): string {
  return `%${part.replace(/[\\%_]/g, '\\$&')}%`;
}

/** By where shares are: for those whom a policy lets know. */
function hosts(ctx: Ctx, query: Query): Sql[] {
  const found: Sql[] = [];
  const host = text(query.host);
  if (host !== undefined) {
    ctx.authorize('share:list_by_host');
    found.push(
      sql`(i.host = ${host} OR i.host LIKE ${`${containing(host).slice(1, -1)}#%`} OR i.host LIKE ${`${containing(host).slice(1, -1)}@%`})`,
    );
  }
  const server = text(query.share_server_id);
  if (server !== undefined) {
    ctx.authorize('share:list_by_share_server_id');
    found.push(sql`i.share_server_id = ${server}`);
  }
  return found;
}

/** By metadata and by extra specs of the type, each a JSON object (or a Python-like one, as old clients send). */
function structured(ctx: Ctx, query: Query): Sql[] {
  const found: Sql[] = [];
  for (const [key, value] of pairs(query.metadata, 'metadata')) {
    found.push(
      sql`EXISTS (SELECT 1 FROM share_metadata m WHERE m.share_id = s.id AND m.deleted = 0 AND m.\`key\` = ${key} AND m.value = ${value})`,
    );
  }
  if (query.extra_specs !== undefined) {
    ctx.authorize('share_types_extra_spec:index');
    for (const [key, value] of pairs(query.extra_specs, 'extra_specs')) {
      found.push(
        sql`EXISTS (SELECT 1 FROM share_type_extra_specs e WHERE e.share_type_id = i.share_type_id AND e.deleted = 0 AND e.spec_key = ${key} AND e.spec_value = ${value})`,
      );
    }
  }
  return found;
}

/** Reads `{"k": "v"}`, or as Python prints it, from a query. Throws 400 for anything else. */
function pairs(value: unknown, where: string): [string, string][] {
  if (value === undefined) return [];
  const read = readDict(String(value));
  if (!read) throw fault('invalidQuery', { where, reason: 'must be a JSON object of texts' });
  return Object.entries(read).map(([key, each]) => [key, String(each)]);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
