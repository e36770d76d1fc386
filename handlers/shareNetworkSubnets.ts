/** Subnets of share networks: lists, one, new ones, deletion, and whether one could be added. */
import { randomUUID } from 'node:crypto';
import { findAvailabilityZone } from '#db/availabilityZones.ts';
import type { Tx } from '#db/connection.ts';
import {
  findSubnet,
  insertSubnet,
  lockSubnet,
  removeSubnet,
  type ServerInNetwork,
  type SubnetRow,
  serversOfShareNetwork,
} from '#db/shareNetworkSubnets.ts';
import { findShareNetwork, lockShareNetwork, type ShareNetworkRow } from '#db/shareNetworks.ts';
import { fault } from '#domain/faults.ts';
import { readMetadata } from '#domain/metadata.ts';
import { refuseHalfNeutron, refuseInactive } from '#domain/shareNetworks.ts';
import { now } from '#domain/time.ts';
import type { Operations } from '#generated/handlers.ts';
import type { PolicyName } from '#generated/policies.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';
import { changeServers, deleteUnused } from './shareNetworkChange.ts';
import { verdict } from './shareNetworkVerdict.ts';
import { visibleShareNetwork } from './visibleShareNetwork.ts';

export const shareNetworkSubnets = {
  async listShareNetworkSubnets({ ctx, path }) {
    const network = await visibleShareNetwork(ctx, path.share_network_id, 'share_network_subnet:index');
    return { share_network_subnets: network.share_network_subnets.map((subnet) => shown(network, subnet)) };
  },

  async getShareNetworkSubnet({ ctx, path }) {
    const { network, subnet } = await visibleSubnet(ctx, path, 'share_network_subnet:show');
    return { share_network_subnet: shown(network, subnet) };
  },

  async createShareNetworkSubnet({ ctx, path, body }) {
    const network = await visibleShareNetwork(ctx, path.share_network_id, 'share_network_subnet:create');
    const asked = await checkSubnet(ctx, body);
    const metadata = readMetadata(body.metadata);
    const id = randomUUID();
    await ctx.transaction((tx) => addSubnet(tx, ctx, network.id, { ...asked, id, metadata }));
    return { share_network_subnet: shown(network, (await findSubnet(ctx.db, id))!) };
  },

  async deleteShareNetworkSubnet({ ctx, path }) {
    const { network, subnet } = await visibleSubnet(ctx, path, 'share_network_subnet:delete');
    await ctx.transaction((tx) => removeUnused(tx, ctx, network.id, subnet.id));
  },

  async checkShareNetworkSubnetCreate({ ctx, path, body }) {
    const network = await visibleShareNetwork(ctx, path.id, 'share_network:subnet_create_check');
    const { zone } = await checkSubnet(ctx, body);
    const servers = await serversOfShareNetwork(ctx.db, network.id, zone?.id ?? null);
    return verdict(ctx, servers, (server) => server.takesSubnets);
  },
} satisfies Partial<Handlers>;

/** A subnet of the network that the path names; notFound for one of another network. */
export async function visibleSubnet(
  ctx: Ctx,
  path: { share_network_id: string; share_network_subnet_id: string },
  policy: PolicyName,
): Promise<{ network: ShareNetworkRow; subnet: SubnetRow }> {
  const network = await visibleShareNetwork(ctx, path.share_network_id, policy);
  const id = path.share_network_subnet_id;
  const subnet = network.share_network_subnets.find((one) => one.id === id);
  if (!subnet) throw fault('shareNetworkSubnetNotFound', { id });
  return { network, subnet };
}

function shown(network: ShareNetworkRow, subnet: SubnetRow) {
  return { ...subnet, share_network_name: network.name };
}

/** The zone that a subnet is asked to be in, by name or id; 400 when there is none such. */
export async function subnetZone(ctx: Ctx, asked: unknown): Promise<{ id: string }> {
  const zone = await findAvailabilityZone(ctx.db, String(asked));
  if (!zone) {
    throw fault('invalidInput', {
      reason: `availability_zone: there is no availability zone ${JSON.stringify(asked)}`,
    });
  }
  return zone;
}

async function checkSubnet(ctx: Ctx, asked: Operations['checkShareNetworkSubnetCreate']['body']) {
  refuseHalfNeutron(asked.neutron_net_id, asked.neutron_subnet_id);
  const name = asked.availability_zone ?? null;
  return {
    zone: name === null || name === '' ? null : await subnetZone(ctx, name),
    neutronNetId: asked.neutron_net_id ?? null,
    neutronSubnetId: asked.neutron_subnet_id ?? null,
  };
}

interface AskedSubnet {
  id: string;
  zone: { id: string } | null;
  neutronNetId: string | null;
  neutronSubnetId: string | null;
  metadata: Record<string, string>;
}

async function addSubnet(tx: Tx, ctx: Ctx, shareNetworkId: string, asked: AskedSubnet): Promise<void> {
  const status = await lockShareNetwork(tx, shareNetworkId);
  if (status === undefined) throw fault('shareNetworkNotFound', { id: shareNetworkId });
  const zoneId = asked.zone?.id ?? null;
  const { share_network_subnets: subnets } = (await findShareNetwork(tx, shareNetworkId))!;
  const sameZone = subnets.some(({ availability_zone_id }) => availability_zone_id === zoneId);
  if (sameZone && !ctx.allows('severalSubnetsPerZone')) {
    throw fault('conflict', {
      reason: `Share network ${shareNetworkId} has a subnet in this availability zone; at this version it can have one only.`,
    });
  }
  const servers = sameZone ? await serversOfShareNetwork(tx, shareNetworkId, zoneId) : [];
  refuseServed(shareNetworkId, status, servers);
  const { zone: _, ...subnet } = asked;
  await insertSubnet(tx, { ...subnet, createdAt: now(), shareNetworkId, availabilityZoneId: zoneId });
  await changeServers(tx, ctx, shareNetworkId, servers, { subnetId: asked.id });
}

/** Share servers that serve the zone have to reach into the new subnet too. */
function refuseServed(shareNetworkId: string, status: string, servers: readonly ServerInNetwork[]): void {
  if (servers.length === 0) return;
  refuseInactive({ id: shareNetworkId, status });
  if (servers.every(({ takesSubnets }) => takesSubnets)) return;
  throw fault('conflict', {
    reason: `Share network ${shareNetworkId} has share servers in this availability zone, and they take no more subnets.`,
  });
}

async function removeUnused(tx: Tx, ctx: Ctx, shareNetworkId: string, id: string): Promise<void> {
  await lockShareNetwork(tx, shareNetworkId);
  if (!(await lockSubnet(tx, id))) throw fault('shareNetworkSubnetNotFound', { id });
  const servers = await serversOfShareNetwork(tx, shareNetworkId);
  const here = servers.filter(({ subnetIds }) => subnetIds.includes(id));
  await deleteUnused(tx, ctx, here, `Subnet ${id} of share network ${shareNetworkId}`);
  await removeSubnet(tx, id);
}
