/** Share group snapshots: creation, lists, one with its members, changes of name and status, deletion. */
import { randomUUID } from 'node:crypto';
import type { Tx } from '#db/connection.ts';
import { enqueue } from '#db/outbox.ts';
import { take, withQuota } from '#db/quotas.ts';
import {
  findShareGroupSnapshot,
  insertShareGroupSnapshot,
  listShareGroupSnapshots,
  membersOf,
  type ShareGroupSnapshotRow,
  shareGroupSnapshotIs,
  shareGroupSnapshotSortKeys,
  shareGroupSnapshotSubject,
  updateShareGroupSnapshot,
} from '#db/shareGroupSnapshots.ts';
import { findShareGroup, lockShareGroup, type ShareGroupRow, sharesOfGroup } from '#db/shareGroups.ts';
import type { Sql } from '#db/sql.ts';
import { change, setStatus } from '#db/transition.ts';
import { fault } from '#domain/faults.ts';
import { nextLinks, readOrder, readPage } from '#domain/paging.ts';
import { shareQueue } from '#domain/services.ts';
import { shareGroupSnapshotLife } from '#domain/shareGroups.ts';
import { now } from '#domain/time.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';
import { conditionsOf, groupPage, isOverAll } from './shareGroups.ts';
import { visibleShareGroup, visibleShareGroupSnapshot } from './visibleShareGroup.ts';

export const shareGroupSnapshots = {
  listShareGroupSnapshots: ({ ctx, query }) => list(ctx, query),
  listShareGroupSnapshotsDetail: ({ ctx, query }) => list(ctx, query),

  async getShareGroupSnapshot({ ctx, path }) {
    return { share_group_snapshot: await visibleShareGroupSnapshot(ctx, path.id) };
  },

  async listShareGroupSnapshotMembers({ ctx, path, query }) {
    const { limit, offset } = readPage(query, ctx.settings.osapi_max_limit);
    const { id } = await visibleShareGroupSnapshot(ctx, path.id);
    const members = await membersOf(ctx.db, id);
    return {
      share_group_snapshot_members: members.slice(offset, limit === null ? undefined : offset + limit),
    };
  },

  async createShareGroupSnapshot({ ctx, body }) {
    const group = await visibleShareGroup(ctx, body.share_group_id, {
      policy: 'share_group_snapshot:create',
      status: 400,
    });
    return { share_group_snapshot: await takeSnapshot(ctx, group, body) };
  },

  async updateShareGroupSnapshot({ ctx, path, body }) {
    const { id } = await visibleShareGroupSnapshot(ctx, path.id, { policy: 'share_group_snapshot:update' });
    await ctx.transaction((tx) => updateShareGroupSnapshot(tx, id, body));
    return { share_group_snapshot: await visibleShareGroupSnapshot(ctx, id) };
  },

  async deleteShareGroupSnapshot({ ctx, path }) {
    const snapshot = await visibleShareGroupSnapshot(ctx, path.id, { policy: 'share_group_snapshot:delete' });
    await ctx.transaction((tx) => beginDeletion(tx, ctx, snapshot, false));
  },

  async forceDeleteShareGroupSnapshot({ ctx, path }) {
    const policy = 'share_group_snapshot:force_delete';
    const snapshot = await visibleShareGroupSnapshot(ctx, path.id, { policy });
    await ctx.transaction((tx) => beginDeletion(tx, ctx, snapshot, true));
  },

  async resetShareGroupSnapshotStatus({ ctx, path, body }) {
    const policy = 'share_group_snapshot:reset_status';
    const { id } = await visibleShareGroupSnapshot(ctx, path.id, { policy });
    await ctx.transaction((tx) => setStatus(tx, 'share_group_snapshots', id, body.status));
  },
} satisfies Partial<Handlers>;

/** Takes quota and writes the snapshot, with a member for each share that the group has now, and one job. */
function takeSnapshot(
  ctx: Ctx,
  group: ShareGroupRow,
  asked: Operations['createShareGroupSnapshot']['body'],
): Promise<ShareGroupSnapshotRow> {
  const id = randomUUID();
  return withQuota(ctx.db, async (tx) => {
    const status = await lockShareGroup(tx, group.id);
    if (status !== 'available' || group.host === null) {
      throw fault('conflict', {
        reason: `Share group ${group.id} is ${status ?? 'gone'}; a snapshot can be taken when it is available.`,
      });
    }
    const shares = await sharesOfGroup(tx, group.id);
    const busy = shares.find((share) => share.status !== 'available');
    if (busy) {
      throw fault('conflict', {
        reason: `Share ${busy.shareId} of the group is ${busy.status}; a snapshot can be taken when all are available.`,
      });
    }
    const owner = { projectId: ctx.projectId, userId: ctx.userId, shareTypeId: null };
    await take(tx, owner, { share_group_snapshots: 1 }, ctx.settings.quota);
    await insertShareGroupSnapshot(tx, {
      id,
      createdAt: now(),
      userId: ctx.userId,
      projectId: ctx.projectId,
      shareGroupId: group.id,
      name: asked.name ?? null,
      description: asked.description ?? null,
      status: shareGroupSnapshotLife.create.via,
      members: shares.map(({ instanceId, size, protocol }) => ({
        id: randomUUID(),
        shareInstanceId: instanceId,
        size,
        protocol,
      })),
    });
    await enqueue(tx, {
      kind: shareGroupSnapshotLife.create.kind,
      queue: shareQueue(group.host),
      resource: group.id,
      payload: jobFor(ctx, { groupSnapshotId: id }),
    });
    // What it will hold is shown once it is asked for: this answer has always been without.
    return { ...(await findShareGroupSnapshot(tx, id))!, members: [] };
  });
}

/** `force` takes a snapshot in any state, and lets the job end even if the back end fails. */
async function beginDeletion(
  tx: Tx,
  ctx: Ctx,
  snapshot: ShareGroupSnapshotRow,
  force: boolean,
): Promise<void> {
  await change(tx, shareGroupSnapshotLife.delete, shareGroupSnapshotSubject(snapshot.id), force);
  const group = await findShareGroup(tx, snapshot.share_group_id);
  await enqueue(tx, {
    kind: shareGroupSnapshotLife.delete.kind,
    queue: shareQueue(group?.host ?? ''),
    resource: snapshot.share_group_id,
    payload: jobFor(ctx, { groupSnapshotId: snapshot.id, force }),
  });
}

type Query = Operations['listShareGroupSnapshots']['query'];

async function list(ctx: Ctx, query: Query) {
  const scope = isOverAll(ctx, query.all_tenants) ? [] : [shareGroupSnapshotIs.ofProject(ctx.projectId)];
  const found = await listShareGroupSnapshots(ctx.db, {
    where: [...scope, ...conditionsOf(filters, query)],
    order: readOrder(query, shareGroupSnapshotSortKeys),
    page: groupPage(ctx, query),
  });
  const links = nextLinks(ctx, 'share-group-snapshots', found, ctx.settings.osapi_max_limit);
  return { share_group_snapshots: found, ...(links ? { share_group_snapshot_links: links } : {}) };
}

const filters: Readonly<Partial<Record<keyof Query, (value: string) => Sql>>> = {
  id: shareGroupSnapshotIs.withId,
  name: shareGroupSnapshotIs.named,
  description: shareGroupSnapshotIs.described,
  status: shareGroupSnapshotIs.inStatus,
  project_id: shareGroupSnapshotIs.ofProject,
  user_id: shareGroupSnapshotIs.ofUser,
  share_group_id: shareGroupSnapshotIs.ofGroup,
};
