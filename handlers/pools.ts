/** What the scheduler chooses from: the pools of share services that are up and enabled. */
import { shareServices } from '#db/services.ts';
import { findShareTypeByNameOrId } from '#db/shareTypes.ts';
import { fault } from '#domain/faults.ts';
import { type Pool, poolsIn, suitsType } from '#domain/pools.ts';
import { isUp } from '#domain/services.ts';
import type { Schemas } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import { startsWithMatch } from './patterns.ts';
import type { Handlers } from './request.ts';

export const pools = {
  async listPools({ ctx, query }) {
    return { pools: await poolsFor(ctx, query) };
  },

  async listPoolsDetail({ ctx, query }) {
    return { pools: await poolsFor(ctx, query) };
  },
} satisfies Partial<Handlers>;

async function poolsFor(ctx: Ctx, query: Schemas['PoolFilter']): Promise<Pool[]> {
  const { share_type, ...patterns } = query;
  let found = await knownPools(ctx);
  for (const [key, pattern] of Object.entries(patterns) as ['host' | 'backend' | 'pool', string][]) {
    const matching = startsWithMatch(
      pattern,
      found.map((pool) => pool[key]),
      key,
    );
    found = found.filter((_, i) => matching[i]);
  }
  if (!share_type) return found;
  const type = await findShareTypeByNameOrId(ctx.db, share_type, null);
  if (!type) throw fault('shareTypeNotFound', { id: share_type }, 400);
  return found.filter((pool) => suitsType(pool, type.extra_specs));
}

async function knownPools(ctx: Ctx): Promise<Pool[]> {
  const services = await shareServices(ctx.db);
  const working = services.filter(
    (service) => !service.disabled && isUp(service, ctx.settings.service_down_time),
  );
  const hosts = new Set(working.map(({ host }) => host));
  const reports = await ctx.reports().catch(() => {
    throw fault('unavailable', { reason: 'the reports of back ends can not be read now' });
  });
  return reports.filter(({ host }) => hosts.has(host)).flatMap(poolsIn);
}
