/** Quotas of classes: the class `default` is what projects have that were given none of their own. */
import { classLimits, setClassLimits } from '#db/quotaLimits.ts';
import { fault } from '#domain/faults.ts';
import type { Limits } from '#domain/quotaLimits.ts';
import { quotaResources } from '#domain/quotas.ts';
import type { Handlers } from './request.ts';

export const quotaClassSets = {
  async getQuotaClassSet({ ctx, path }) {
    // A class is for its own members beside admins, and no token says that its project is in one.
    if (!ctx.isAdmin) throw fault('forbidden', { action: 'quota_class_set:show' });
    const limits = await classLimits(ctx.db, path.id, ctx.settings.quota);
    return { quota_class_set: { id: path.id, ...limits } };
  },

  async updateQuotaClassSet({ ctx, path, body }) {
    const limits: Limits = {};
    for (const resource of quotaResources)
      if (body[resource] !== undefined) limits[resource] = body[resource];
    await ctx.transaction((tx) => setClassLimits(tx, path.id, limits));
    return { quota_class_set: await classLimits(ctx.db, path.id, ctx.settings.quota) };
  },
} satisfies Partial<Handlers>;
