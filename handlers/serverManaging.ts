/** Share servers that back ends have already: taken under management, and let go. */
import { randomUUID } from 'node:crypto';
import { enqueue } from '#db/outbox.ts';
import { shareServices } from '#db/services.ts';
import { findSubnet, type SubnetRow, subnetsOf } from '#db/shareNetworkSubnets.ts';
import { lockShareNetwork } from '#db/shareNetworks.ts';
import { insertShareServer, lockShareServer, serverSubject, serversCalled } from '#db/shareServers.ts';
import { transition } from '#db/transition.ts';
import { fault } from '#domain/faults.ts';
import { shareQueue } from '#domain/services.ts';
import { serverLife } from '#domain/shareServers.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';
import { refuseUsed, serverOf, shownServer } from './shareServers.ts';

export const serverManaging = {
  async manageShareServer({ ctx, body }) {
    const host = await backEnd(ctx, body.host);
    const identifier = String(body.identifier).trim();
    if (identifier === '') throw fault('invalidInput', { reason: 'identifier must not be empty' });
    const subnets = await subnetsAsked(ctx, body);
    const id = randomUUID();
    await ctx.transaction(async (tx) => {
      await lockShareNetwork(tx, subnets[0]!.share_network_id);
      const known = await serversCalled(tx, host, identifier);
      if (known.length > 0)
        throw fault('invalidInput', {
          reason: `identifier ${identifier} is that of share server ${known.join(', ')}, which is managed already`,
        });
      await insertShareServer(tx, {
        id,
        host,
        status: serverLife.manage.via,
        subnetIds: subnets.map((subnet) => subnet.id),
        isAutoDeletable: false,
        identifier,
        sourceId: null,
        taskState: null,
      });
      await enqueue(tx, {
        kind: serverLife.manage.kind,
        queue: shareQueue(host),
        resource: id,
        payload: jobFor(ctx, { serverId: id, options: texts(body.driver_options ?? {}) }),
      });
    });
    return { share_server: shownServer(await serverOf(ctx.db, id)) };
  },

  async unmanageShareServer({ ctx, path, body }) {
    const server = await serverOf(ctx.db, path.id);
    await ctx.transaction(async (tx) => {
      await lockShareServer(tx, server.id);
      await refuseUsed(tx, server.id, 'invalidInput');
      await transition(tx, serverLife.unmanage, serverSubject(server.id), {
        queue: shareQueue(server.host),
        resource: server.id,
        payload: jobFor(ctx, { serverId: server.id, force: body?.force === true }),
      });
    });
  },
} satisfies Partial<Handlers>;

/** A back end, `host@backend`, that handles share servers as far as is known. */
async function backEnd(ctx: Ctx, host: string): Promise<string> {
  if (host.includes('#'))
    throw fault('invalidInput', { reason: `host must name a back end, without a pool; not ${host}` });
  const services = await shareServices(ctx.db);
  if (!services.some((service) => service.host === host))
    throw fault('invalidInput', { reason: `there is no back end ${host}` });
  const report = (await ctx.reports()).find((each) => each.host === host);
  if (report?.stats.driver_handles_share_servers === false)
    throw fault('invalidInput', { reason: `the back end ${host} has no share servers` });
  return host;
}

/** The subnet that is named, or those for every zone of the network. */
async function subnetsAsked(ctx: Ctx, asked: Operations['manageShareServer']['body']): Promise<SubnetRow[]> {
  const networkId = String(asked.share_network_id);
  if (asked.share_network_subnet_id) {
    const subnet = await findSubnet(ctx.db, asked.share_network_subnet_id);
    if (subnet?.share_network_id === networkId) return [subnet];
    throw fault('invalidInput', {
      reason: `share network ${networkId} has no subnet ${asked.share_network_subnet_id}`,
    });
  }
  const subnets = (await subnetsOf(ctx.db, networkId)).filter((subnet) => subnet.availability_zone === null);
  if (subnets.length > 0) return subnets;
  throw fault('invalidInput', {
    reason: `there is no share network ${networkId}, or it has no subnet for every availability zone`,
  });
}

/** Options of a driver's own are texts. */
function texts(options: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(options).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}
