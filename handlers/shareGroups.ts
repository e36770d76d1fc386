/** Share groups: lists, one, changes of name and status, deletion. */
import type { Tx } from '#db/connection.ts';
import { enqueue } from '#db/outbox.ts';
import { release, withQuota } from '#db/quotas.ts';
import {
  contentsOf,
  listShareGroups,
  removeShareGroup,
  type ShareGroupRow,
  shareGroupIs,
  shareGroupSortKeys,
  shareGroupSubject,
  updateShareGroup,
} from '#db/shareGroups.ts';
import type { Sql } from '#db/sql.ts';
import { change, setStatus } from '#db/transition.ts';
import { asBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { nextLinks, readOrder, readPage } from '#domain/paging.ts';
import { shareQueue } from '#domain/services.ts';
import { shareGroupLife } from '#domain/shareGroups.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';
import { createShareGroup } from './shareGroupCreate.ts';
import { visibleShareGroup } from './visibleShareGroup.ts';

export const shareGroups = {
  listShareGroups: ({ ctx, query }) => list(ctx, query),
  listShareGroupsDetail: ({ ctx, query }) => list(ctx, query),

  async createShareGroup({ ctx, body }) {
    return { share_group: await createShareGroup(ctx, body) };
  },

  async getShareGroup({ ctx, path }) {
    return { share_group: await visibleShareGroup(ctx, path.id) };
  },

  async updateShareGroup({ ctx, path, body }) {
    const { id } = await visibleShareGroup(ctx, path.id, { policy: 'share_group:update' });
    await ctx.transaction((tx) => updateShareGroup(tx, id, body));
    return { share_group: await visibleShareGroup(ctx, id) };
  },

  async deleteShareGroup({ ctx, path }) {
    const group = await visibleShareGroup(ctx, path.id, { policy: 'share_group:delete' });
    await withQuota(ctx.db, (tx) => beginDeletion(tx, ctx, group, false));
  },

  async forceDeleteShareGroup({ ctx, path }) {
    const group = await visibleShareGroup(ctx, path.id, { policy: 'share_group:force_delete' });
    await withQuota(ctx.db, (tx) => beginDeletion(tx, ctx, group, true));
  },

  async resetShareGroupStatus({ ctx, path, body }) {
    const { id } = await visibleShareGroup(ctx, path.id, { policy: 'share_group:reset_status' });
    await ctx.transaction((tx) => setStatus(tx, 'share_groups', id, body.status));
  },
} satisfies Partial<Handlers>;

/** `force` takes a group in any state, and lets the job end even if the back end fails; an empty one it has to be. */
async function beginDeletion(tx: Tx, ctx: Ctx, group: ShareGroupRow, force: boolean): Promise<void> {
  // The change locks the group: shares and snapshots are added to it under the same lock.
  await change(tx, shareGroupLife.delete, shareGroupSubject(group.id), force);
  const { shares, snapshots } = await contentsOf(tx, group.id);
  const held = shares > 0 ? `${shares} share(s)` : snapshots > 0 ? `${snapshots} snapshot(s)` : null;
  if (held) {
    const reason = `Share group ${group.id} has ${held}; delete them first.`;
    throw fault('conflict', { reason }, force ? 400 : undefined);
  }
  if (group.host !== null) {
    await enqueue(tx, {
      kind: shareGroupLife.delete.kind,
      queue: shareQueue(group.host),
      resource: group.id,
      payload: jobFor(ctx, { groupId: group.id, force }),
    });
    return;
  }
  if (!(await removeShareGroup(tx, group.id))) return;
  const owner = { projectId: group.project_id, userId: group.user_id, shareTypeId: null };
  await release(tx, owner, { share_groups: 1 });
}

type Query = Operations['listShareGroups']['query'];

async function list(ctx: Ctx, query: Query) {
  const found = await listShareGroups(ctx.db, {
    where: conditions(ctx, query),
    order: readOrder(query, shareGroupSortKeys),
    page: groupPage(ctx, query),
  });
  const links = nextLinks(ctx, 'share-groups', found, ctx.settings.osapi_max_limit);
  return { share_groups: found, ...(links ? { share_groups_links: links } : {}) };
}

/** As all pages are, but that a limit of 0 is none. */
export function groupPage(ctx: Ctx, query: { limit?: string; offset?: string }) {
  const page = readPage(query, ctx.settings.osapi_max_limit);
  return page.limit === 0 ? { ...page, limit: null } : page;
}

/** Does the list go over all projects? */
export function isOverAll(ctx: Ctx, allTenants: string | undefined): boolean {
  return ctx.isAdmin && allTenants !== undefined && asBoolean(allTenants) !== false;
}

const filters: Readonly<Partial<Record<keyof Query, (value: string) => Sql>>> = {
  id: shareGroupIs.withId,
  name: shareGroupIs.named,
  'name~': shareGroupIs.namedLike,
  description: shareGroupIs.described,
  'description~': shareGroupIs.describedLike,
  status: shareGroupIs.inStatus,
  host: shareGroupIs.on,
  project_id: shareGroupIs.ofProject,
  user_id: shareGroupIs.ofUser,
  share_group_type_id: shareGroupIs.ofType,
  source_share_group_snapshot_id: shareGroupIs.fromSnapshot,
  share_network_id: shareGroupIs.onNetwork,
  share_server_id: shareGroupIs.onServer,
  availability_zone: shareGroupIs.inZone,
  consistent_snapshot_support: shareGroupIs.consistentBy,
};

function conditions(ctx: Ctx, query: Query): Sql[] {
  const scope = isOverAll(ctx, query.all_tenants) ? [] : [shareGroupIs.ofProject(ctx.projectId)];
  return [...scope, ...conditionsOf(filters, query)];
}

/** The conditions of those filters that the query has. */
export function conditionsOf<Q extends object>(
  known: Readonly<Partial<Record<keyof Q, (value: string) => Sql>>>,
  query: Q,
): Sql[] {
  return (Object.keys(known) as (keyof Q)[]).flatMap((key) => {
    const value = query[key];
    return typeof value === 'string' ? [known[key]!(value)] : [];
  });
}
