/** Where a replica may go: the availability zone and the share network that were asked for, or the share's own. */
import { findAvailabilityZone } from '#db/availabilityZones.ts';
import type { ShareRow } from '#db/shares.ts';
import { findShareType, type ShareTypeRow } from '#db/shareTypes.ts';
import { zonesOf } from '#domain/extraSpecs.ts';
import { Fault, fault } from '#domain/faults.ts';
import { handlesShareServers } from '#domain/shareTypes.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import { shareNetworkOf } from './shareCreateNetwork.ts';

export interface ReplicaPlace {
  /** null: any that the type allows */
  zone: { id: string; name: string } | null;
  shareNetworkId: string | null;
}

type Asked = Operations['createShareReplica']['body'];

/** Throws 400 for a zone or network that isn't there, or won't do for a replica of the share. */
export async function placeOf(ctx: Ctx, share: ShareRow, asked: Asked): Promise<ReplicaPlace> {
  const type =
    share.share_type === null ? null : ((await findShareType(ctx.db, share.share_type, null)) ?? null);
  const zone = await zoneOf(ctx, type, asked.availability_zone ?? null);
  const shareNetworkId = await networkOf(
    ctx,
    share,
    type,
    zone?.name ?? null,
    asked.share_network_id ?? null,
  );
  return { zone, shareNetworkId };
}

async function zoneOf(ctx: Ctx, type: ShareTypeRow | null, asked: string | number | null) {
  if (asked === null) return null;
  const zone = await findAvailabilityZone(ctx.db, String(asked));
  if (!zone) throw fault('availabilityZoneNotFound', { name: asked }, 400);
  const allowed = zonesOf(type?.extra_specs ?? {});
  if (allowed && !allowed.includes(zone.name)) {
    throw fault('invalidInput', {
      reason: `share type ${type!.name} allows the availability zones ${allowed.join(', ')}; not ${zone.name}`,
    });
  }
  return zone;
}

async function networkOf(
  ctx: Ctx,
  share: ShareRow,
  type: ShareTypeRow | null,
  zone: string | null,
  given: string | number | null,
): Promise<string | null> {
  try {
    const asked = given ?? share.share_network_id;
    const id = await shareNetworkOf(ctx, { asked, type, zone, from: null });
    if (id === null || handlesShareServers(type?.extra_specs ?? {}) === true) return id;
  } catch (error) {
    // What is 404 where a share is made is 400 here.
    if (error instanceof Fault && error.code === 'shareNetworkNotFound')
      throw fault('shareNetworkNotFound', { id: given }, 400);
    throw error;
  }
  throw fault('invalidInput', {
    reason: `share type ${type?.name ?? '(none)'} has no driver_handles_share_servers: share_network_id can't be given`,
  });
}
