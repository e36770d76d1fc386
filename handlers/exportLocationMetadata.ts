/** Metadata of export locations. Some keys, `preferred` among them, are for admins only and outlive a replacement. */

import type { Tx } from '#db/connection.ts';
import { findShareLocation, lockLocation, exportLocationMetadata as table } from '#db/exportLocations.ts';
import {
  keysAmong,
  mergeMetadata,
  metadataItem,
  metadataOf,
  removeMetadataItem,
  replaceMetadata,
} from '#db/metadata.ts';
import type { ShareRow } from '#db/shares.ts';
import { fault } from '#domain/faults.ts';
import { readMetadata } from '#domain/metadata.ts';
import type { PolicyName } from '#generated/policies.ts';
import type { Ctx } from './context.ts';
import { assertOnlyKey } from './metadataItem.ts';
import type { Handlers } from './request.ts';
import { ownerOf } from './shownAccess.ts';
import { visibleShare } from './visible.ts';

interface Place {
  share_id: string;
  resource_id: string;
}

/** What is needed of a location: its number, as its metadata names it, and whose it is. */
interface Location {
  id: string;
  owner: string;
  share: ShareRow;
}

export const exportLocationMetadata = {
  async listExportLocationMetadata() {
    // As recorded (metadata 37, 41): the API refuses this list; clients read the metadata in the location itself.
    throw fault('invalidInput', {
      reason:
        "this list isn't served: the metadata is in the export location itself, and each pair under its key",
    });
  },

  async createExportLocationMetadata({ ctx, path, body }) {
    const entries = readMetadata(body);
    const location = await changeable(ctx, path, 'share_export_location:update_metadata');
    return { metadata: await merge(ctx, location, entries) };
  },

  async replaceExportLocationMetadata({ ctx, path, body }) {
    const entries = readMetadata(body);
    const location = await changeable(ctx, path, 'share_export_location:update_metadata');
    return changing(ctx, location, Object.keys(entries), async (tx) => {
      await replaceMetadata(tx, table, location.owner, entries, ctx.settings.admin_only_el_metadata);
      return { metadata: await metadataOf(tx, table, location.owner) };
    });
  },

  async getExportLocationMetadataItem({ ctx, path }) {
    const { owner } = await changeable(ctx, path, 'share_export_location:get_metadata');
    const item = await metadataItem(ctx.db, table, owner, path.key);
    if (!item) throw fault('metadataNotFound', { key: path.key });
    return { meta: { [item.key]: item.value } };
  },

  async updateExportLocationMetadataItem({ ctx, path, body }) {
    assertOnlyKey(body, path.key);
    const location = await changeable(ctx, path, 'share_export_location:update_metadata');
    await merge(ctx, location, readMetadata(body));
    return { metadata: body };
  },

  async deleteExportLocationMetadataItem({ ctx, path }) {
    const location = await changeable(ctx, path, 'share_export_location:delete_metadata');
    await changing(ctx, location, [path.key], async (tx) => {
      if (!(await removeMetadataItem(tx, table, location.owner, path.key))) {
        throw fault('metadataNotFound', { key: path.key });
      }
    });
  },
} satisfies Partial<Handlers>;

/** A location of a share, if the policy admits the caller to its metadata; those for admins are no exception. */
async function changeable(ctx: Ctx, { share_id, resource_id }: Place, policy: PolicyName): Promise<Location> {
  const share = await visibleShare(ctx, share_id, { refusal: 'shareNotFound' });
  ctx.authorize(policy, ownerOf(share));
  const activeReplicaOnly = ctx.allows('activeReplicaLocationsOnly');
  const location = await findShareLocation(ctx.db, { shareId: share.id, activeReplicaOnly }, resource_id);
  if (!location) throw fault('exportLocationNotFound', { id: resource_id });
  return { id: location.id, owner: String(location.number), share };
}

function merge(
  ctx: Ctx,
  location: Location,
  entries: Record<string, string>,
): Promise<Record<string, string>> {
  return changing(ctx, location, Object.keys(entries), async (tx) => {
    await mergeMetadata(tx, table, location.owner, entries);
    return metadataOf(tx, table, location.owner);
  });
}

/** One transaction that changes pairs of the given keys: nobody else's change comes between. */
async function changing<T>(
  ctx: Ctx,
  { id, owner, share }: Location,
  keys: readonly string[],
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return ctx.transaction(async (tx) => {
    if (!(await lockLocation(tx, Number(owner)))) throw fault('exportLocationNotFound', { id });
    if (!ctx.can('share_export_location:update_admin_only_metadata', ownerOf(share))) {
      const [reserved] = await keysAmong(tx, keys, ctx.settings.admin_only_el_metadata);
      if (reserved !== undefined) {
        throw fault('notAllowed', { reason: `The metadata key ${reserved} is for admins only.` });
      }
    }
    return work(tx);
  });
}
