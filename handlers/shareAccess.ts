/** Letting clients use a share, and no longer. */
import { randomUUID } from 'node:crypto';
import { type DeletionLock, deletionLocksOf, insertAccessLocks, removeLocks } from '#db/accessLocks.ts';
import {
  accessesOf,
  accessRuleMetadata,
  findAccessRule,
  insertAccessRule,
  listAccessRules,
  lockRuledInstances,
  queueDenial,
  type RuledInstance,
} from '#db/accessRules.ts';
import type { Tx } from '#db/connection.ts';
import { mergeMetadata } from '#db/metadata.ts';
import { enqueue } from '#db/outbox.ts';
import { lockShare, type ShareRow } from '#db/shares.ts';
import {
  type Access,
  assertChangeable,
  assertNoneFailed,
  readAccess,
  readLevel,
  readRuleMetadata,
  sameAccess,
} from '#domain/accessRules.ts';
import { asBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { lockContext } from '#domain/resourceLocks.ts';
import { shareQueue } from '#domain/services.ts';
import { shareJobs } from '#domain/shares.ts';
import { now } from '#domain/time.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';
import { ownerOf, shownRule } from './shownAccess.ts';
import { refuseSoftDeleted, visibleShare } from './visible.ts';

export const shareAccess = {
  async allowShareAccess({ ctx, path, body }) {
    const share = await changeableShare(ctx, path.id, 'share:allow_access', 'opened to clients');
    const access = readAccess(body.access_type, body.access_to, {
      ipv6: ctx.allows('ipv6Access'),
      cephx: ctx.allows('cephxAccess'),
    });
    const accessLevel = readLevel(body.access_level);
    const metadata = readRuleMetadata(body.metadata);
    const locks = readLocks(ctx, share, body);
    const rule = { id: randomUUID(), shareId: share.id, createdAt: now(), ...access, accessLevel };
    await ctx.transaction(async (tx) => {
      const instances = await lockedInstances(tx, share.id);
      if (!ctx.allows('statePerAccessRule')) assertNoneFailed(instances);
      await refuseTwice(tx, share.id, access);
      await insertAccessRule(
        tx,
        rule,
        instances.map(({ id }) => id),
      );
      await mergeMetadata(tx, accessRuleMetadata, rule.id, metadata);
      if (locks) await insertAccessLocks(tx, { ...locks, ruleId: rule.id, shareId: share.id });
      await queueSync(tx, ctx, share.id, instances);
    });
    return {
      access: {
        id: rule.id,
        share_id: share.id,
        access_type: access.accessType,
        access_to: access.accessTo,
        access_level: accessLevel,
        access_key: null,
        state: 'queued_to_apply',
        share_access_rules_status: 'syncing',
        created_at: rule.createdAt,
        updated_at: null,
        metadata,
      },
    };
  },

  async denyShareAccess({ ctx, path, body }) {
    const share = await changeableShare(ctx, path.id, 'share:deny_access', 'closed to clients');
    const ruleId = String(body.access_id);
    const unrestrict = asBoolean(body.unrestrict) === true;
    await ctx.transaction(async (tx) => {
      const instances = await lockedInstances(tx, share.id);
      const rule = await findAccessRule(tx, ruleId);
      if (rule?.share_id !== share.id) throw fault('accessNotFound', { id: ruleId });
      await unlock(tx, ctx, share, await deletionLocksOf(tx, ruleId), unrestrict);
      if (await queueDenial(tx, ruleId, share.id)) await queueSync(tx, ctx, share.id, instances);
    });
  },

  async listShareAccess({ ctx, path }) {
    const share = await visibleShare(ctx, path.id);
    const rules = await listAccessRules(ctx.db, share.id);
    return { access_list: rules.map((rule) => shownRule(ctx, share, rule)) };
  },
} satisfies Partial<Handlers>;

/** A share whose rules the caller may change: one that is seen only because it is public is refused. */
export async function changeableShare(
  ctx: Ctx,
  id: string,
  policy: 'share:allow_access' | 'share:deny_access' | 'share_access_rule:update',
  doing: string,
): Promise<ShareRow> {
  const share = await visibleShare(ctx, id);
  ctx.authorize(policy, ownerOf(share));
  refuseSoftDeleted(share, doing);
  return share;
}

/** The share's instances, none of which may be busy; nobody else changes its rules until the transaction ends. */
export async function lockedInstances(tx: Tx, shareId: string): Promise<RuledInstance[]> {
  await lockShare(tx, shareId);
  const instances = await lockRuledInstances(tx, shareId);
  assertChangeable(instances);
  return instances;
}

/** A job for each instance, on the queue of its back end. */
export async function queueSync(
  tx: Tx,
  ctx: Ctx,
  shareId: string,
  instances: readonly RuledInstance[],
): Promise<void> {
  for (const { id, host } of instances) {
    await enqueue(tx, {
      queue: shareQueue(host!),
      kind: shareJobs.access,
      resource: shareId,
      payload: jobFor(ctx, { shareId, instanceId: id }),
    });
  }
}

async function refuseTwice(tx: Tx, shareId: string, access: Access): Promise<void> {
  const same = (await accessesOf(tx, shareId)).find((other) => sameAccess(other, access));
  if (same) throw fault('accessExists', { type: same.accessType, to: same.accessTo });
}

interface LocksAsked {
  lock_visibility?: unknown;
  lock_deletion?: unknown;
  lock_reason?: string | number | null;
}

/** The locks that a new rule is to have; null for none. */
function readLocks(ctx: Ctx, share: ShareRow, asked: LocksAsked) {
  const sight = asBoolean(asked.lock_visibility) === true;
  const deletion = asBoolean(asked.lock_deletion) === true;
  const reason = asked.lock_reason ?? null;
  if (!sight && !deletion) {
    if (reason !== null && reason !== '') {
      throw fault('invalidInput', { reason: 'lock_reason needs lock_visibility or lock_deletion' });
    }
    return null;
  }
  ctx.authorize('resource_lock:create', ownerOf(share));
  const { userId, projectId } = ctx;
  const context = lockContext(ctx);
  return { userId, projectId, context, sight, deletion, reason: reason === null ? null : String(reason) };
}

/** Locks against a rule's denial: refused, or removed when that is asked for and each is the caller's to remove. */
async function unlock(
  tx: Tx,
  ctx: Ctx,
  share: ShareRow,
  locks: readonly DeletionLock[],
  unrestrict: boolean,
): Promise<void> {
  if (locks.length === 0) return;
  if (!unrestrict) {
    throw fault('notAllowed', {
      reason: `The access rule of share ${share.id} is locked against deletion; remove its locks, or ask with unrestrict.`,
    });
  }
  if (!locks.every((lock) => ctx.can('resource_lock:delete', { ...lock }))) {
    throw fault('notAllowed', { reason: "The access rule has locks that aren't yours to remove." });
  }
  await removeLocks(
    tx,
    locks.map(({ id }) => id),
  );
}
