/** Transfers: a project offers a share, another accepts it with the key that the first was shown. */
import { randomUUID } from 'node:crypto';
import type { Tx } from '#db/connection.ts';
import { holdersOf } from '#db/shareHolds.ts';
import { lockShare, type ShareRow } from '#db/shares.ts';
import {
  endShareTransfer,
  findShareTransfer,
  insertShareTransfer,
  listShareTransfers,
  lockShareTransfer,
  type ShareTransferRow,
  shareTransferSortKeys,
  snapshotsOfShare,
  type TransferFilter,
} from '#db/shareTransfers.ts';
import { standingSubject } from '#db/subjects.ts';
import { change, complete } from '#db/transition.ts';
import { asBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { nextLinks, readOrder, readPage } from '#domain/paging.ts';
import { shareLife } from '#domain/shares.ts';
import { assertTransferable, newTransferKey } from '#domain/shareTransfers.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';
import { acceptShareTransfer } from './shareTransferAccept.ts';
import { refuseBusy, refuseSoftDeleted, visibleShare } from './visible.ts';

export const shareTransfers = {
  async listShareTransfers({ ctx, query }) {
    return list(ctx, query);
  },

  async listShareTransfersDetail({ ctx, query }) {
    return list(ctx, query);
  },

  async getShareTransfer({ ctx, path }) {
    return { transfer: await visibleTransfer(ctx, path.id) };
  },

  async createShareTransfer({ ctx, body }) {
    const share = await offeredShare(ctx, body.share_id);
    const { key, ...kept } = newTransferKey();
    const id = randomUUID();
    const offer = {
      id,
      shareId: share.id,
      name: body.name?.trim() ?? null,
      projectId: share.project_id,
      ...kept,
    };
    await ctx.transaction(async (tx) => {
      await lockShare(tx, share.id);
      const { backups } = await holdersOf(tx, share.id);
      await change(tx, shareLife.transfer, standingSubject(share));
      assertTransferable(share, backups, await snapshotsOfShare(tx, share.id));
      await insertShareTransfer(tx, offer, ctx.settings.transfer_retention_time);
    });
    return { transfer: { ...(await visibleTransfer(ctx, id)), auth_key: key } };
  },

  async acceptShareTransfer({ ctx, path, body }) {
    await acceptShareTransfer(ctx, path.id, body.auth_key, asBoolean(body.clear_access_rules) === true);
  },

  async deleteShareTransfer({ ctx, path }) {
    const transfer = await visibleTransfer(ctx, path.id);
    ctx.authorize('share_transfer:delete', target(transfer));
    await ctx.transaction((tx) => takeBack(tx, ctx, transfer));
  },
} satisfies Partial<Handlers>;

/** Whom policies ask about: the project that offers. */
function target(transfer: ShareTransferRow) {
  return { project_id: transfer.source_project_id };
}

/** Another project's offer is not there: what it takes to accept it is its id and key. */
async function visibleTransfer(ctx: Ctx, id: string): Promise<ShareTransferRow> {
  const transfer = await findShareTransfer(ctx.db, id);
  if (!transfer || !ctx.can('share_transfer:get', target(transfer)))
    throw fault('shareTransferNotFound', { id });
  return transfer;
}

async function offeredShare(ctx: Ctx, id: string): Promise<ShareRow> {
  const share = await visibleShare(ctx, id, { refusal: 'unknownShare' });
  ctx.authorize('share_transfer:create', { project_id: share.project_id, user_id: share.user_id });
  refuseSoftDeleted(share, 'transferred');
  refuseBusy(share, 400);
  return share;
}

async function takeBack(tx: Tx, ctx: Ctx, { id }: ShareTransferRow): Promise<void> {
  const transfer = await lockShareTransfer(tx, id);
  if (!transfer) throw fault('shareTransferNotFound', { id });
  const share = await visibleShare(ctx, transfer.resource_id, { db: tx });
  if (share.status !== shareLife.transfer.via)
    throw fault('invalidShare', {
      reason: `share ${share.id} of transfer ${id} is ${share.status}, not ${shareLife.transfer.via}`,
    });
  await endShareTransfer(tx, id, null);
  await complete(tx, shareLife.transfer, 'share_instances', share.instance_id);
}

type Query = Operations['listShareTransfers']['query'];

const filters: readonly TransferFilter[] = [
  'id',
  'name',
  'resource_type',
  'resource_id',
  'source_project_id',
  'destination_project_id',
];

async function list(ctx: Ctx, query: Query) {
  const most = ctx.settings.osapi_max_limit;
  const all =
    query.all_tenants !== undefined &&
    asBoolean(query.all_tenants) !== false &&
    ctx.can('share_transfer:get_all_tenant');
  const transfers = await listShareTransfers(ctx.db, {
    equal: {
      ...Object.fromEntries(filters.flatMap((key) => (query[key] === undefined ? [] : [[key, query[key]]]))),
      ...(all ? {} : { source_project_id: ctx.projectId }),
    },
    ...(query['name~'] === undefined ? {} : { nameLike: query['name~'] }),
    order: readOrder(query, shareTransferSortKeys),
    page: readPage(query, most),
  });
  const links = nextLinks(ctx, 'share-transfers', transfers, most);
  return { transfers, ...(links ? { transfers_links: links } : {}) };
}
