/** The share network of a share to be made: given by its owner, or that of the snapshot's share. */

import type { Tx } from '#db/connection.ts';
import { findShareNetwork, holdShareNetwork } from '#db/shareNetworks.ts';
import type { ShareTypeRow } from '#db/shareTypes.ts';
import { zonesOf } from '#domain/extraSpecs.ts';
import { fault } from '#domain/faults.ts';
import { refuseInactive, servesZone } from '#domain/shareNetworks.ts';
import { handlesShareServers } from '#domain/shareTypes.ts';
import type { Ctx } from './context.ts';
import { visibleShareNetwork } from './visibleShareNetwork.ts';

export interface NetworkWanted {
  /** as the request has it */
  asked: unknown;
  type: ShareTypeRow | null;
  /** the zone asked for, by name */
  zone: string | null;
  /** what the share is made from, and the network of that; null when from nothing */
  from: { what: string; shareNetworkId: string | null } | null;
}

/** Its id, or null for none. Throws 404 for a network that the caller can't see, 400 for one that won't do. */
export async function shareNetworkOf(ctx: Ctx, wanted: NetworkWanted): Promise<string | null> {
  const { asked, type, from } = wanted;
  const given = asked === undefined || asked === null || asked === '' ? null : String(asked);
  if (from && given !== null && given !== from.shareNetworkId) {
    throw fault('invalidInput', {
      reason: `share_network_id must be that of ${from.what}, ${from.shareNetworkId ?? 'none'}, or be left out; not ${given}`,
    });
  }
  const id = given ?? from?.shareNetworkId ?? null;
  if (id === null) {
    if (!from && handlesShareServers(type?.extra_specs ?? {}) === true) {
      throw fault('invalidInput', {
        reason: `share type ${type!.name} has driver_handles_share_servers: share_network_id must be given`,
      });
    }
    return null;
  }
  await refuseUnfit(ctx, id, wanted);
  return id;
}

/** A network has to be active, and to have a subnet where the share may go. */
async function refuseUnfit(ctx: Ctx, id: string, { type, zone, from }: NetworkWanted): Promise<void> {
  const network = from ? await findShareNetwork(ctx.db, id) : await visibleShareNetwork(ctx, id);
  if (!network) throw fault('shareNetworkNotFound', { id });
  refuseInactive(network);
  const zones = zone === null ? zonesOf(type?.extra_specs ?? {}) : [zone];
  const subnets = network.share_network_subnets;
  if (zones === null ? subnets.length > 0 : zones.some((name) => servesZone(subnets, name))) return;
  throw fault('invalidInput', {
    reason: `share network ${id} has no subnet in ${zones === null ? 'any availability zone' : `the availability zone ${zones.join(' or ')}`}`,
  });
}

/** Keeps the network from being deleted until the transaction ends; 404 when it was meanwhile. */
export async function holdNetwork(tx: Tx, id: string | null): Promise<void> {
  if (id !== null && !(await holdShareNetwork(tx, id))) throw fault('shareNetworkNotFound', { id });
}
