/** What a list of shares can be narrowed by. */
import { shareIs } from '#db/shareConditions.ts';
import type { Sql } from '#db/sql.ts';
import { asBoolean, readBoolean } from '#domain/booleans.ts';
import { readDict } from '#domain/dictText.ts';
import { fault } from '#domain/faults.ts';
import type { Ctx } from './context.ts';

type Query = Readonly<Record<string, unknown>>;

/** The conditions of a list request on `s` (share) and `i` (the instance that stands for it). */
export function shareConditions(ctx: Ctx, query: Query): Sql[] {
  return [
    scope(ctx, query),
    ...(ctx.can('share:list_shares_in_deferred_deletion_states') ? [] : [shareIs.keptByProject()]),
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
  if (all) {
    const project = text(query.project_id);
    return project ? shareIs.ofProject(project) : shareIs.anyOnes();
  }
  return isPublic ? shareIs.ofProjectOrPublic(ctx.projectId) : shareIs.ofProject(ctx.projectId);
}

function softDeleted(ctx: Ctx, query: Query): Sql[] {
  if (!ctx.allows('recycleBin') || query.is_soft_deleted === undefined) return [shareIs.softDeleted(false)];
  return [shareIs.softDeleted(readBoolean(query.is_soft_deleted, 'is_soft_deleted'))];
}

function equalities(query: Query): Sql[] {
  const found: Sql[] = [];
  const equal = (value: unknown, condition: (text: string) => Sql) => {
    const wanted = text(value);
    if (wanted !== undefined) found.push(condition(wanted));
  };
  equal(query.name ?? query.display_name, shareIs.named);
  equal(query.description ?? query.display_description, shareIs.described);
  equal(query.status, shareIs.inStatus);
  equal(query.share_network_id, shareIs.onNetwork);
  equal(query.share_type_id, shareIs.ofType);
  equal(query.share_group_id, shareIs.inGroup);
  equal(query.snapshot_id, shareIs.fromSnapshot);
  equal(query.mount_point_name, shareIs.mountedAs);
  equal(query.availability_zone, shareIs.inZone);
  equal(query.export_location_id, shareIs.exportedById);
  equal(query.export_location_path, shareIs.exportedByPath);
  return found;
}

/** Part of a name or description, where the version knows of it. */
function likes(ctx: Ctx, query: Query): Sql[] {
  if (!ctx.allows('likeFilters')) return [];
  const found: Sql[] = [];
  const name = text(query['name~'] ?? query['display_name~']);
  const description = text(query['description~'] ?? query['display_description~']);
  if (name !== undefined) found.push(shareIs.namedLike(name));
  if (description !== undefined) found.push(shareIs.describedLike(description));
  return found;
}

/** By where shares are: for those whom a policy lets know. */
function hosts(ctx: Ctx, query: Query): Sql[] {
  const found: Sql[] = [];
  const host = text(query.host);
  if (host !== undefined) {
    ctx.authorize('share:list_by_host');
    found.push(shareIs.on(host));
  }
  const server = text(query.share_server_id);
  if (server !== undefined) {
    ctx.authorize('share:list_by_share_server_id');
    found.push(shareIs.onServer(server));
  }
  return found;
}

/** By metadata and by extra specs of the type, each a JSON object (or a Python-like one, as old clients send). */
function structured(ctx: Ctx, query: Query): Sql[] {
  const found: Sql[] = [];
  for (const [key, value] of pairs(query.metadata, 'metadata')) {
    found.push(shareIs.withMetadata(key, value));
  }
  if (query.extra_specs !== undefined) {
    ctx.authorize('share_types_extra_spec:index');
    for (const [key, value] of pairs(query.extra_specs, 'extra_specs')) {
      found.push(shareIs.withExtraSpec(key, value));
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
