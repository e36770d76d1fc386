/** Backups: creation, lists, one, changes of name and status, restoring, deletion. */

import { randomUUID } from 'node:crypto';
import { enqueue } from '#db/outbox.ts';
import { take, withQuota } from '#db/quotas.ts';
import {
  backupIs,
  backupSortKeys,
  findBackup,
  insertBackup,
  listBackups,
  recordSource,
  type ShareBackupRow,
  updateBackup,
} from '#db/shareBackups.ts';
import { holdersOf } from '#db/shareHolds.ts';
import { hostNow, lockUnresized } from '#db/shareLock.ts';
import type { ShareRow } from '#db/shares.ts';
import type { Sql } from '#db/sql.ts';
import { backupSubject, standingSubject } from '#db/subjects.ts';
import { change, setStatus, transition } from '#db/transition.ts';
import { asBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { nextLinks, readOrder, readPage } from '#domain/paging.ts';
import { DATA_QUEUE, shareQueue } from '#domain/services.ts';
import { assertSettable } from '#domain/settableStatuses.ts';
import { assertFits, backupLife, backupsQuota, restoreTarget } from '#domain/shareBackups.ts';
import { shareLife } from '#domain/shares.ts';
import type { Operations } from '#generated/handlers.ts';
import type { PolicyName } from '#generated/policies.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';
import { hostOf, ownShare, refuseBusy, refuseSoftDeleted } from './visible.ts';

export const shareBackups = {
  listShareBackups: ({ ctx, query }) => page(ctx, query),

  listShareBackupsDetail: ({ ctx, query }) => page(ctx, query),

  async getShareBackup({ ctx, path }) {
    return { share_backup: await visibleBackup(ctx, path.id, 'share_backup:get') };
  },

  async createShareBackup({ ctx, body }) {
    const share = await ownShare(ctx, String(body.share_id), { refusal: 'unknownShare' });
    ctx.authorize('share_backup:create', share);
    refuseSoftDeleted(share, 'backed up');
    refuseBusy(share);
    hostOf(share);
    return { share_backup: await beginBackup(ctx, share, body) };
  },

  async updateShareBackup({ ctx, path, body }) {
    const { id } = await visibleBackup(ctx, path.id, 'share_backup:update');
    await ctx.transaction((tx) => updateBackup(tx, id, body));
    return { share_backup: await visibleBackup(ctx, id, 'share_backup:update') };
  },

  async deleteShareBackup({ ctx, path }) {
    const backup = await visibleBackup(ctx, path.id, 'share_backup:delete');
    const job = {
      queue: DATA_QUEUE,
      resource: backup.share_id,
      payload: jobFor(ctx, { backupId: backup.id }),
    };
    await ctx.transaction((tx) => transition(tx, backupLife.delete, backupSubject(backup.id), job));
  },

  async restoreShareBackup({ ctx, path, body }) {
    const backup = await visibleBackup(ctx, path.id, 'share_backup:restore');
    const target = ctx.allows('targetedRestore') ? restoreTarget(body) : undefined;
    const share = await ownShare(ctx, target ?? backup.share_id, { refusal: 'shareNotFound' });
    ctx.authorize('share_backup:restore', share);
    refuseSoftDeleted(share, 'written to');
    refuseBusy(share);
    assertFits(backup, share);
    hostOf(share);
    await beginRestore(ctx, backup, share);
    return { restore: { backup_id: backup.id, share_id: share.id } };
  },

  async resetShareBackupStatus({ ctx, path, body }) {
    assertSettable(body.status);
    const { id } = await visibleBackup(ctx, path.id, 'share_backup:reset_status');
    await ctx.transaction((tx) => setStatus(tx, 'share_backups', id, body.status));
  },
} satisfies Partial<Handlers>;

/** The backup, if the caller may do that to it; throws notFound for another project's, as for one that isn't there. */
async function visibleBackup(ctx: Ctx, id: string, policy: PolicyName): Promise<ShareBackupRow> {
  const backup = await findBackup(ctx.db, id);
  if (!backup || !ctx.can('share_backup:get', backup)) throw fault('backupNotFound', { id });
  ctx.authorize(policy, backup);
  return backup;
}

/** Takes quota, writes the backup and the share's state, and queues the job that attaches the share. */
function beginBackup(
  ctx: Ctx,
  share: ShareRow,
  asked: Operations['createShareBackup']['body'],
): Promise<ShareBackupRow> {
  const id = randomUUID();
  return withQuota(ctx.db, async (tx) => {
    await lockUnresized(tx, share);
    if ((await holdersOf(tx, share.id)).replicas > 1)
      throw fault('invalidShare', {
        reason: `share ${share.id} has replicas; backups are made of shares without`,
      });
    await change(tx, shareLife.backUp, standingSubject(share));
    await insertBackup(tx, {
      id,
      userId: ctx.userId,
      projectId: ctx.projectId,
      name: asked.name ?? null,
      description: asked.description ?? null,
      status: backupLife.create.via,
      share,
    });
    const owner = { projectId: ctx.projectId, userId: ctx.userId, shareTypeId: null };
    await take(tx, owner, backupsQuota(share.size), ctx.settings.quota);
    await enqueue(tx, {
      kind: backupLife.create.kind,
      queue: shareQueue((await hostNow(tx, share.instance_id))!),
      resource: share.id,
      payload: jobFor(ctx, { backupId: id, instanceId: share.instance_id }),
    });
    return (await findBackup(tx, id))!;
  });
}

/** Takes backup and share into their states, and queues the job that attaches the share. */
function beginRestore(ctx: Ctx, backup: ShareBackupRow, share: ShareRow): Promise<void> {
  return ctx.transaction(async (tx) => {
    await lockUnresized(tx, share);
    await change(tx, backupLife.restore, backupSubject(backup.id));
    await change(tx, shareLife.restoreBackup, standingSubject(share));
    await recordSource(tx, share.id, backup.id);
    await enqueue(tx, {
      kind: backupLife.restore.kind,
      queue: shareQueue((await hostNow(tx, share.instance_id))!),
      resource: share.id,
      payload: jobFor(ctx, { backupId: backup.id, instanceId: share.instance_id }),
    });
  });
}

type Query = Operations['listShareBackupsDetail']['query'];

/** A page of backups; the short list shows less of the same. */
async function page(ctx: Ctx, query: Query) {
  const found = await listBackups(ctx.db, {
    where: await conditions(ctx, query),
    order: readOrder(query, backupSortKeys),
    page: readPage(query, ctx.settings.osapi_max_limit),
  });
  const links = nextLinks(ctx, 'share-backups', found, ctx.settings.osapi_max_limit);
  return { share_backups: found, ...(links ? { share_backup_links: links } : {}) };
}

async function conditions(ctx: Ctx, query: Query): Promise<Sql[]> {
  const found = [scope(ctx, query)];
  if (query.share_id !== undefined) {
    const { id } = await ownShare(ctx, query.share_id, { refusal: 'unknownShare' });
    found.push(backupIs.ofShare(id));
  }
  if (query.name !== undefined) found.push(backupIs.named(query.name));
  if (query['name~'] !== undefined) found.push(backupIs.namedLike(query['name~']));
  if (query.description !== undefined) found.push(backupIs.described(query.description));
  if (query['description~'] !== undefined) found.push(backupIs.describedLike(query['description~']));
  if (query.status !== undefined) found.push(backupIs.inStatus(query.status));
  return found;
}

/** Whose backups: the caller's project's, or everybody's for an admin who asks so. */
function scope(ctx: Ctx, query: Query): Sql {
  const asked = query.all_tenants !== undefined && asBoolean(query.all_tenants) !== false;
  if (!asked || !ctx.can('share_backup:get_all_project')) return backupIs.ofProject(ctx.projectId);
  return query.project_id === undefined ? backupIs.anyOnes() : backupIs.ofProject(query.project_id);
}
