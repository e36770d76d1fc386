/** A share network in use changes or goes: its share servers have to follow, which takes them a while. */
import type { Tx } from '#db/connection.ts';
import type { ServerInNetwork } from '#db/shareNetworkSubnets.ts';
import { addServedSubnet, lockShareServer, serverSubject, usesOfServer } from '#db/shareServers.ts';
import { setStatus, transition } from '#db/transition.ts';
import { fault } from '#domain/faults.ts';
import { shareQueue } from '#domain/services.ts';
import { serverLife } from '#domain/shareServers.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';

/** What changed: a new subnet, or a security service that is new to the network. */
export type Change = { subnetId: string } | { securityServiceId: string };

/**
 * Has each of the servers take the change. The caller has locked the network and seen that they can. Throws conflict
 * for a server that isn't active; nothing is changed then.
 */
export async function changeServers(
  tx: Tx,
  ctx: Ctx,
  networkId: string,
  servers: readonly ServerInNetwork[],
  change: Change,
): Promise<void> {
  if (servers.length === 0) return;
  const about =
    'subnetId' in change
      ? { resourceType: 'SHARE_NETWORK_SUBNET', resourceId: change.subnetId }
      : { resourceType: 'SECURITY_SERVICE', resourceId: change.securityServiceId };
  for (const { id, host } of servers) {
    await transition(tx, serverLife.update, serverSubject(id), {
      queue: shareQueue(host),
      resource: id,
      payload: jobFor(ctx, { serverId: id, networkId, ...about }),
    });
    if ('subnetId' in change) await addServedSubnet(tx, id, change.subnetId);
  }
  await setStatus(tx, 'share_networks', networkId, serverLife.update.via);
}

/**
 * Begins the deletion of servers that nothing is on, since what they serve goes. 409 with `what` when one is in use,
 * or is not to go by itself.
 */
export async function deleteUnused(
  tx: Tx,
  ctx: Ctx,
  servers: readonly ServerInNetwork[],
  what: string,
): Promise<void> {
  const deletion = { ...serverLife.delete, refused: 'conflict' } as const;
  for (const { id, host, isAutoDeletable } of servers) {
    const status = await lockShareServer(tx, id);
    if (status === undefined || status === deletion.via) continue;
    const { instances, groups } = await usesOfServer(tx, id);
    if (instances + groups > 0)
      throw fault('conflict', { reason: `${what} is used by what is on share server ${id}.` });
    if (!isAutoDeletable) {
      throw fault('conflict', {
        reason: `${what} is used by share server ${id}, which only goes when an administrator deletes it.`,
      });
    }
    await transition(tx, deletion, serverSubject(id), {
      queue: shareQueue(host),
      resource: id,
      payload: jobFor(ctx, { serverId: id }),
    });
  }
}
