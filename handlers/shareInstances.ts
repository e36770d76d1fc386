/** Share instances, for admins: lists, one, a status set by hand, deletion by force. */
import type { Tx } from '#db/connection.ts';
import { withQuota } from '#db/quotas.ts';
import { shareIs } from '#db/shareConditions.ts';
import { endInstance } from '#db/shareDeletion.ts';
import { holdersOf } from '#db/shareHolds.ts';
import { findShareInstance, listShareInstances, type ShareInstanceRow } from '#db/shareInstanceLists.ts';
import { findInstance, instancesOf } from '#db/shareInstances.ts';
import { lockShare } from '#db/shares.ts';
import type { Sql } from '#db/sql.ts';
import { instanceSubject } from '#db/subjects.ts';
import { change, setStatus, transition } from '#db/transition.ts';
import { readBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { readPage } from '#domain/paging.ts';
import { shareQueue } from '#domain/services.ts';
import { deferredStates, shareLife } from '#domain/shares.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers, Request } from './request.ts';
import { visibleShare } from './visible.ts';

export const shareInstances = {
  async listShareInstances({ ctx, query }) {
    const found = await listShareInstances(ctx.db, {
      where: conditions(query),
      page: readPage(query, ctx.settings.osapi_max_limit),
      withPaths: ctx.allows('exportLocationsInShares'),
    });
    return { share_instances: found.map(shown) };
  },

  async getShareInstance({ ctx, path }) {
    const instance = await findShareInstance(ctx.db, path.id, {
      withPaths: ctx.allows('exportLocationsInShares'),
    });
    if (!instance) throw fault('shareInstanceNotFound', { id: path.id });
    return { share_instance: shown(instance) };
  },

  async listInstancesOfShare({ ctx, path }) {
    const share = await visibleShare(ctx, path.share_id);
    const found = await listShareInstances(ctx.db, {
      where: [shareIs.withId(share.id)],
      page: { limit: null, offset: 0 },
      withPaths: ctx.allows('exportLocationsInShares'),
    });
    return { share_instances: found.map(shown) };
  },

  async resetShareInstanceStatus({ ctx, path, body }) {
    if (!(await ctx.transaction((tx) => setStatus(tx, 'share_instances', path.id, body.status)))) {
      throw fault('shareInstanceNotFound', { id: path.id });
    }
  },

  async forceDeleteShareInstance({ ctx, path }) {
    await withQuota(ctx.db, (tx) => forceDelete(tx, ctx, path.id));
  },
} satisfies Partial<Handlers>;

type Shown = Operations['getShareInstance']['result']['share_instance'];

/** A row as the contract has it: the first export location apart, where old versions show them. */
function shown(row: ShareInstanceRow): Shown {
  return { ...row, export_location: row.export_locations?.[0] ?? null };
}

function conditions(query: Request<'listShareInstances'>['query']): Sql[] {
  const { host, status, share_server_id: server, export_location_id: id, export_location_path: path } = query;
  const inBin = query.is_soft_deleted !== undefined && readBoolean(query.is_soft_deleted, 'is_soft_deleted');
  return [
    shareIs.softDeleted(inBin),
    ...(host !== undefined ? [shareIs.on(host)] : []),
    ...(status !== undefined ? [shareIs.inStatus(status)] : []),
    ...(server !== undefined ? [shareIs.onServer(server)] : []),
    ...(id !== undefined ? [shareIs.exportedById(id)] : []),
    ...(path !== undefined ? [shareIs.exportedByPath(path)] : []),
  ];
}

/** Begins an instance's deletion from any state. The last one takes its share along, unless that has snapshots. */
async function forceDelete(tx: Tx, ctx: Ctx, id: string): Promise<void> {
  const instance = await findInstance(tx, id);
  if (!instance) throw fault('shareInstanceNotFound', { id });
  const { shareId, host } = instance;
  await lockShare(tx, shareId);
  const isLast = (await instancesOf(tx, shareId)).length === 1;
  const { snapshots } = await holdersOf(tx, shareId);
  if (isLast && snapshots > 0) {
    throw fault('conflict', {
      reason: `Share instance ${id} is the only one of share ${shareId}, which has ${snapshots} snapshot(s); delete them first.`,
    });
  }
  const subject = instanceSubject(id);
  const step = deferredStates.includes(instance.status) ? shareLife.deferDelete : shareLife.delete;
  if (host === null) {
    await change(tx, step, subject, true);
    await endInstance(tx, instance);
    return;
  }
  const payload = jobFor(ctx, { shareId, instanceId: id, force: true });
  await transition(tx, step, subject, { queue: shareQueue(host), resource: shareId, payload }, true);
}
