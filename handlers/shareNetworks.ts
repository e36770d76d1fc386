/** Share networks: creation, lists, one, changes of name and of its Neutron network, status, deletion. */

import { randomUUID } from 'node:crypto';
import type { Tx } from '#db/connection.ts';
import { release, take, withQuota } from '#db/quotas.ts';
import { insertSubnet, redirectSubnet, serversOfShareNetwork } from '#db/shareNetworkSubnets.ts';
import {
  findShareNetwork,
  insertShareNetwork,
  listShareNetworkNames,
  listShareNetworks,
  lockShareNetwork,
  removeShareNetwork,
  type ShareNetworkRow,
  updateShareNetwork,
  usesOfShareNetwork,
} from '#db/shareNetworks.ts';
import { setStatus } from '#db/transition.ts';
import { fault } from '#domain/faults.ts';
import { networkStatuses, refuseHalfNeutron } from '#domain/shareNetworks.ts';
import { now } from '#domain/time.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';
import { deleteUnused } from './shareNetworkChange.ts';
import { networkConditions, pageOf } from './shareNetworkFilters.ts';
import { subnetZone } from './shareNetworkSubnets.ts';
import { visibleShareNetwork } from './visibleShareNetwork.ts';

export const shareNetworks = {
  async listShareNetworks({ ctx, query }) {
    const list = { where: networkConditions(ctx, query), page: pageOf(ctx, query) };
    return { share_networks: await listShareNetworkNames(ctx.db, list) };
  },

  async listShareNetworksDetail({ ctx, query }) {
    const list = { where: networkConditions(ctx, query), page: pageOf(ctx, query) };
    return { share_networks: (await listShareNetworks(ctx.db, list)).map(shownNetwork) };
  },

  async getShareNetwork({ ctx, path }) {
    return { share_network: shownNetwork(await visibleShareNetwork(ctx, path.id)) };
  },

  async createShareNetwork({ ctx, body }) {
    refuseNova(body);
    refuseHalfNeutron(body.neutron_net_id, body.neutron_subnet_id);
    const zone = body.availability_zone === undefined ? null : await subnetZone(ctx, body.availability_zone);
    return { share_network: shownNetwork(await addNetwork(ctx, body, zone)) };
  },

  async updateShareNetwork({ ctx, path, body }) {
    const network = await visibleShareNetwork(ctx, path.id, 'share_network:update');
    refuseNova(body);
    await ctx.transaction((tx) => changeNetwork(tx, network.id, body));
    return { share_network: shownNetwork(await visibleShareNetwork(ctx, path.id)) };
  },

  async deleteShareNetwork({ ctx, path }) {
    const network = await visibleShareNetwork(ctx, path.id, 'share_network:delete');
    const owner = { projectId: network.project_id, userId: network.user_id, shareTypeId: null };
    await withQuota(ctx.db, async (tx) => {
      await removeUnused(tx, ctx, network.id);
      await release(tx, owner, { share_networks: 1 });
    });
  },

  async resetShareNetworkStatus({ ctx, path, body }) {
    if (!(networkStatuses as readonly string[]).includes(body.status)) {
      throw fault('invalidInput', {
        reason: `status must be one of ${networkStatuses.join(', ')}; not ${JSON.stringify(body.status)}`,
      });
    }
    const { id } = await visibleShareNetwork(ctx, path.id, 'share_network:reset_status');
    await ctx.transaction((tx) => setStatus(tx, 'share_networks', id, body.status));
  },
} satisfies Partial<Handlers>;

/** With the fields of the subnet that is for every zone, which stood for the network before it could have several. */
export function shownNetwork(network: ShareNetworkRow) {
  const subnet = network.share_network_subnets.find(({ availability_zone }) => availability_zone === null);
  return {
    ...network,
    status: network.status as Shown['status'],
    neutron_net_id: subnet?.neutron_net_id ?? null,
    neutron_subnet_id: subnet?.neutron_subnet_id ?? null,
    network_type: subnet?.network_type ?? null,
    segmentation_id: subnet?.segmentation_id ?? null,
    cidr: subnet?.cidr ?? null,
    ip_version: subnet?.ip_version ?? null,
    gateway: subnet?.gateway ?? null,
    mtu: subnet?.mtu ?? null,
    nova_net_id: null,
  };
}

type Shown = Operations['getShareNetwork']['result']['share_network'];

function refuseNova(body: { nova_net_id?: unknown }): void {
  if (body.nova_net_id !== undefined)
    throw fault('invalidInput', { reason: 'there are no Nova networks any more: leave nova_net_id out' });
}

/** A label as it is stored; undefined stays so. */
function label(given: string | number | null | undefined): string | null | undefined {
  return typeof given === 'number' ? String(given) : given;
}

/** Takes quota and writes the network with its first subnet. */
function addNetwork(
  ctx: Ctx,
  asked: Operations['createShareNetwork']['body'],
  zone: { id: string } | null,
): Promise<ShareNetworkRow> {
  const id = randomUUID();
  const { projectId, userId } = ctx;
  const owner = { projectId, userId, shareTypeId: null };
  return withQuota(
    ctx.db,
    async (tx) => {
      await insertShareNetwork(tx, {
        id,
        createdAt: now(),
        projectId,
        userId,
        name: label(asked.name) ?? null,
        description: label(asked.description) ?? null,
      });
      await insertSubnet(tx, {
        id: randomUUID(),
        createdAt: now(),
        shareNetworkId: id,
        availabilityZoneId: zone?.id ?? null,
        neutronNetId: asked.neutron_net_id ?? null,
        neutronSubnetId: asked.neutron_subnet_id ?? null,
        metadata: {},
      });
      await take(tx, owner, { share_networks: 1 }, ctx.settings.quota);
      return (await findShareNetwork(tx, id))!;
    },
    { owner, resources: ['share_networks'] },
  );
}

async function changeNetwork(
  tx: Tx,
  id: string,
  body: Operations['updateShareNetwork']['body'],
): Promise<void> {
  if ((await lockShareNetwork(tx, id)) === undefined) throw fault('shareNetworkNotFound', { id });
  if (body.neutron_net_id !== undefined || body.neutron_subnet_id !== undefined)
    await redirectNetwork(tx, id, body);
  if (body.name !== undefined || body.description !== undefined)
    await updateShareNetwork(tx, id, { name: label(body.name), description: label(body.description) });
}

/** Points the subnet that is for every zone elsewhere. What isn't given stays. */
async function redirectNetwork(
  tx: Tx,
  id: string,
  to: { neutron_net_id?: string | null; neutron_subnet_id?: string | null },
): Promise<void> {
  if ((await serversOfShareNetwork(tx, id)).length > 0) {
    throw fault('notAllowed', {
      reason: `Share network ${id} has share servers: only its name and description can be changed.`,
    });
  }
  const network = await findShareNetwork(tx, id);
  const subnet = network?.share_network_subnets.find(({ availability_zone }) => availability_zone === null);
  if (!subnet) {
    throw fault('invalidInput', {
      reason: `share network ${id} has no subnet for all availability zones that could be changed; change its subnets`,
    });
  }
  const neutronNetId = to.neutron_net_id ?? subnet.neutron_net_id;
  const neutronSubnetId = to.neutron_subnet_id ?? subnet.neutron_subnet_id;
  if (neutronNetId === null || neutronSubnetId === null)
    throw fault('invalidInput', { reason: 'neutron_net_id and neutron_subnet_id must be given both' });
  await redirectSubnet(tx, subnet.id, { neutronNetId, neutronSubnetId });
}

/** Removes a network that nothing needs; 409 that says what does. */
async function removeUnused(tx: Tx, ctx: Ctx, id: string): Promise<void> {
  if ((await lockShareNetwork(tx, id)) === undefined) throw fault('shareNetworkNotFound', { id });
  const refuse = (reason: string) => fault('conflict', { reason: `Share network ${id} ${reason}.` });
  const uses = await usesOfShareNetwork(tx, id);
  if (uses.instances > 0) throw refuse(`is used by shares: ${uses.instances}`);
  if (uses.groups > 0) throw refuse(`is used by share groups: ${uses.groups}`);
  const subnets = (await findShareNetwork(tx, id))?.share_network_subnets ?? [];
  if (subnets.length > 1)
    throw refuse(`has ${subnets.length} subnets: remove them until one is left at most`);
  await deleteUnused(tx, ctx, await serversOfShareNetwork(tx, id), `Share network ${id}`);
  await removeShareNetwork(tx, id);
}
