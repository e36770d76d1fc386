/** Metadata of snapshots. An addition answers the pairs that were sent, unlike that of shares. */
import {
  mergeMetadata,
  metadataItem,
  metadataOf,
  removeMetadataItem,
  replaceMetadata,
  snapshotMetadata as table,
} from '#db/metadata.ts';
import { lockSnapshot } from '#db/snapshots.ts';
import { fault } from '#domain/faults.ts';
import type { Ctx } from './context.ts';
import { assertOnlyKey } from './metadataItem.ts';
import type { Handlers } from './request.ts';
import { visibleSnapshot } from './visibleSnapshot.ts';

export const snapshotMetadata = {
  async listSnapshotMetadata({ ctx, path }) {
    const snapshot = await visibleSnapshot(ctx, path.resource_id, 'share_snapshot:get_metadata');
    return { metadata: snapshot.metadata };
  },

  async createSnapshotMetadata({ ctx, path, body }) {
    await merge(ctx, path.resource_id, body);
    return { metadata: body };
  },

  async replaceSnapshotMetadata({ ctx, path, body }) {
    const { id } = await visibleSnapshot(ctx, path.resource_id, 'share_snapshot:update_metadata');
    return ctx.transaction(async (tx) => {
      await lockSnapshot(tx, id);
      await replaceMetadata(tx, table, id, body);
      return { metadata: await metadataOf(tx, table, id) };
    });
  },

  async getSnapshotMetadataItem({ ctx, path: { resource_id, key } }) {
    const { id } = await visibleSnapshot(ctx, resource_id, 'share_snapshot:get_metadata');
    const item = await metadataItem(ctx.db, table, id, key);
    if (!item) throw fault('metadataNotFound', { key });
    return { meta: { [item.key]: item.value } };
  },

  async updateSnapshotMetadataItem({ ctx, path: { resource_id, key }, body }) {
    assertOnlyKey(body, key);
    await merge(ctx, resource_id, body);
    return { metadata: body };
  },

  async deleteSnapshotMetadataItem({ ctx, path: { resource_id, key } }) {
    const { id } = await visibleSnapshot(ctx, resource_id, 'share_snapshot:delete_metadata');
    const removed = await ctx.transaction((tx) => removeMetadataItem(tx, table, id, key));
    if (!removed) throw fault('metadataNotFound', { key });
  },
} satisfies Partial<Handlers>;

async function merge(ctx: Ctx, snapshotId: string, entries: Record<string, string>): Promise<void> {
  const { id } = await visibleSnapshot(ctx, snapshotId, 'share_snapshot:update_metadata');
  await ctx.transaction(async (tx) => {
    await lockSnapshot(tx, id);
    await mergeMetadata(tx, table, id, entries);
  });
}
