/** Metadata of share replicas. An addition answers the pairs that were sent. */
import type { Tx } from '#db/connection.ts';
import {
  mergeMetadata,
  metadataItem,
  metadataOf,
  removeMetadataItem,
  replaceMetadata,
} from '#db/metadata.ts';
import { lockReplica, replicaMetadata as table } from '#db/shareReplicas.ts';
import { fault } from '#domain/faults.ts';
import type { PolicyName } from '#generated/policies.ts';
import type { Ctx } from './context.ts';
import { assertOnlyKey } from './metadataItem.ts';
import type { Handlers } from './request.ts';
import { visibleReplica } from './visibleReplica.ts';

export const shareReplicaMetadata = {
  async listShareReplicaMetadata({ ctx, path }) {
    const replica = await visibleReplica(ctx, path.resource_id, 'share_replica:get_metadata');
    return { metadata: replica.metadata };
  },

  async createShareReplicaMetadata({ ctx, path, body }) {
    await changing(ctx, path.resource_id, 'share_replica:update_metadata', (tx, id) =>
      mergeMetadata(tx, table, id, body),
    );
    return { metadata: body };
  },

  async replaceShareReplicaMetadata({ ctx, path, body }) {
    return changing(ctx, path.resource_id, 'share_replica:update_metadata', async (tx, id) => {
      await replaceMetadata(tx, table, id, body);
      return { metadata: await metadataOf(tx, table, id) };
    });
  },

  async getShareReplicaMetadataItem({ ctx, path: { resource_id, key } }) {
    const { id } = await visibleReplica(ctx, resource_id, 'share_replica:get_metadata');
    const item = await metadataItem(ctx.db, table, id, key);
    if (!item) throw fault('metadataNotFound', { key });
    return { meta: { [item.key]: item.value } };
  },

  async updateShareReplicaMetadataItem({ ctx, path: { resource_id, key }, body }) {
    assertOnlyKey(body, key);
    await changing(ctx, resource_id, 'share_replica:update_metadata', (tx, id) =>
      mergeMetadata(tx, table, id, body),
    );
    return { metadata: body };
  },

  async deleteShareReplicaMetadataItem({ ctx, path: { resource_id, key } }) {
    await changing(ctx, resource_id, 'share_replica:delete_metadata', async (tx, id) => {
      if (!(await removeMetadataItem(tx, table, id, key))) throw fault('metadataNotFound', { key });
    });
  },
} satisfies Partial<Handlers>;

/** One transaction on a replica that the caller may change: nobody else's change comes between. */
async function changing<T>(
  ctx: Ctx,
  id: string,
  policy: PolicyName,
  work: (tx: Tx, id: string) => Promise<T>,
): Promise<T> {
  await visibleReplica(ctx, id, policy);
  return ctx.transaction(async (tx) => {
    if (!(await lockReplica(tx, id))) throw fault('shareReplicaNotFound', { id });
    return work(tx, id);
  });
}
