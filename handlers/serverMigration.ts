/** Share servers move: asking whether one could, starting it, how far it is, switching over, giving up. */
import { randomUUID } from 'node:crypto';
import type { Queries } from '#db/connection.ts';
import { enqueue } from '#db/outbox.ts';
import { destinationOf, hindrances, holdShares, successorOf } from '#db/serverMigration.ts';
import { shareServices } from '#db/services.ts';
import { findShareNetwork } from '#db/shareNetworks.ts';
import {
  findShareServer,
  lockShareServer,
  type ShareServerRow,
  serverSubject,
  setServerTask,
} from '#db/shareServers.ts';
import { transition } from '#db/transition.ts';
import { readBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { shareQueue } from '#domain/services.ts';
import {
  assertCancellable,
  assertCompletable,
  assertProgressKnown,
  migrationJobs,
  serverLife,
  serverTask,
  subnetsForZone,
} from '#domain/shareServers.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';
import { serverOf } from './shareServers.ts';

type Asked = Operations['startShareServerMigration']['body'];

export const serverMigration = {
  async checkShareServerMigration({ ctx, path, body }) {
    const { host, networkId, ...wanted } = await planOf(ctx, path.id, body);
    const can = await abilitiesOf(ctx, host);
    const compatible =
      can !== null &&
      (can.writable || !wanted.writable) &&
      (can.nondisruptive || !wanted.nondisruptive) &&
      (can.preserve_snapshots || !wanted.preserveSnapshots);
    const { writable, nondisruptive, preserveSnapshots: preserve_snapshots } = wanted;
    return {
      compatible,
      requested_capabilities: {
        writable,
        nondisruptive,
        preserve_snapshots,
        share_network_id: networkId,
        host,
      },
      supported_capabilities: { ...(can ?? nothing), share_network_id: networkId },
    };
  },

  async startShareServerMigration({ ctx, path, body }) {
    const { server, networkId: _network, ...plan } = await planOf(ctx, path.id, body);
    await ctx.transaction(async (tx) => {
      await lockShareServer(tx, server.id);
      await transition(tx, serverLife.migrate, serverSubject(server.id), {
        queue: shareQueue(plan.host),
        resource: server.id,
        payload: jobFor(ctx, { ...plan, serverId: server.id, destinationId: randomUUID() }),
      });
      await refuseHindered(tx, server.id);
      await setServerTask(tx, server.id, serverTask.starting);
      await holdShares(tx, server.id);
    });
  },

  async completeShareServerMigration({ ctx, path }) {
    const destination = await begin(ctx, path.id, assertCompletable, {
      kind: migrationJobs.complete,
      task: serverTask.completing,
    });
    return { destination_share_server_id: destination };
  },

  async cancelShareServerMigration({ ctx, path }) {
    await begin(ctx, path.id, assertCancellable, {
      kind: migrationJobs.cancel,
      task: serverTask.cancelling,
    });
  },

  async getShareServerMigrationProgress({ ctx, path }) {
    const server = await findShareServer(ctx.db, path.id);
    const successor =
      server?.status === serverLife.migrate.via ? undefined : await successorOf(ctx.db, path.id);
    if (successor)
      return {
        total_progress: 100,
        task_state: serverTask.success,
        destination_share_server_id: successor,
      };
    // 400, not 404: there is no migration of a server that isn't there.
    assertProgressKnown(server ?? { id: path.id, status: 'not there', task_state: null });
    const destination = await destinationOf(ctx.db, path.id);
    return {
      total_progress: Number(destination?.server.details.migration_progress ?? 0),
      task_state: destination ? (server?.task_state ?? '') : '',
      destination_share_server_id: destination?.id ?? '',
    };
  },
} satisfies Partial<Handlers>;

/** What a back end can that moves no servers. */
const nothing = {
  writable: false,
  nondisruptive: false,
  preserve_snapshots: false,
  migration_cancel: false,
  migration_get_progress: false,
};

type Abilities = typeof nothing;

/** What a back end reports of moving servers; null when it can't, or hasn't told. */
async function abilitiesOf(ctx: Ctx, host: string): Promise<Abilities | null> {
  const report = (await ctx.reports()).find((each) => each.host === host);
  return (report?.stats.share_server_migration_support as Abilities | undefined) ?? null;
}

/** Where the server is to go, checked as far as can be before its back ends are asked. */
async function planOf(ctx: Ctx, id: string, asked: Asked) {
  const { host } = asked;
  if (host.includes('#'))
    throw fault('invalidInput', { reason: `host must name a back end, without a pool; not ${host}` });
  const wanted = {
    writable: readBoolean(asked.writable, 'writable'),
    nondisruptive: readBoolean(asked.nondisruptive, 'nondisruptive'),
    preserveSnapshots: readBoolean(asked.preserve_snapshots, 'preserve_snapshots'),
  };
  const server = await serverOf(ctx.db, id);
  const network = await networkOf(ctx, asked.new_share_network_id ?? server.share_network_id);
  const service = (await shareServices(ctx.db)).find((each) => each.host === host);
  if (!service) throw fault('serviceNotFound', { binary: 'manila-share', host });
  refuseState(server);
  if (host === server.host && network.id === server.share_network_id)
    throw fault('conflict', {
      reason: `Share server ${id} is on ${host} and in share network ${network.id} already.`,
    });
  await refuseHindered(ctx.db, id);
  const subnets = subnetsForZone(network.share_network_subnets, service.availability_zone);
  if (subnets.length === 0)
    throw fault('invalidInput', {
      reason: `share network ${network.id} has no subnet in zone ${service.availability_zone}, where ${host} is`,
    });
  return { server, host, networkId: network.id, subnetIds: subnets.map((subnet) => subnet.id), ...wanted };
}

async function networkOf(ctx: Ctx, id: string | null) {
  const network = id === null ? undefined : await findShareNetwork(ctx.db, id);
  if (!network) throw fault('invalidInput', { reason: `there is no share network ${id}` });
  return network;
}

function refuseState({ id, status }: ShareServerRow): void {
  if (serverLife.migrate.from!.includes(status)) return;
  throw fault('conflict', { reason: `Share server ${id} is ${status}; to be moved it has to be active.` });
}

async function refuseHindered(db: Queries, id: string): Promise<void> {
  const what = await hindrances(db, id);
  if (what.length === 0) return;
  throw fault('conflict', {
    reason: `Share server ${id} can't be moved now: ${what.slice(0, 5).join('; ')}.`,
  });
}

/** Has the next phase done; answers the id of the server that is moved to. */
async function begin(
  ctx: Ctx,
  id: string,
  assertReady: (server: ShareServerRow) => void,
  { kind, task }: { kind: string; task: string },
): Promise<string> {
  return ctx.transaction(async (tx) => {
    await lockShareServer(tx, id);
    const server = await serverOf(tx, id);
    assertReady(server);
    const destination = await destinationOf(tx, id);
    if (!destination)
      throw fault('invalidShareServer', { reason: `there is no server that share server ${id} moves to` });
    await setServerTask(tx, id, task);
    await setServerTask(tx, destination.id, task);
    await enqueue(tx, {
      kind,
      queue: shareQueue(destination.host),
      resource: id,
      payload: jobFor(ctx, { serverId: id }),
    });
    return destination.id;
  });
}
