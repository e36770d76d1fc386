/** Snapshots: creation, lists, one, changes of name and status, deletion. */

import { randomUUID } from 'node:crypto';
import type { Tx } from '#db/connection.ts';
import { enqueue } from '#db/outbox.ts';
import { take, withQuota } from '#db/quotas.ts';
import { lockUnresized } from '#db/shareLock.ts';
import type { ShareRow } from '#db/shares.ts';
import { beginSnapshotStep } from '#db/snapshotDeletion.ts';
import { instancesOfSnapshot, setSnapshotStatus } from '#db/snapshotInstances.ts';
import {
  countSnapshots,
  findSnapshot,
  insertSnapshot,
  listSnapshotNames,
  listSnapshots,
  lockSources,
  type SnapshotRow,
  snapshotSortKeys,
  updateSnapshot,
} from '#db/snapshots.ts';
import { asBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { readMetadata } from '#domain/metadata.ts';
import { nextLinks, readOrder, readPage } from '#domain/paging.ts';
import { shareQueue } from '#domain/services.ts';
import { assertSettable } from '#domain/settableStatuses.ts';
import { settableSnapshotStatuses, snapshotLife, snapshotsQuota } from '#domain/snapshots.ts';
import { now } from '#domain/time.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';
import { snapshotConditions } from './snapshotFilters.ts';
import { hostOf, refuseBusy, refuseSoftDeleted, visibleShare } from './visible.ts';
import { visibleSnapshot } from './visibleSnapshot.ts';

export const snapshots = {
  async listSnapshots({ ctx, query }) {
    const list = listOf(ctx, query);
    const found = await listSnapshotNames(ctx.db, list);
    return { snapshots: found, ...(await around(ctx, query, found, list)) };
  },

  async listSnapshotsDetail({ ctx, query }) {
    const list = listOf(ctx, query);
    const found = await listSnapshots(ctx.db, list);
    return { snapshots: found.map(shown), ...(await around(ctx, query, found, list)) };
  },

  async getSnapshot({ ctx, path }) {
    return { snapshot: shown(await visibleSnapshot(ctx, path.id)) };
  },

  async createSnapshot({ ctx, body }) {
    const share = await visibleShare(ctx, String(body.share_id), { refusal: 'shareNotFound' });
    ctx.authorize('share:create_snapshot', { project_id: share.project_id, user_id: share.user_id });
    refuseSoftDeleted(share, 'snapshotted');
    if (!share.snapshot_support) {
      throw fault('unsupported', {
        reason: `Share ${share.id} can't be snapshotted: its type lacks snapshot_support.`,
      });
    }
    refuseUnavailable(share, share.status);
    hostOf(share);
    refuseBusy(share, 400);
    return { snapshot: await takeSnapshot(ctx, share, body) };
  },

  async updateSnapshot({ ctx, path, body }) {
    const { id } = await visibleSnapshot(ctx, path.id, 'share:snapshot_update');
    await ctx.transaction((tx) =>
      updateSnapshot(tx, id, { name: body.display_name, description: body.display_description }),
    );
    return { snapshot: shown(await visibleSnapshot(ctx, id)) };
  },

  async deleteSnapshot({ ctx, path }) {
    const snapshot = await visibleSnapshot(ctx, path.id, 'share:delete_snapshot');
    await ctx.transaction((tx) => beginDeletion(tx, ctx, snapshot, false));
  },

  async forceDeleteSnapshot({ ctx, path }) {
    const snapshot = await visibleSnapshot(ctx, path.id, 'share_snapshot:force_delete');
    await ctx.transaction((tx) => beginDeletion(tx, ctx, snapshot, true));
  },

  async resetSnapshotStatus({ ctx, path, body }) {
    assertSettable(body.status, settableSnapshotStatuses);
    const { id } = await visibleSnapshot(ctx, path.id, 'share_snapshot:reset_status');
    await ctx.transaction((tx) => setSnapshotStatus(tx, { snapshotId: id }, body.status));
  },
} satisfies Partial<Handlers>;

type Shown = Operations['getSnapshot']['result']['snapshot'];

/** A row as the contract has it: no size until the back end has told it. */
export function shown(row: SnapshotRow): Shown {
  return row.status === snapshotLife.manage.via ? { ...row, size: null } : row;
}

/** Takes quota and writes the snapshot with one instance, and one job, for each instance of the share. */
function takeSnapshot(
  ctx: Ctx,
  share: ShareRow,
  asked: Operations['createSnapshot']['body'],
): Promise<SnapshotRow> {
  const id = randomUUID();
  const metadata = ctx.allows('snapshotMetadata') ? readMetadata(asked.metadata) : {};
  return withQuota(ctx.db, async (tx) => {
    await lockUnresized(tx, share);
    const sources = await lockSources(tx, share.id);
    refuseUnavailable(share, sources.find((source) => source.id === share.instance_id)?.status ?? 'deleted');
    // A replica that isn't there yet, or is in error, gets the snapshot when it is next looked at.
    const ready = sources.filter(({ id, status }) => id === share.instance_id || status === 'available');
    const activeFirst = ready.sort(
      (a, b) => Number(b.id === share.instance_id) - Number(a.id === share.instance_id),
    );
    const instances = activeFirst.map((source) => ({
      id: randomUUID(),
      shareInstanceId: source.id,
      host: source.host,
    }));
    await insertSnapshot(tx, {
      id,
      createdAt: now(),
      userId: ctx.userId,
      projectId: ctx.projectId,
      share,
      name: asked.name ?? asked.display_name ?? null,
      description: asked.description ?? asked.display_description ?? null,
      metadata,
      status: snapshotLife.create.via,
      instances,
    });
    const owner = { projectId: ctx.projectId, userId: ctx.userId, shareTypeId: share.share_type };
    await take(tx, owner, snapshotsQuota(share.size), ctx.settings.quota);
    for (const instance of instances) {
      await enqueue(tx, {
        kind: snapshotLife.create.kind,
        queue: shareQueue(instance.host),
        resource: share.id,
        payload: jobFor(ctx, { snapshotId: id, instanceId: instance.id }),
      });
    }
    return (await findSnapshot(tx, id))!;
  });
}

function refuseUnavailable(share: ShareRow, status: string): void {
  if (status === 'available') return;
  throw fault('invalidShare', {
    reason: `share ${share.id} is ${status}; a snapshot can be taken when it is available`,
  });
}

/** `force` takes a snapshot in any state, and lets the job end even if the back end fails. */
async function beginDeletion(tx: Tx, ctx: Ctx, snapshot: SnapshotRow, force: boolean): Promise<void> {
  const deferred = ctx.settings.is_deferred_deletion_enabled;
  const step = await beginSnapshotStep(tx, snapshot, { force, deferred });
  for (const instance of await instancesOfSnapshot(tx, snapshot.id)) {
    await enqueue(tx, {
      kind: step.kind,
      queue: shareQueue(instance.host),
      resource: snapshot.share_id,
      payload: jobFor(ctx, { snapshotId: snapshot.id, instanceId: instance.id, force }),
    });
  }
}

type Query = Operations['listSnapshotsDetail']['query'];

function listOf(ctx: Ctx, query: Query) {
  return {
    where: snapshotConditions(ctx, query),
    order: readOrder(query, snapshotSortKeys),
    page: readPage(query, ctx.settings.osapi_max_limit),
  };
}

async function around(
  ctx: Ctx,
  query: Query,
  found: readonly { id: string }[],
  { where }: ReturnType<typeof listOf>,
) {
  const links = nextLinks(ctx, 'snapshots', found, ctx.settings.osapi_max_limit);
  const counted = query.with_count !== undefined && asBoolean(query.with_count) === true;
  return {
    ...(counted ? { count: await countSnapshots(ctx.db, where) } : {}),
    ...(links ? { share_snapshots_links: links } : {}),
  };
}
