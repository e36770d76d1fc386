/** Security services of share networks: added, replaced, removed, and whether they could be. */
import type { Tx } from '#db/connection.ts';
import {
  addServiceToNetwork,
  findSecurityService,
  lockSecurityService,
  removeServiceFromNetwork,
  type SecurityServiceRow,
  securityServicesOf,
} from '#db/securityServices.ts';
import { type ServerInNetwork, serversOfShareNetwork } from '#db/shareNetworkSubnets.ts';
import { lockShareNetwork, type ShareNetworkRow } from '#db/shareNetworks.ts';
import { readBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { refuseReplacement, refuseSecondOfType } from '#domain/securityServices.ts';
import { refuseInactive } from '#domain/shareNetworks.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';
import { changeServers } from './shareNetworkChange.ts';
import { shownNetwork } from './shareNetworks.ts';
import { verdict } from './shareNetworkVerdict.ts';
import { visibleShareNetwork } from './visibleShareNetwork.ts';

export const shareNetworkSecurity = {
  async addShareNetworkSecurityService({ ctx, path, body }) {
    const network = await visibleShareNetwork(ctx, path.id, 'share_network:add_security_service');
    refuseInactive(network);
    const service = await usableService(ctx, body.security_service_id, 404);
    await ctx.transaction(async (tx) => {
      await lockBoth(tx, network, service.id);
      refuseSecondOfType(await securityServicesOf(tx, network.id), service, network.id);
      const servers = await takingServers(tx, ctx, network, 'be given security services');
      await addServiceToNetwork(tx, service.id, network.id);
      await changeServers(tx, ctx, network.id, servers, { securityServiceId: service.id });
    });
    return { share_network: shownNetwork(await visibleShareNetwork(ctx, network.id)) };
  },

  async checkAddShareNetworkSecurityService({ ctx, path, body }) {
    const network = await visibleShareNetwork(ctx, path.id, 'share_network:add_security_service_check');
    refuseInactive(network);
    const service = await usableService(ctx, body.security_service_id, 400);
    readFlag(body.reset_operation);
    refuseSecondOfType(await securityServicesOf(ctx.db, network.id), service, network.id);
    return {
      ...(await compatibility(ctx, network)),
      requested_operation: {
        operation: 'add_security_service' as const,
        current_security_service: null,
        new_security_service: service.id,
      },
    };
  },

  async removeShareNetworkSecurityService({ ctx, path, body }) {
    const network = await visibleShareNetwork(ctx, path.id, 'share_network:remove_security_service');
    const id = String(body.security_service_id);
    if (!(await findSecurityService(ctx.db, id))) throw fault('securityServiceNotFound', { id });
    await ctx.transaction(async (tx) => {
      await lockBoth(tx, network, id);
      if ((await serversOfShareNetwork(tx, network.id)).length > 0) {
        throw fault('notAllowed', {
          reason: `Share network ${network.id} has share servers: no security service can be taken from it.`,
        });
      }
      if (!(await removeServiceFromNetwork(tx, id, network.id))) {
        throw fault('invalidInput', {
          reason: `share network ${network.id} doesn't have security service ${id}`,
        });
      }
    });
    return { share_network: shownNetwork(await visibleShareNetwork(ctx, network.id)) };
  },

  async updateShareNetworkSecurityService({ ctx, path, body }) {
    const network = await visibleShareNetwork(ctx, path.id, 'share_network:update_security_service');
    refuseInactive(network);
    const { current, next } = await pairOf(ctx, body);
    await ctx.transaction(async (tx) => {
      await lockBoth(tx, network, next.id);
      refuseReplacement(await securityServicesOf(tx, network.id), current, next, network.id);
      const servers = await takingServers(tx, ctx, network, 'be given other security services');
      if (current.id === next.id) return;
      await removeServiceFromNetwork(tx, current.id, network.id);
      await addServiceToNetwork(tx, next.id, network.id);
      await changeServers(tx, ctx, network.id, servers, { securityServiceId: next.id });
    });
    return { share_network: shownNetwork(await visibleShareNetwork(ctx, network.id)) };
  },

  async checkUpdateShareNetworkSecurityService({ ctx, path, body }) {
    const network = await visibleShareNetwork(ctx, path.id, 'share_network:update_security_service_check');
    refuseInactive(network);
    const { current, next } = await pairOf(ctx, body);
    readFlag(body.reset_operation);
    refuseReplacement(await securityServicesOf(ctx.db, network.id), current, next, network.id);
    return {
      ...(await compatibility(ctx, network)),
      requested_operation: {
        operation: 'update_security_service' as const,
        current_security_service: current.id,
        new_security_service: next.id,
      },
    };
  },
} satisfies Partial<Handlers>;

/** A service that the caller may use. Another project's is none: its network would join with somebody's password. */
async function usableService(ctx: Ctx, given: unknown, refusal: 400 | 404): Promise<SecurityServiceRow> {
  const id = String(given);
  const service = await findSecurityService(ctx.db, id);
  if (!service || !ctx.can('security_service:show', { id, project_id: service.project_id }))
    throw fault('securityServiceNotFound', { id }, refusal);
  return service;
}

async function pairOf(ctx: Ctx, body: { current_service_id: unknown; new_service_id: unknown }) {
  const current = await usableService(ctx, body.current_service_id, 400);
  return { current, next: await usableService(ctx, body.new_service_id, 400) };
}

function readFlag(given: unknown): void {
  if (given !== undefined && given !== null) readBoolean(given, 'reset_operation');
}

async function lockBoth(tx: Tx, network: ShareNetworkRow, serviceId: string): Promise<void> {
  const status = await lockShareNetwork(tx, network.id);
  if (status === undefined) throw fault('shareNetworkNotFound', { id: network.id });
  if (!(await lockSecurityService(tx, serviceId))) throw fault('securityServiceNotFound', { id: serviceId });
}

/** The servers that have to follow; refused unless all of them, and the caller's version, can. `doing` completes "can't …". */
async function takingServers(
  tx: Tx,
  ctx: Ctx,
  network: ShareNetworkRow,
  doing: string,
): Promise<ServerInNetwork[]> {
  const servers = await serversOfShareNetwork(tx, network.id);
  const known = ctx.allows('securityServicesInUse');
  if (servers.every(({ takesSecurityServices }) => known && takesSecurityServices)) return servers;
  throw fault('notAllowed', {
    reason: `Share network ${network.id} has share servers that take no such change, and can't ${doing}.`,
  });
}

/** Whether all share servers of the network take other security services; administrators see which don't. */
async function compatibility(ctx: Ctx, network: ShareNetworkRow) {
  const servers = await serversOfShareNetwork(ctx.db, network.id);
  return verdict(ctx, servers, (server) => server.takesSecurityServices);
}
