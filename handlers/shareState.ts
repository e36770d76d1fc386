/** What admins and the recycle bin do to a share's state. */

import { withQuota } from '#db/quotas.ts';
import { restore, softDelete } from '#db/recycleBin.ts';
import { hasLocks, holdersOf } from '#db/shareHolds.ts';
import { lockShare, setTaskState } from '#db/shares.ts';
import { setStatus } from '#db/transition.ts';
import { fault } from '#domain/faults.ts';
import { softDeletable } from '#domain/shares.ts';
import type { Handlers } from './request.ts';
import { deleteShare } from './shares.ts';
import { ownShare, refuseBusy } from './visible.ts';

export const shareState = {
  async resetShareStatus({ ctx, path, body }) {
    const share = await ownShare(ctx, path.id);
    ctx.authorize('share:reset_status', share);
    const status = body.status ?? body['os-status'];
    if (!status) throw fault('invalidInput', { reason: 'the status to set must be given' });
    await ctx.transaction((tx) => setStatus(tx, 'share_instances', share.instance_id, status));
  },

  async resetShareTaskState({ ctx, path, body }) {
    const share = await ownShare(ctx, path.id);
    ctx.authorize('share:reset_task_state', share);
    const state = body.task_state === undefined ? body['os-task_state'] : body.task_state;
    if (state === undefined)
      throw fault('invalidInput', { reason: 'task_state must be given; null clears it' });
    await ctx.transaction((tx) => setTaskState(tx, share.id, state));
  },

  async forceDeleteShare({ ctx, path }) {
    const share = await ownShare(ctx, path.id);
    ctx.authorize('share:force_delete', share);
    await withQuota(ctx.db, (tx) => deleteShare(tx, ctx, share, true));
  },

  async softDeleteShare({ ctx, path }) {
    const share = await ownShare(ctx, path.id);
    ctx.authorize('share:soft_delete', share);
    refuseBusy(share);
    await ctx.transaction(async (tx) => {
      await lockShare(tx, share.id);
      const held = await holdersOf(tx, share.id);
      if (held.snapshots > 0)
        throw fault('notAllowed', {
          reason: `Share ${share.id} has ${held.snapshots} snapshot(s); delete them first.`,
        });
      if (held.groupSnapshots > 0)
        throw fault('notAllowed', {
          reason: `Share ${share.id} is in ${held.groupSnapshots} share group snapshot(s); delete them first.`,
        });
      if (held.backups > 0)
        throw fault('notAllowed', {
          reason: `Share ${share.id} has ${held.backups} backup(s); delete them first.`,
        });
      if (held.replicas > 1)
        throw fault('conflict', { reason: `Share ${share.id} has replicas; delete them first.` });
      if (await hasLocks(tx, share.id))
        throw fault('notAllowed', {
          reason: `Share ${share.id} is locked against deletion; remove its resource locks first.`,
        });
      if (!(await softDelete(tx, share.id, ctx.settings.soft_deleted_share_retention_time, softDeletable))) {
        const why = share.is_soft_deleted
          ? 'it is in the recycle bin already'
          : `it is ${share.status}; this needs it ${softDeletable.join(' or ')}`;
        throw fault('notAllowed', { reason: `Share ${share.id} can't be put into the recycle bin: ${why}.` });
      }
    });
  },

  async restoreShare({ ctx, path }) {
    const share = await ownShare(ctx, path.id);
    ctx.authorize('share:restore', share);
    if (share.is_soft_deleted) await ctx.transaction((tx) => restore(tx, share.id));
    else ctx.answerWith(200); // it wasn't in the recycle bin: done already
  },
} satisfies Partial<Handlers>;
