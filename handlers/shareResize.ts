/** Growing and shrinking a share. */

import { reserve, withQuota } from '#db/quotas.ts';
import { lockUnresized } from '#db/shareLock.ts';
import { replicaSizes } from '#db/shareReplicas.ts';
import type { ShareRow } from '#db/shares.ts';
import { findShareType } from '#db/shareTypes.ts';
import { standingSubject } from '#db/subjects.ts';
import { transition } from '#db/transition.ts';
import { readBoolean } from '#domain/booleans.ts';
import { Fault, fault } from '#domain/faults.ts';
import { shareQueue } from '#domain/services.ts';
import { shareJobs, shareLife } from '#domain/shares.ts';
import { sizeProblem } from '#domain/shareTypeSpecs.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';
import { hostOf, ownShare, refuseBusy, refuseSoftDeleted } from './visible.ts';

export const shareResize = {
  async extendShare({ ctx, path, body }) {
    const share = await ownShare(ctx, path.id);
    ctx.authorize('share:extend', share);
    const force = ctx.allows('forcedExtend') && body.force !== undefined && readBoolean(body.force, 'force');
    if (force) ctx.authorize('share:force_extend', share);
    refuseSoftDeleted(share, 'extended');
    refuseBusy(share);
    const size = sizeOf(body.new_size);
    if (size <= share.size)
      throw fault('invalidInput', {
        reason: `new_size ${size} must be greater than the share's ${share.size} GiB`,
      });
    await checkBounds(ctx, share, size);
    await extend(ctx, share, size, force);
  },

  async shrinkShare({ ctx, path, body }) {
    const share = await ownShare(ctx, path.id);
    ctx.authorize('share:shrink', share);
    refuseSoftDeleted(share, 'shrunk');
    refuseBusy(share);
    const size = sizeOf(body.new_size);
    if (size <= 0 || size >= share.size) {
      throw fault('invalidInput', {
        reason: `new_size ${size} must be greater than 0 and less than the share's ${share.size} GiB`,
      });
    }
    const queue = shareQueue(hostOf(share));
    await ctx.transaction(async (tx) => {
      await lockUnresized(tx, share);
      await transition(tx, shareLife.shrink, standingSubject(share), {
        queue,
        resource: share.id,
        payload: jobFor(ctx, {
          shareId: share.id,
          instanceId: share.instance_id,
          oldSize: share.size,
          newSize: size,
        }),
      });
    });
  },
} satisfies Partial<Handlers>;

/** The growth is held as a reservation until the back end has grown the share. */
async function extend(ctx: Ctx, share: ShareRow, size: number, force: boolean): Promise<void> {
  const owner = { projectId: share.project_id, userId: share.user_id, shareTypeId: share.share_type };
  const backend = shareQueue(hostOf(share));
  const growth = size - share.size;
  try {
    await withQuota(ctx.db, async (tx) => {
      await lockUnresized(tx, share);
      const replicated = await replicaSizes(
        tx,
        { id: share.id, replicationType: share.replication_type },
        growth,
      );
      const deltas = { gigabytes: growth, per_share_gigabytes: size, ...replicated };
      const reservation = await reserve(
        tx,
        owner,
        deltas,
        ctx.settings.quota,
        ctx.settings.quota.reservation_expire,
      );
      const payload = jobFor(ctx, {
        shareId: share.id,
        instanceId: share.instance_id,
        oldSize: share.size,
        newSize: size,
        reservation,
      });
      const step = force ? { ...shareLife.extend, kind: shareJobs.grow } : shareLife.extend;
      const queue = force ? backend : 'scheduler';
      await transition(tx, step, standingSubject(share), { queue, resource: share.id, payload });
    });
  } catch (error) {
    // This operation answers a full quota with 403.
    if (error instanceof Fault && error.code === 'overQuota')
      throw fault('notAllowed', { reason: error.message });
    throw error;
  }
}

function sizeOf(asked: unknown): number {
  const size = Number(asked);
  if (!Number.isSafeInteger(size) || size > 2 ** 31 - 1)
    throw fault('invalidInput', {
      reason: `new_size ${JSON.stringify(asked)} must be a whole number of GiB`,
    });
  return size;
}

async function checkBounds(ctx: Ctx, share: ShareRow, size: number): Promise<void> {
  const type = share.share_type === null ? undefined : await findShareType(ctx.db, share.share_type, null);
  if (!type) return;
  const sizing = ctx.can('share:extend_beyond_max_share_size_spec', share) ? 'extendAsAdmin' : 'extend';
  const problem = sizeProblem(type.extra_specs, size, sizing);
  if (problem) throw fault('invalidInput', { reason: `share type ${type.name}: ${problem}` });
}
