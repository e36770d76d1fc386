/** Share replicas: lists, one, creation, promotion, resynchronisation, states set by hand, deletion. */
import { randomUUID } from 'node:crypto';
import type { Tx } from '#db/connection.ts';
import { enqueue } from '#db/outbox.ts';
import { take, withQuota } from '#db/quotas.ts';
import { endInstance } from '#db/shareDeletion.ts';
import { findInstance } from '#db/shareInstances.ts';
import { hostNow, lockUnresized } from '#db/shareLock.ts';
import {
  countReplicas,
  findReplica,
  insertReplica,
  listReplicas,
  type ReplicaRow,
  setReplicaState,
} from '#db/shareReplicas.ts';
import { lockShare, type ShareRow } from '#db/shares.ts';
import { replicaSubject } from '#db/subjects.ts';
import { change, setStatus } from '#db/transition.ts';
import { fault } from '#domain/faults.ts';
import { readMetadata } from '#domain/metadata.ts';
import { nextLinks, readPage } from '#domain/paging.ts';
import { shareQueue } from '#domain/services.ts';
import {
  assertNotLastActive,
  assertPromotable,
  castsToReadonly,
  isActive,
  readQuiesceTime,
  replicaJobs,
  replicaLife,
  replicasQuota,
} from '#domain/shareReplicas.ts';
import { now } from '#domain/time.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';
import { holdNetwork } from './shareCreateNetwork.ts';
import { placeOf, type ReplicaPlace } from './shareReplicaPlace.ts';
import { ownShare, refuseBusy, refuseSoftDeleted } from './visible.ts';
import { visibleReplica } from './visibleReplica.ts';

export const shareReplicas = {
  listShareReplicas: ({ ctx, query }) => list(ctx, query),

  listShareReplicasDetail: ({ ctx, query }) => list(ctx, query),

  async getShareReplica({ ctx, path }) {
    return { share_replica: await visibleReplica(ctx, path.id) };
  },

  async createShareReplica({ ctx, body }) {
    const share = await ownShare(ctx, String(body.share_id), { refusal: 'shareNotFound' });
    ctx.authorize('share_replica:create', { project_id: share.project_id, user_id: share.user_id });
    const place = await placeOf(ctx, share, body);
    refuseUnreplicable(share);
    return { share_replica: await addReplica(ctx, share, place, body) };
  },

  async promoteShareReplica({ ctx, path, body }) {
    const replica = await visibleReplica(ctx, path.id, 'share_replica:promote');
    if (isActive(replica)) {
      ctx.answerWith(200); // there is nothing to do
      return {};
    }
    const quiesceSeconds = ctx.allows('promotionQuiesceTime') ? readQuiesceTime(body) : null;
    await ctx.transaction(async (tx) => {
      await lockShare(tx, replica.share_id);
      await change(tx, replicaLife.promote, replicaSubject(replica.id));
      assertPromotable(replica, ctx.isAdmin);
      await enqueue(tx, jobOf(ctx, replica, replicaLife.promote.kind, { quiesceSeconds }));
    });
    return { share_replica: await visibleReplica(ctx, replica.id) };
  },

  async resyncShareReplica({ ctx, path }) {
    const replica = await visibleReplica(ctx, path.id, 'share_replica:resync');
    if (isActive(replica)) {
      ctx.answerWith(200); // there is nothing to be nearer to
      return;
    }
    await ctx.transaction((tx) => enqueue(tx, jobOf(ctx, replica, replicaJobs.update, { asked: true })));
  },

  async resetShareReplicaStatus({ ctx, path, body }) {
    const { id } = await visibleReplica(ctx, path.id, 'share_replica:reset_status');
    await ctx.transaction((tx) => setStatus(tx, 'share_instances', id, body.status));
  },

  async resetShareReplicaState({ ctx, path, body }) {
    const { id } = await visibleReplica(ctx, path.id, 'share_replica:reset_replica_state');
    await ctx.transaction((tx) => setReplicaState(tx, id, body.replica_state));
  },

  async deleteShareReplica({ ctx, path }) {
    const replica = await visibleReplica(ctx, path.id, 'share_replica:delete');
    await ctx.transaction((tx) => beginDeletion(tx, ctx, replica, false));
  },

  async forceDeleteShareReplica({ ctx, path }) {
    const replica = await visibleReplica(ctx, path.id, 'share_replica:force_delete');
    await ctx.transaction((tx) => beginDeletion(tx, ctx, replica, true));
  },
} satisfies Partial<Handlers>;

async function list(ctx: Ctx, query: Operations['listShareReplicas']['query']) {
  const projectId = ctx.isAdmin ? null : ctx.projectId;
  const page = readPage(query, ctx.settings.osapi_max_limit);
  const found = await listReplicas(ctx.db, { projectId, shareId: query.share_id }, page);
  const links = nextLinks(ctx, 'share-replicas', found, ctx.settings.osapi_max_limit);
  return { share_replicas: found, ...(links ? { share_replica_links: links } : {}) };
}

function refuseUnreplicable(share: ShareRow): void {
  refuseSoftDeleted(share, 'replicated');
  if (share.replication_type === null) {
    throw fault('invalidReplica', {
      reason: `share ${share.id} can't have replicas: its type lacks replication_type`,
    });
  }
  if (share.share_group_id !== null) {
    throw fault('invalidReplica', {
      reason: `share ${share.id} is in share group ${share.share_group_id}: such shares have no replicas`,
    });
  }
  refuseBusy(share);
  if (!isActive(share) || share.status !== 'available') {
    throw fault('invalidReplica', { reason: `share ${share.id} has no active replica that is available` });
  }
}

/** Takes quota of the share's owner, writes the replica and the job that finds a pool for it. */
function addReplica(
  ctx: Ctx,
  share: ShareRow,
  { zone, shareNetworkId }: ReplicaPlace,
  asked: Operations['createShareReplica']['body'],
): Promise<ReplicaRow> {
  const id = randomUUID();
  const metadata = readMetadata(asked.metadata);
  const owner = { projectId: share.project_id, userId: share.user_id, shareTypeId: share.share_type };
  return withQuota(ctx.db, async (tx) => {
    await lockUnresized(tx, share);
    await holdNetwork(tx, shareNetworkId);
    await take(tx, owner, replicasQuota(share.size), ctx.settings.quota);
    await insertReplica(tx, {
      id,
      shareId: share.id,
      createdAt: now(),
      status: replicaLife.create.via,
      shareTypeId: share.share_type,
      qosTypeId: share.qos_type_id,
      availabilityZoneId: zone?.id ?? null,
      shareNetworkId,
      castRulesToReadonly: castsToReadonly(share.replication_type, null),
      metadata,
    });
    await enqueue(tx, {
      queue: 'scheduler',
      kind: replicaLife.create.kind,
      resource: share.id,
      payload: jobFor(ctx, {
        replicaId: id,
        // of others than administrators it is passed over
        onlyHost: ctx.isAdmin ? (asked.scheduler_hints?.only_host ?? null) : null,
        isAdmin: ctx.isAdmin,
      }),
    });
    // It has a state once a back end has been asked for one.
    return { ...(await findReplica(tx, id))!, replica_state: null };
  });
}

/** A job on the replica's back end. Throws invalidReplica for one that no pool has. */
function jobOf(ctx: Ctx, replica: ReplicaRow, kind: string, more: Record<string, unknown>) {
  if (replica.host === null)
    throw fault('invalidReplica', { reason: `replica ${replica.id} has no host: it was never placed` });
  return {
    kind,
    queue: shareQueue(replica.host),
    resource: replica.share_id,
    payload: jobFor(ctx, { replicaId: replica.id, ...more }),
  };
}

/** One that no pool has goes at once. `force` takes it in any state, and lets the job end even if the back end fails. */
async function beginDeletion(tx: Tx, ctx: Ctx, replica: ReplicaRow, force: boolean): Promise<void> {
  await lockShare(tx, replica.share_id);
  const current = await findReplica(tx, replica.id);
  if (!current) throw fault('shareReplicaNotFound', { id: replica.id });
  assertNotLastActive(current, (await countReplicas(tx, current.share_id)).active);
  await change(tx, replicaLife.delete, replicaSubject(replica.id), force);
  // Read again: the scheduler may have placed it since.
  const host = await hostNow(tx, replica.id);
  if (host === null) {
    const instance = await findInstance(tx, replica.id);
    if (instance) await endInstance(tx, instance);
    return;
  }
  await enqueue(tx, jobOf(ctx, { ...current, host }, replicaLife.delete.kind, { force }));
}
