/** Resource locks: placed by those who may change a share or an access rule, lifted by who placed them and admins. */
import { randomUUID } from 'node:crypto';
import { removeLocks, removeLocksOfShareFor } from '#db/accessLocks.ts';
import { findAccessRule, lockAccessRule } from '#db/accessRules.ts';
import type { Queries, Tx } from '#db/connection.ts';
import {
  countResourceLocks,
  findResourceLock,
  insertResourceLock,
  isSightLocked,
  type LockFilter,
  listResourceLocks,
  type ResourceLockRow,
  resourceLockSortKeys,
  updateResourceLock,
} from '#db/resourceLocks.ts';
import { findShare, lockShare, type ShareRow } from '#db/shares.ts';
import { readBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { nextLinks, readOrder, readPage } from '#domain/paging.ts';
import { assertKept, assertLockable, type LockedType, lockContext } from '#domain/resourceLocks.ts';
import { now } from '#domain/time.ts';
import { readTime } from '#domain/timeFilters.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';
import { ownerOf } from './shownAccess.ts';

export const resourceLocks = {
  async listResourceLocks({ ctx, query }) {
    const list = listOf(ctx, query);
    const found = await listResourceLocks(ctx.db, list);
    const counted = query.with_count !== undefined && readBoolean(query.with_count, 'with_count');
    const count = counted ? await countResourceLocks(ctx.db, list) : 0;
    const links = nextLinks(ctx, 'resource-locks', found, ctx.settings.osapi_max_limit);
    return {
      resource_locks: found,
      // None are not counted, as clients know it.
      ...(count > 0 ? { count } : {}),
      ...(links ? { resource_locks_links: links } : {}),
    };
  },

  async getResourceLock({ ctx, path }) {
    return { resource_lock: await visibleLock(ctx, path.id) };
  },

  async createResourceLock({ ctx, body }) {
    const type = body.resource_type ?? null;
    if (type === null)
      throw fault('invalidInput', { reason: 'resource_type must be given, share or access_rule' });
    const action = body.resource_action ?? 'delete';
    assertLockable(type, action);
    const lock = {
      id: randomUUID(),
      user_id: ctx.userId,
      project_id: ctx.projectId,
      resource_action: action,
      resource_type: type,
      resource_id: body.resource_id,
      lock_context: lockContext(ctx),
      lock_reason: body.lock_reason ?? null,
      created_at: now(),
    } as const;
    await ctx.transaction(async (tx) => {
      await lockResource(tx, ctx, type, body.resource_id);
      if (action === 'show') await refuseHiddenTwice(tx, lock, 'conflict');
      await insertResourceLock(tx, lock);
    });
    return { resource_lock: { ...lock, updated_at: null } };
  },

  async updateResourceLock({ ctx, path, body }) {
    const lock = await visibleLock(ctx, path.id);
    ctx.authorize('resource_lock:update', lock);
    const action = body.resource_action ?? undefined;
    if (action) assertLockable(lock.resource_type, action);
    await ctx.transaction(async (tx) => {
      if (lock.resource_type === 'access_rule') await lockAccessRule(tx, lock.resource_id);
      if (action === 'show') {
        await refuseHiddenTwice(tx, lock, 'invalidInput');
        await removeLocksOfShareFor(tx, [lock.id]);
      }
      await updateResourceLock(tx, lock.id, { action, reason: body.lock_reason });
    });
    return { resource_lock: await visibleLock(ctx, path.id) };
  },

  async deleteResourceLock({ ctx, path }) {
    const lock = await visibleLock(ctx, path.id);
    ctx.authorize('resource_lock:delete', lock);
    await ctx.transaction((tx) => removeLocks(tx, [lock.id]));
  },
} satisfies Partial<Handlers>;

/** Another project's lock is not there. */
async function visibleLock(ctx: Ctx, id: string): Promise<ResourceLockRow> {
  const lock = await findResourceLock(ctx.db, id);
  if (!lock || !ctx.can('resource_lock:get', { project_id: lock.project_id, user_id: lock.user_id }))
    throw fault('resourceLockNotFound', { id });
  return lock;
}

/**
 * Locks the row of what is to be locked, if the caller may change it and there is something to keep: a deletion that
 * begins meanwhile waits, and sees the lock.
 */
async function lockResource(tx: Tx, ctx: Ctx, type: LockedType, id: string): Promise<void> {
  const share = await shareOf(tx, type, id);
  if (!share) throw fault('invalidInput', { reason: `there is no ${type} ${id}` });
  ctx.authorize('resource_lock:create', ownerOf(share));
  await lockShare(tx, share.id);
  if (type === 'access_rule') {
    await lockAccessRule(tx, id);
    const rule = await findAccessRule(tx, id);
    return assertKept(type, id, rule?.state ?? 'denying');
  }
  // Read again: it may have been on its way out before its row was ours.
  const current = await findShare(tx, id);
  assertKept(type, id, current?.status ?? 'deleting');
  if (current?.is_soft_deleted)
    throw fault('conflict', { reason: `Share ${id} is in the recycle bin and can't be locked.` });
}

/** The share that a resource is, or belongs to. */
async function shareOf(db: Queries, type: LockedType, id: string): Promise<ShareRow | undefined> {
  if (type === 'share') return findShare(db, id);
  const rule = await findAccessRule(db, id);
  return rule && findShare(db, rule.share_id);
}

/** A rule is hidden by one lock at most. */
async function refuseHiddenTwice(
  tx: Tx,
  lock: { id: string; resource_id: string },
  refusal: 'conflict' | 'invalidInput',
): Promise<void> {
  if (await isSightLocked(tx, lock.resource_id, lock.id))
    throw fault(refusal, { reason: `Access rule ${lock.resource_id} has a lock on its sight already.` });
}

const filters: readonly LockFilter[] = [
  'user_id',
  'resource_id',
  'resource_type',
  'resource_action',
  'lock_context',
  'lock_reason',
];

function listOf(ctx: Ctx, query: Operations['listResourceLocks']['query']) {
  const { created_since, created_before } = query;
  const project = projectOf(ctx, query);
  return {
    equal: {
      ...Object.fromEntries(filters.flatMap((key) => (query[key] === undefined ? [] : [[key, query[key]]]))),
      ...(project === null ? {} : { project_id: project }),
    },
    ...(created_since === undefined ? {} : { since: readTime(created_since, 'created_since') }),
    ...(created_before === undefined ? {} : { before: readTime(created_before, 'created_before') }),
    order: readOrder(query, resourceLockSortKeys),
    page: readPage(query, ctx.settings.osapi_max_limit),
  };
}

/** Whose locks: the caller's project's; another's, or everybody's (null), for who may list those. */
function projectOf(ctx: Ctx, query: Operations['listResourceLocks']['query']): string | null {
  if (query.project_id !== undefined) {
    if (query.project_id !== ctx.projectId) ctx.authorize('resource_lock:get_all_projects');
    return query.project_id;
  }
  const all = query.all_projects !== undefined && readBoolean(query.all_projects, 'all_projects');
  return all && ctx.can('resource_lock:get_all_projects') ? null : ctx.projectId;
}
