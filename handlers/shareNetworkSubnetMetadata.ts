/** Metadata of the subnets of share networks. An addition answers the pairs that were sent, as that of snapshots does. */
import {
  mergeMetadata,
  metadataItem,
  metadataOf,
  removeMetadataItem,
  replaceMetadata,
  subnetMetadata as table,
} from '#db/metadata.ts';
import { lockSubnet } from '#db/shareNetworkSubnets.ts';
import { fault } from '#domain/faults.ts';
import type { Ctx } from './context.ts';
import { assertOnlyKey } from './metadataItem.ts';
import type { Handlers } from './request.ts';
import { visibleSubnet } from './shareNetworkSubnets.ts';

export const shareNetworkSubnetMetadata = {
  async listShareNetworkSubnetMetadata({ ctx, path }) {
    return { metadata: (await subnetOf(ctx, path, 'share_network_subnet:get_metadata')).metadata };
  },

  async createShareNetworkSubnetMetadata({ ctx, path, body }) {
    await merge(ctx, path, body);
    return { metadata: body };
  },

  async replaceShareNetworkSubnetMetadata({ ctx, path, body }) {
    const { id } = await subnetOf(ctx, path, 'share_network_subnet:update_metadata');
    return ctx.transaction(async (tx) => {
      await lockSubnet(tx, id);
      await replaceMetadata(tx, table, id, body);
      return { metadata: await metadataOf(tx, table, id) };
    });
  },

  async getShareNetworkSubnetMetadataItem({ ctx, path }) {
    const { id } = await subnetOf(ctx, path, 'share_network_subnet:get_metadata');
    const item = await metadataItem(ctx.db, table, id, path.key);
    if (!item) throw fault('metadataNotFound', { key: path.key });
    return { meta: { [item.key]: item.value } };
  },

  async updateShareNetworkSubnetMetadataItem({ ctx, path, body }) {
    assertOnlyKey(body, path.key);
    await merge(ctx, path, body);
    return { metadata: body };
  },

  async deleteShareNetworkSubnetMetadataItem({ ctx, path }) {
    const { id } = await subnetOf(ctx, path, 'share_network_subnet:delete_metadata');
    const removed = await ctx.transaction((tx) => removeMetadataItem(tx, table, id, path.key));
    if (!removed) throw fault('metadataNotFound', { key: path.key });
  },
} satisfies Partial<Handlers>;

interface SubnetPath {
  share_network_id: string;
  resource_id: string;
}

async function subnetOf(ctx: Ctx, path: SubnetPath, policy: Parameters<typeof visibleSubnet>[2]) {
  const named = { share_network_id: path.share_network_id, share_network_subnet_id: path.resource_id };
  return (await visibleSubnet(ctx, named, policy)).subnet;
}

async function merge(ctx: Ctx, path: SubnetPath, entries: Record<string, string>): Promise<void> {
  const { id } = await subnetOf(ctx, path, 'share_network_subnet:update_metadata');
  await ctx.transaction(async (tx) => {
    await lockSubnet(tx, id);
    await mergeMetadata(tx, table, id, entries);
  });
}
