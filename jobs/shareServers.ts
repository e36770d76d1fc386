/** Share servers: set up with their ports before something goes onto them, torn down when nothing is on them any more. */

import type { Tx } from '#db/connection.ts';
import { type DrivenServer, drivenServersOn, findDrivenServer } from '#db/drivenServers.ts';
import type { MessageDetail } from '#db/messages.ts';
import { sharesWaitingFor, unusedServers } from '#db/serverPlacement.ts';
import {
  findShareServer,
  lockShareServer,
  recordServerMade,
  removeShareServer,
  type ServerMade,
  saveDetails,
  serverSubject,
  touchServer,
  usesOfServer,
} from '#db/shareServers.ts';
import { abandon, complete, transition } from '#db/transition.ts';
import type { NamedStep } from '#domain/lifecycle.ts';
import { NetworkError } from '#domain/network.ts';
import { shareQueue } from '#domain/services.ts';
import { ACTIVE, cleanable, serverLife } from '#domain/shareServers.ts';
import { type Driver, DriverError } from '#drivers/driver.ts';
import { job, minutes, type Requester, type Run, type Tools } from './job.ts';
import { allocatePorts, releasePorts, type ServerOnHost, serversOf } from './serverPorts.ts';
import { tell } from './tell.ts';

const ENSURE_DEADLINE_MS = 60_000;

/** The server, while it is still in the step's state. */
export async function serverIn({ tools, row }: Run, step: NamedStep): Promise<DrivenServer | undefined> {
  const server = await findDrivenServer(tools.db, row.payload.serverId as string);
  return server?.status === step.via ? server : undefined;
}

export interface SetUp {
  details: Record<string, string>;
  made: ServerMade;
}

/** Gets the ports and has the back end set the server up; asked again, it finds what is there. */
export async function setUp(on: ServerOnHost, run: Run): Promise<SetUp> {
  await allocatePorts(on, run);
  const withPorts = await findDrivenServer(run.tools.db, on.server.id);
  if (!withPorts) throw new DriverError('notFound', 'the share server is gone');
  const details = await serversOf(run, on.host).setup(withPorts.server, run.signal);
  return { details, made: await madeBy(run, on.host, on.server.id) };
}

/** What servers of this back end can be asked later. */
export async function madeBy(run: Run, host: string, identifier: string): Promise<ServerMade> {
  const stats = await run.tools.driver(host)!.stats(run.signal);
  return {
    identifier,
    security_service_update_support: stats.security_service_update_support === true,
    network_allocation_update_support: stats.network_allocation_update_support === true,
    share_replicas_migration_support: stats.share_replicas_migration_support === true,
  };
}

/** Takes a server's remains away: what the back end has of it, then its ports. */
export async function takeDown(on: ServerOnHost, run: Run): Promise<void> {
  await serversOf(run, on.host).teardown(on.server, run.signal);
  await releasePorts(on, run);
}

export const setupServer = job<DrivenServer, SetUp>({
  kind: serverLife.setup.kind,
  deadlineMs: minutes(30),
  load: (run) => serverIn(run, serverLife.setup),
  perform: setUp,
  async undo(server, run) {
    // The addresses go to others: what may listen on them goes first. What fails here is done again at deletion.
    const now = await findDrivenServer(run.tools.db, server.id);
    await takeDown(now ?? server, run);
  },
  async succeed(tx, server, { details, made }) {
    await saveDetails(tx, server.id, details);
    await recordServerMade(tx, server.id, made);
    await complete(tx, serverLife.setup, 'share_servers', server.id);
  },
  async fail(tx, server, error, run) {
    await abandon(tx, serverLife.setup, 'share_servers', server.id);
    if (error instanceof DriverError) await saveDetails(tx, server.id, error.details);
    for (const { shareId, projectId } of await sharesWaitingFor(tx, server.id)) {
      const about = { projectId, resourceType: 'SHARE', resourceId: shareId } as const;
      await tell(tx, run, about, 'create', detailOf(error, 'noShareServer'));
    }
  },
});

/** What users are told of a failure; `other` where it says nothing to them. */
export function detailOf(error: unknown, other: MessageDetail): MessageDetail {
  const code = error instanceof NetworkError ? error.code : null;
  if (code === 'overQuota') return 'shareNetworkPortQuotaLimitExceeded';
  return code === 'noAddress' ? 'neutronSubnetFull' : other;
}

export const deleteServer = job<DrivenServer, void>({
  kind: serverLife.delete.kind,
  deadlineMs: minutes(30),
  load: (run) => serverIn(run, serverLife.delete),
  perform: takeDown,
  async succeed(tx, server) {
    await removeShareServer(tx, server.id);
  },
  async fail(tx, server) {
    await abandon(tx, serverLife.delete, 'share_servers', server.id);
  },
});

/** Something has left the server; it goes with the last one where the back end is told so. */
export async function leaveServer(tx: Tx, serverId: string, run: Run): Promise<void> {
  const status = await lockShareServer(tx, serverId);
  await touchServer(tx, serverId);
  const server = await findShareServer(tx, serverId);
  if (status !== ACTIVE || !server?.is_auto_deletable) return;
  if (!run.tools.options(server.host)?.delete_share_server_with_last_share) return;
  const uses = await usesOfServer(tx, serverId);
  if (uses.instances + uses.groups === 0) await beginDeletion(tx, server, run.requester);
}

/** Begins the deletion of a server that nothing is on; the caller has locked it. */
export async function beginDeletion(
  tx: Tx,
  server: { id: string; host: string },
  requester: Requester,
  states: readonly string[] = serverLife.delete.from!,
): Promise<void> {
  await transition(tx, { ...serverLife.delete, from: states }, serverSubject(server.id), {
    queue: shareQueue(server.host),
    resource: server.id,
    payload: { ...requester, serverId: server.id },
  });
}

/** Deletes the back end's servers, `host@backend`, that nothing has been on for long. */
export async function cleanUpServers(host: string, { db, options, log }: Tools): Promise<void> {
  const settings = options(host);
  if (!settings?.automatic_share_server_cleanup) return;
  const requester = { requestId: '', projectId: '', userId: '' };
  for (const id of await unusedServers(db, host, cleanable, settings.unused_share_server_cleanup_interval)) {
    await db.transaction(async (tx) => {
      const status = await lockShareServer(tx, id);
      const { instances, groups } = await usesOfServer(tx, id);
      if (status === undefined || instances + groups > 0) return;
      if (cleanable.some((each) => each === status))
        await beginDeletion(tx, { id, host }, requester, cleanable);
    });
    log('info', 'an unused share server is deleted', { server: id });
  }
}

/** States in which a server is there to serve. */
const served = new Set([
  'active',
  'server_migrating',
  'server_migrating_to',
  'network_change',
  'unmanage_error',
]);

/** After a worker's start, before its shares are ensured: the back end's servers, `host@backend`, serve as before. */
export async function ensureServers(backend: string, driver: Driver, { db, log }: Tools): Promise<void> {
  if (!driver.servers) return;
  for (const { id, status, server } of await drivenServersOn(db, backend)) {
    if (!served.has(status)) continue;
    try {
      await driver.servers.ensure(server, AbortSignal.timeout(ENSURE_DEADLINE_MS));
    } catch (error) {
      log('error', 'a share server could not be started again', {
        server: id,
        backend,
        error: (error as Error).message,
      });
    }
  }
}

export const serverJobs = [setupServer, deleteServer];
