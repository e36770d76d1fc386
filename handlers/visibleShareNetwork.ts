/** Finding a share network that a caller names, and none that it may not know of. */
import { findShareNetwork, type ShareNetworkRow } from '#db/shareNetworks.ts';
import { fault } from '#domain/faults.ts';
import type { PolicyName } from '#generated/policies.ts';
import type { Ctx } from './context.ts';

/**
 * The network, if the caller may see it; notFound for another project's, as for one that isn't there. `policy` is
 * what the caller wants to do to it: 403 when only that isn't allowed.
 */
export async function visibleShareNetwork(
  ctx: Ctx,
  id: string,
  policy?: PolicyName,
): Promise<ShareNetworkRow> {
  const network = await findShareNetwork(ctx.db, id);
  const target = network && { id, project_id: network.project_id, user_id: network.user_id };
  if (!target || !ctx.can('share_network:show', target)) throw fault('shareNetworkNotFound', { id });
  if (policy) ctx.authorize(policy, target);
  return network;
}
