/** Quotas of projects, of their users, and of share types in them. */
import type { Queries } from '#db/connection.ts';
import {
  classLimits,
  largestUserLimits,
  limitsOf,
  removeLimits,
  setLimits,
  usageOf,
} from '#db/quotaLimits.ts';
import { findShareTypeByNameOrId } from '#db/shareTypes.ts';
import { asBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { type Limits, limitProblem, type QuotaScope, readLimits, resourcesOf } from '#domain/quotaLimits.ts';
import type { QuotaResource } from '#domain/quotas.ts';
import type { Schemas } from '#generated/handlers.ts';
import type { PolicyName } from '#generated/policies.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';

export const quotaSets = {
  async getQuotaSet({ ctx, path, query }) {
    const scope = await scopeOf(ctx, 'quota_set:show', path.id, query);
    return { quota_set: { id: path.id, ...(await limitsShown(ctx, ctx.db, scope)) } };
  },

  async getQuotaSetDetail({ ctx, path, query }) {
    const scope = await scopeOf(ctx, 'quota_set:show', path.id, query);
    const [limits, usages] = [
      await limitsOf(ctx.db, scope, ctx.settings.quota),
      await usageOf(ctx.db, scope),
    ];
    const shown = ofEach(scope, (resource) => ({
      limit: limits.own[resource],
      ...(usages.get(resource) ?? { in_use: 0, reserved: 0 }),
    }));
    return { quota_set: { id: path.id, ...shown } as Schemas['QuotaSetDetail'] };
  },

  async getQuotaSetDefaults({ ctx, path }) {
    const limits = await classLimits(ctx.db, 'default', ctx.settings.quota);
    return { quota_set: { id: path.id, ...limits } };
  },

  async updateQuotaSet({ ctx, path, query, body }) {
    const scope = await scopeOf(ctx, 'quota_set:update', path.id, query);
    const limits = readLimits(body, scope);
    const force = asBoolean(body.force ?? false) ?? false;
    const quotaSet = await ctx.transaction(async (tx) => {
      if (!force) await refuseContradictions(ctx, tx, scope, limits);
      await setLimits(tx, scope, limits);
      return limitsShown(ctx, tx, scope);
    });
    return { quota_set: quotaSet };
  },

  async deleteQuotaSet({ ctx, path, query }) {
    const scope = await scopeOf(ctx, 'quota_set:delete', path.id, query);
    await ctx.transaction((tx) => removeLimits(tx, scope));
  },
} satisfies Partial<Handlers>;

/** Whose quotas are meant, if the caller may deal with those of the project. */
async function scopeOf(
  ctx: Ctx,
  policy: PolicyName,
  projectId: string,
  query: Schemas['QuotaScope'],
): Promise<QuotaScope> {
  ctx.authorize(policy, { project_id: projectId });
  const userId = query.user_id || null;
  if (!query.share_type) return { projectId, userId, shareTypeId: null };
  if (userId !== null) {
    throw fault('invalidQuery', {
      where: 'user_id',
      reason: 'quotas are of a user or of a share type, not of both',
    });
  }
  const type = await findShareTypeByNameOrId(ctx.db, query.share_type, ctx.isAdmin ? null : ctx.projectId);
  if (!type) throw fault('shareTypeNotFound', { id: query.share_type });
  return { projectId, userId, shareTypeId: type.id };
}

async function limitsShown(ctx: Ctx, db: Queries, scope: QuotaScope): Promise<Schemas['QuotaSet']> {
  const { own } = await limitsOf(db, scope, ctx.settings.quota);
  return ofEach(scope, (resource) => own[resource]) as Schemas['QuotaSet'];
}

function ofEach<T>(
  scope: QuotaScope,
  value: (resource: QuotaResource) => T,
): Partial<Record<QuotaResource, T>> {
  return Object.fromEntries(resourcesOf(scope).map((resource) => [resource, value(resource)]));
}

/** Refuses limits below what is used, or at odds with those of the project or of its users. */
async function refuseContradictions(ctx: Ctx, db: Queries, scope: QuotaScope, limits: Limits): Promise<void> {
  const isProject = scope.userId === null && scope.shareTypeId === null;
  const usages = await usageOf(db, scope);
  const ofUsers = isProject ? await largestUserLimits(db, scope.projectId) : new Map<string, number>();
  const { project } = await limitsOf(db, scope, ctx.settings.quota);
  for (const [resource, limit] of Object.entries(limits) as [QuotaResource, number][]) {
    const { in_use, reserved } = usages.get(resource) ?? { in_use: 0, reserved: 0 };
    const reason = limitProblem(limit, {
      used: in_use + reserved,
      projectLimit: isProject ? null : project[resource],
      largestUserLimit: ofUsers.get(resource) ?? null,
    });
    if (reason !== null) throw fault('invalidQuota', { resource, reason });
  }
}
