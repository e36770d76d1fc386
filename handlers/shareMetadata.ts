/** Metadata of shares. Some keys, as configured, are for admins only: they outlive a member's replacement. */
import type { Queries } from '#db/connection.ts';
import {
  keysAmong,
  mergeMetadata,
  metadataItem,
  metadataOf,
  removeMetadataItem,
  replaceMetadata,
  shareMetadata as table,
} from '#db/metadata.ts';
import { lockShare, type ShareRow } from '#db/shares.ts';
import { fault } from '#domain/faults.ts';
import type { PolicyName } from '#generated/policies.ts';
import type { Ctx } from './context.ts';
import { assertOnlyKey } from './metadataItem.ts';
import type { Handlers } from './request.ts';
import { refuseSoftDeleted, visibleShare } from './visible.ts';

export const shareMetadata = {
  async listShareMetadata({ ctx, path }) {
    const share = await visibleShare(ctx, path.resource_id, { refusal: 'shareNotFound' });
    return { metadata: await metadataOf(ctx.db, table, share.id) };
  },

  async createShareMetadata({ ctx, path, body }) {
    const share = await changeable(ctx, path.resource_id, 'share:update_share_metadata');
    return { metadata: await merge(ctx, share, body) };
  },

  async replaceShareMetadata({ ctx, path, body }) {
    const share = await changeable(ctx, path.resource_id, 'share:update_share_metadata');
    return ctx.transaction(async (tx) => {
      await lockShare(tx, share.id);
      await refuseAdminOnly(ctx, tx, share, Object.keys(body));
      await replaceMetadata(tx, table, share.id, body, ctx.settings.admin_only_metadata);
      return { metadata: await metadataOf(tx, table, share.id) };
    });
  },

  async getShareMetadataItem({ ctx, path: { resource_id, key } }) {
    const share = await visibleShare(ctx, resource_id, { refusal: 'shareNotFound' });
    const item = await metadataItem(ctx.db, table, share.id, key);
    if (!item) throw fault('metadataNotFound', { key });
    return { meta: { [item.key]: item.value } };
  },

  async updateShareMetadataItem({ ctx, path: { resource_id, key }, body }) {
    assertOnlyKey(body, key);
    const share = await changeable(ctx, resource_id, 'share:update_share_metadata');
    await merge(ctx, share, body);
    return { metadata: body };
  },

  async deleteShareMetadataItem({ ctx, path: { resource_id, key } }) {
    const share = await changeable(ctx, resource_id, 'share:delete_share_metadata');
    await ctx.transaction(async (tx) => {
      await lockShare(tx, share.id);
      await refuseAdminOnly(ctx, tx, share, [key]);
      if (!(await removeMetadataItem(tx, table, share.id, key))) throw fault('metadataNotFound', { key });
    });
  },
} satisfies Partial<Handlers>;

/** The share, if the caller may change its metadata. A public share of another project is seen, and refused. */
async function changeable(ctx: Ctx, id: string, policy: PolicyName): Promise<ShareRow> {
  const share = await visibleShare(ctx, id, { refusal: 'shareNotFound' });
  ctx.authorize(policy, targetOf(share));
  refuseSoftDeleted(share, 'changed');
  return share;
}

function merge(ctx: Ctx, share: ShareRow, entries: Record<string, string>): Promise<Record<string, string>> {
  return ctx.transaction(async (tx) => {
    await lockShare(tx, share.id);
    await refuseAdminOnly(ctx, tx, share, Object.keys(entries));
    await mergeMetadata(tx, table, share.id, entries);
    return metadataOf(tx, table, share.id);
  });
}

/** Asked of the database, which has its own idea of when two keys are the same. */
async function refuseAdminOnly(
  ctx: Ctx,
  db: Queries,
  share: ShareRow,
  keys: readonly string[],
): Promise<void> {
  if (ctx.can('share:update_admin_only_metadata', targetOf(share))) return;
  const [first] = await keysAmong(db, keys, ctx.settings.admin_only_metadata);
  if (first !== undefined)
    throw fault('notAllowed', { reason: `The metadata key ${first} is for admins only.` });
}

/** What policies ask of a share. */
function targetOf({ id, project_id, user_id }: ShareRow) {
  return { id, project_id, user_id };
}
