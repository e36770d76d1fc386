/** Shares: creation, lists, one, changes of name, deletion. */

import type { Tx } from '#db/connection.ts';
import { withQuota } from '#db/quotas.ts';
import { beginShareDeletion } from '#db/shareDeletion.ts';
import { hasLocks, holdersOf } from '#db/shareHolds.ts';
import {
  countShares,
  listShareNames,
  listShares,
  lockShare,
  type ShareRow,
  shareSortKeys,
  updateShare,
} from '#db/shares.ts';
import { readBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { nextLinks, readOrder, readPage } from '#domain/paging.ts';
import { shareLife } from '#domain/shares.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';
import { createShare } from './shareCreate.ts';
import { shareConditions } from './shareFilters.ts';
import { ownShare, refuseBusy, refuseSoftDeleted, visibleShare } from './visible.ts';

export const shares = {
  async listShares({ ctx, query }) {
    const list = listOf(ctx, query);
    const found = await listShareNames(ctx.db, list);
    return { shares: found, ...(await around(ctx, query, found, list.where)) };
  },

  async listSharesDetail({ ctx, query }) {
    const list = { ...listOf(ctx, query), withPaths: ctx.allows('exportLocationsInShares') };
    const found = await listShares(ctx.db, list);
    return { shares: found.map(shown), ...(await around(ctx, query, found, list.where)) };
  },

  async createShare({ ctx, body }) {
    return { share: shown(await createShare(ctx, body)) };
  },

  async getShare({ ctx, path }) {
    return {
      share: shown(await visibleShare(ctx, path.id, { withPaths: ctx.allows('exportLocationsInShares') })),
    };
  },

  async updateShare({ ctx, path, body }) {
    const share = await ownShare(ctx, path.id);
    ctx.authorize('share:update', share);
    refuseSoftDeleted(share, 'updated');
    const isPublic =
      body.is_public === undefined || body.is_public === null
        ? undefined
        : readBoolean(body.is_public, 'is_public');
    if (isPublic && !ctx.can('share:set_public_share', share)) {
      throw fault('notAllowed', { reason: 'Making shares public is not allowed: is_public must be false.' });
    }
    await ctx.transaction((tx) =>
      updateShare(tx, share.id, { name: body.display_name, description: body.display_description, isPublic }),
    );
    return {
      share: shown(await visibleShare(ctx, share.id, { withPaths: ctx.allows('exportLocationsInShares') })),
    };
  },

  async deleteShare({ ctx, path, query }) {
    const share = await ownShare(ctx, path.id);
    ctx.authorize('share:delete', share);
    if (share.share_group_id !== null && query.share_group_id !== share.share_group_id) {
      throw fault('invalidInput', {
        reason: `share ${share.id} is in a share group, and is deleted only when share_group_id names that`,
      });
    }
    await withQuota(ctx.db, (tx) => deleteShare(tx, ctx, share));
  },
} satisfies Partial<Handlers>;

/** Begins the deletion of a share that nothing holds. `force` takes it from any state. */
export async function deleteShare(tx: Tx, ctx: Ctx, share: ShareRow, force = false): Promise<void> {
  await lockShare(tx, share.id);
  // One that moves is refused for its status, as any other that something is done to.
  if (force || share.status !== shareLife.migrate.via) refuseBusy(share);
  await refuseHeld(tx, share, force);
  const deferred = ctx.settings.is_deferred_deletion_enabled;
  await beginShareDeletion(tx, share, jobFor(ctx, {}), { force, deferred });
}

/** What must go before a share can: snapshots, its own and those of its group, replicas, backups, locks. */
async function refuseHeld(tx: Tx, share: ShareRow, force: boolean): Promise<void> {
  const refuse = (why: string) => {
    throw fault(force ? 'invalidShare' : 'notAllowed', { reason: `Share ${share.id} ${why}.` });
  };
  const held = await holdersOf(tx, share.id);
  if (held.snapshots > 0) refuse(`has ${held.snapshots} snapshot(s); delete them first`);
  if (held.groupSnapshots > 0)
    refuse(`is in ${held.groupSnapshots} share group snapshot(s); delete them first`);
  if (held.replicas > 1)
    throw fault('conflict', { reason: `Share ${share.id} has replicas; delete them first.` });
  if (held.backups > 0) refuse(`has ${held.backups} backup(s); delete them first`);
  if (await hasLocks(tx, share.id)) refuse('is locked against deletion; remove its resource locks first');
}

type Shown = Operations['getShare']['result']['share'];

/**
 * A row as the contract has it: the first export location apart, where old versions show them; no size until the
 * back end has told it.
 */
export function shown(row: ShareRow): Shown {
  const size = row.status === shareLife.manage.via ? null : row.size;
  return { ...row, size, export_location: row.export_locations?.[0] ?? null };
}

type Query = Readonly<Record<string, unknown>>;

function listOf(ctx: Ctx, query: Query) {
  const page = readPage(query, ctx.settings.osapi_max_limit);
  return {
    where: shareConditions(ctx, query),
    order: readOrder(query, shareSortKeys),
    // An offset counts only beside a limit, here as in the API that clients know.
    page: page.limit === null ? { ...page, offset: 0 } : page,
  };
}

async function around(
  ctx: Ctx,
  query: Query,
  found: readonly { id: string }[],
  where: ReturnType<typeof shareConditions>,
) {
  const links = nextLinks(ctx, 'shares', found, ctx.settings.osapi_max_limit);
  const counted = query.with_count !== undefined && readBoolean(query.with_count, 'with_count');
  return {
    ...(counted ? { count: await countShares(ctx.db, where) } : {}),
    ...(links ? { shares_links: links } : {}),
  };
}
