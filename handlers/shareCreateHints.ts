/** Scheduler hints of a share to be made: near which shares, away from which, or in which pool. */
import { fault } from '#domain/faults.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';

type Asked = Operations['createShare']['body'];

const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;

/** Scheduler hints as the scheduler takes them; shares named in them must be ids. */
export function hintsOf(ctx: Ctx, asked: Asked): Record<string, string> {
  const hints: Record<string, string> = {};
  if (!asked.scheduler_hints || !ctx.allows('affinityHints')) return hints;
  for (const [key, value] of Object.entries(asked.scheduler_hints)) {
    if (value === null || value === undefined || !['same_host', 'different_host', 'only_host'].includes(key))
      continue;
    if (key === 'only_host') {
      if (ctx.allows('onlyHostHint')) hints[key] = String(value);
      continue;
    }
    for (const id of String(value).split(',')) {
      if (!UUID.test(id.trim()))
        throw fault('invalidInput', {
          reason: `scheduler_hints.${key}: ${id.trim()} is not the id of a share`,
        });
    }
    hints[key] = String(value);
  }
  return hints;
}

/** Affinity is remembered in metadata, so that it holds when the share moves. */
export function affinityOf(asked: Asked): Record<string, string> {
  const { same_host, different_host } = (asked.scheduler_hints ?? {}) as Record<
    string,
    string | null | undefined
  >;
  return {
    ...(same_host ? { __affinity_same_host: same_host } : {}),
    ...(different_host ? { __affinity_different_host: different_host } : {}),
  };
}
