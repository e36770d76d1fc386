/** What every job is told of the request that made it necessary. */
import type { Ctx } from './context.ts';

/** The payload of a job: the requester, and the ids that it is about. */
export function jobFor<T extends Record<string, unknown>>(
  ctx: Ctx,
  ids: T,
): T & { requestId: string; projectId: string; userId: string } {
  return { requestId: ctx.requestId, projectId: ctx.projectId, userId: ctx.userId, ...ids };
}
