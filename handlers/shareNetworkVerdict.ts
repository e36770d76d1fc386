/** The answer to the question whether a share network in use could be changed. */
import type { ServerInNetwork } from '#db/shareNetworkSubnets.ts';
import type { Ctx } from './context.ts';

/** What a check answers: all of the servers would do; to administrators, by back end. */
export function verdict(
  ctx: Ctx,
  servers: readonly ServerInNetwork[],
  willDo: (server: ServerInNetwork) => boolean,
): { compatible: boolean; hosts_check_result?: Record<string, boolean> } {
  const byHost: Record<string, boolean> = {};
  for (const server of servers) byHost[server.host] = (byHost[server.host] ?? true) && willDo(server);
  const compatible = Object.values(byHost).every(Boolean);
  return ctx.isAdmin ? { compatible, hosts_check_result: byHost } : { compatible };
}
