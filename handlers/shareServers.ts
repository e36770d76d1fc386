/** Share servers, for admins: lists, one, deletion, states set by hand. */
import type { Queries, Tx } from '#db/connection.ts';
import {
  findShareServer,
  listShareServers,
  lockShareServer,
  type ShareServerRow,
  serverIs,
  serverSubject,
  setServerTask,
  usesOfServer,
} from '#db/shareServers.ts';
import type { Sql } from '#db/sql.ts';
import { setStatus, transition } from '#db/transition.ts';
import { type FaultCode, fault } from '#domain/faults.ts';
import { shareQueue } from '#domain/services.ts';
import { serverLife } from '#domain/shareServers.ts';
import type { Operations } from '#generated/handlers.ts';
import { jobFor } from './jobPayload.ts';
import type { Handlers } from './request.ts';

export const shareServers = {
  async listShareServers({ ctx, query }) {
    return { share_servers: (await listShareServers(ctx.db, conditions(query))).map(shownServer) };
  },

  async getShareServer({ ctx, path }) {
    return { share_server: shownServer(await serverOf(ctx.db, path.id)) };
  },

  async getShareServerDetails({ ctx, path }) {
    return { details: (await serverOf(ctx.db, path.id)).backend_details };
  },

  async deleteShareServer({ ctx, path }) {
    const server = await serverOf(ctx.db, path.id);
    await ctx.transaction(async (tx) => {
      await lockShareServer(tx, server.id);
      await transition(tx, serverLife.delete, serverSubject(server.id), {
        queue: shareQueue(server.host),
        resource: server.id,
        payload: jobFor(ctx, { serverId: server.id }),
      });
      await refuseUsed(tx, server.id, 'conflict');
    });
  },

  async resetShareServerStatus({ ctx, path, body }) {
    const { id } = await serverOf(ctx.db, path.id);
    await ctx.transaction((tx) => setStatus(tx, 'share_servers', id, body.status));
  },

  async resetShareServerTaskState({ ctx, path, body }) {
    const { id } = await serverOf(ctx.db, path.id);
    await ctx.transaction((tx) => setServerTask(tx, id, body.task_state));
  },
} satisfies Partial<Handlers>;

/** The server; throws 404 when there is none. */
export async function serverOf(db: Queries, id: string): Promise<ShareServerRow> {
  const server = await findShareServer(db, id);
  if (!server) throw fault('shareServerNotFound', { id });
  return server;
}

/** A row as the contract has it: the one subnet apart, where old versions show no others. */
export function shownServer(row: ShareServerRow): Operations['getShareServer']['result']['share_server'] {
  return { ...row, share_network_subnet_id: row.share_network_subnet_ids[0] ?? null };
}

/** Throws while something is on the server, which the caller has locked. */
export async function refuseUsed(tx: Tx, id: string, refusal: FaultCode): Promise<void> {
  const { instances, groups } = await usesOfServer(tx, id);
  if (instances + groups === 0) return;
  throw fault(refusal, {
    reason: `Share server ${id} is in use by ${instances} share instance(s) and ${groups} share group(s).`,
  });
}

/** Each filter, and the condition that it is. */
const filters: Record<keyof Operations['listShareServers']['query'], (value: string) => Sql> = {
  id: serverIs.withId,
  host: serverIs.on,
  status: serverIs.inStatus,
  project_id: serverIs.ofProject,
  share_network: serverIs.onNetworkNamed,
  share_network_id: serverIs.onNetwork,
  share_network_subnet_id: serverIs.onSubnet,
  identifier: serverIs.called,
  source_share_server_id: serverIs.replacing,
  task_state: serverIs.inTaskState,
  encryption_key_ref: serverIs.encryptedWith,
};

function conditions(query: Operations['listShareServers']['query']): Sql[] {
  return Object.entries(filters).flatMap(([name, condition]) => {
    const value = query[name as keyof typeof query];
    return value === undefined ? [] : [condition(value)];
  });
}
