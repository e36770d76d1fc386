/** Share servers as administrators see and handle them: lists, states, deletion, managing, moving. */
import { randomUUID } from 'node:crypto';
import { registerService } from '#db/services.ts';
import { findShareServer, insertShareServer, saveDetails } from '#db/shareServers.ts';
import { findShare } from '#db/shares.ts';
import { Fault } from '#domain/faults.ts';
import type { WorldNetwork } from '#server/local/testing/networks.ts';
import { SERVERS_HOST, startWorld, type World } from '#server/local/testing/world.ts';
import { serverManaging } from './serverManaging.ts';
import { serverMigration } from './serverMigration.ts';
import { shareServers } from './shareServers.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await registerService(world.db, {
    host: SERVERS_HOST,
    binary: 'manila-share',
    topic: 'manila-share',
    zone: 'nova',
  });
});
afterAll(() => world.close());
beforeEach(() => world.rebuildServers());

const admin = () => world.caller({ roles: ['admin', 'member', 'reader'] });
const refusal = async (promise: Promise<unknown>): Promise<number | string> =>
  promise.then(
    () => 'none',
    (error: unknown) => (error instanceof Fault ? error.status : String(error)),
  );

/** A server that serves a network, as if it had been set up. */
async function server(network: WorldNetwork, status = 'active'): Promise<string> {
  const id = randomUUID();
  await world.db.transaction(async (tx) => {
    await insertShareServer(tx, {
      id,
      host: SERVERS_HOST,
      status,
      subnetIds: [network.subnetId],
      isAutoDeletable: true,
      identifier: id,
      sourceId: null,
      taskState: null,
    });
    await saveDetails(tx, id, { server_id: id });
  });
  return id;
}

async function shareOn(serverId: string, network: WorldNetwork) {
  const share = await world.share({ projectId: network.projectId, host: `${SERVERS_HOST}#pool` });
  await world.db.run`
    UPDATE share_instances SET share_server_id = ${serverId}, share_network_id = ${network.id} WHERE id = ${share.instanceId}`;
  return share;
}

const get = (id: string) =>
  shareServers
    .getShareServer({ ctx: admin(), path: { id }, query: {}, body: undefined as never })
    .then(({ share_server }) => share_server);
const list = (query: Record<string, string>) =>
  shareServers
    .listShareServers({ ctx: admin(), path: {}, query, body: undefined as never })
    .then(({ share_servers }) => share_servers.map(({ id }) => id));
const remove = (id: string) =>
  shareServers.deleteShareServer({ ctx: admin(), path: { id }, query: {}, body: undefined as never });

describe('what is told of share servers', () => {
  test('one, its details, and lists by what they are filtered by', async () => {
    const [network, other] = [await world.network(), await world.network()];
    const [id, elsewhere] = [await server(network), await server(other, 'error')];
    expect(await get(id)).toMatchObject({
      id,
      project_id: network.projectId,
      share_network_id: network.id,
      share_network_name: 'net',
      share_network_subnet_id: network.subnetId,
      share_network_subnet_ids: [network.subnetId],
      backend_details: { server_id: id },
    });
    const { details } = await shareServers.getShareServerDetails({
      ctx: admin(),
      path: { id },
      query: {},
      body: undefined as never,
    });
    expect(details).toEqual({ server_id: id });
    const mine = { share_network_id: network.id };
    expect(await list(mine)).toEqual([id]);
    expect(await list({ ...mine, status: 'active', host: SERVERS_HOST })).toEqual([id]);
    expect(await list({ ...mine, status: 'error' })).toEqual([]);
    expect(await list({ project_id: other.projectId })).toEqual([elsewhere]);
    expect(await list({ share_network: other.id })).toEqual([elsewhere]);
    expect(await list({ share_network: 'net' })).toEqual(expect.arrayContaining([id, elsewhere]));
    expect(await list({ share_network_subnet_id: network.subnetId })).toEqual([id]);
    expect(await list({ identifier: id })).toEqual([id]);
    expect(await list({ share_network_id: 'nope' })).toEqual([]);
  });

  test('one that is not there is 404, whatever is asked', async () => {
    const id = randomUUID();
    expect(await refusal(get(id))).toBe(404);
    expect(await refusal(remove(id))).toBe(404);
    expect(await refusal(reset(id, 'error'))).toBe(404);
    expect(await refusal(unmanage(id))).toBe(404);
    expect(await refusal(start(id, randomUUID()))).toBe(404);
    expect(await refusal(complete(id))).toBe(404);
    expect(await refusal(cancel(id))).toBe(404);
    expect(await refusal(progress(id))).toBe(400);
  });
});

const reset = (id: string, status: 'active' | 'error') =>
  shareServers.resetShareServerStatus({ ctx: admin(), path: { id }, query: {}, body: { status } });

test('status and task state are set by hand', async () => {
  const id = await server(await world.network());
  await reset(id, 'error');
  await shareServers.resetShareServerTaskState({
    ctx: admin(),
    path: { id },
    query: {},
    body: { task_state: 'migration_error' },
  });
  expect(await get(id)).toMatchObject({ status: 'error', task_state: 'migration_error' });
});

describe('deletion', () => {
  test('of a free server ends with it gone', async () => {
    const id = await server(await world.network());
    await remove(id);
    expect(await get(id)).toMatchObject({ status: 'deleting' });
    expect(await world.work(id, 2)).toEqual(['shareServer.delete']);
    expect(await refusal(get(id))).toBe(404);
  });

  test('is refused while shares are on it, and in other states', async () => {
    const network = await world.network();
    const id = await server(network);
    await shareOn(id, network);
    expect(await refusal(remove(id))).toBe(409);
    expect(await get(id)).toMatchObject({ status: 'active' });
    expect(await refusal(remove(await server(network, 'creating')))).toBe(403);
  });
});

type Manage = Parameters<typeof serverManaging.manageShareServer>[0]['body'];
const manage = (body: Manage) =>
  serverManaging
    .manageShareServer({ ctx: admin(), path: {}, query: {}, body })
    .then(({ share_server }) => share_server);
const unmanage = (id: string, force = false) =>
  serverManaging.unmanageShareServer({
    ctx: admin(),
    path: { id },
    query: {},
    body: force ? { force } : null,
  });

describe('managing', () => {
  test('a server of the back end comes under management with its details, and is let go', async () => {
    const network = await world.network();
    const identifier = randomUUID();
    const { id, ...begun } = await manage({
      host: SERVERS_HOST,
      share_network_id: network.id,
      identifier,
      driver_options: { a: 1 },
    });
    expect(begun).toMatchObject({
      status: 'manage_starting',
      identifier,
      is_auto_deletable: false,
      project_id: network.projectId,
      backend_details: {},
    });
    expect(await world.work(id, 2)).toEqual(['shareServer.manage']);
    expect(await get(id)).toMatchObject({
      status: 'active',
      identifier,
      backend_details: { server_id: identifier },
    });
    await unmanage(id);
    expect(await world.work(id, 2)).toEqual(['shareServer.unmanage']);
    expect(await findShareServer(world.db, id)).toBeUndefined();
  });

  test('one that the back end does not know ends in manage_error, and can be let go', async () => {
    const network = await world.network();
    const { id } = await manage({ host: SERVERS_HOST, share_network_id: network.id, identifier: 'nothing' });
    await world.work(id);
    expect(await get(id)).toMatchObject({ status: 'manage_error' });
    await unmanage(id);
    await world.work(id);
    expect(await findShareServer(world.db, id)).toBeUndefined();
  });

  test('a server that its back end does not let go stays in unmanage_error, unless by force', async () => {
    const id = await server(await world.network());
    await world.rebuildServers({ fake_driver_failures: 'unmanage_server:always' });
    await unmanage(id);
    await world.work(id);
    expect(await get(id)).toMatchObject({ status: 'unmanage_error' });
    await unmanage(id, true);
    await world.work(id);
    expect(await findShareServer(world.db, id)).toBeUndefined();
  });

  test('is refused, as a bad request, for what makes no sense', async () => {
    const network = await world.network();
    const id = await server(network);
    await shareOn(id, network);
    const good: Manage = { host: SERVERS_HOST, share_network_id: network.id, identifier: randomUUID() };
    for (const bad of [
      { host: `${SERVERS_HOST}#pool` },
      { host: 'nowhere@else' },
      { share_network_id: randomUUID() },
      { share_network_subnet_id: randomUUID() },
      { identifier: ' ' },
      { identifier: id },
      { identifier: `share_${id.replaceAll('-', '_')}` },
    ])
      expect([bad, await refusal(manage({ ...good, ...bad }))]).toEqual([bad, 400]);
    expect(await refusal(unmanage(id))).toBe(400);
    expect(await refusal(unmanage(await server(network, 'creating')))).toBe(400);
  });
});

type Migration = Parameters<typeof serverMigration.startShareServerMigration>[0]['body'];
const wanted = (networkId: string, over: Partial<Migration> = {}): Migration => ({
  host: SERVERS_HOST,
  writable: false,
  nondisruptive: false,
  preserve_snapshots: true,
  new_share_network_id: networkId,
  ...over,
});
const start = (id: string, networkId: string, over: Partial<Migration> = {}) =>
  serverMigration.startShareServerMigration({
    ctx: admin(),
    path: { id },
    query: {},
    body: wanted(networkId, over),
  });
const check = (id: string, networkId: string, over: Partial<Migration> = {}) =>
  serverMigration.checkShareServerMigration({
    ctx: admin(),
    path: { id },
    query: {},
    body: wanted(networkId, over),
  });
const act = (id: string) => ({ ctx: admin(), path: { id }, query: {}, body: undefined as never });
const progress = (id: string) => serverMigration.getShareServerMigrationProgress(act(id));
const complete = (id: string) => serverMigration.completeShareServerMigration(act(id));
const cancel = (id: string) => serverMigration.cancelShareServerMigration(act(id));

describe('migration', () => {
  /** A server with a share, and the network that it is to move to. */
  async function toBeMoved() {
    const [network, next] = [await world.network(), await world.network()];
    const id = await server(network);
    return { id, network, next, share: await shareOn(id, network) };
  }

  test('a check tells what the back end can', async () => {
    const { id, next } = await toBeMoved();
    expect(await check(id, next.id)).toEqual({
      compatible: true,
      requested_capabilities: {
        writable: false,
        nondisruptive: false,
        preserve_snapshots: true,
        share_network_id: next.id,
        host: SERVERS_HOST,
      },
      supported_capabilities: {
        writable: true,
        nondisruptive: false,
        preserve_snapshots: true,
        share_network_id: next.id,
        migration_cancel: true,
        migration_get_progress: true,
      },
    });
    expect(await check(id, next.id, { nondisruptive: true })).toMatchObject({ compatible: false });
  });

  test('in two phases: shares are where they were, then on the other server, and the first one goes', async () => {
    const { id, next, share } = await toBeMoved();
    await start(id, next.id);
    expect(await get(id)).toMatchObject({ status: 'server_migrating', task_state: 'migration_starting' });
    expect(await findShare(world.db, share.id)).toMatchObject({ status: 'server_migrating' });
    expect(await progress(id)).toEqual({
      total_progress: 0,
      task_state: '',
      destination_share_server_id: '',
    });
    expect(await world.work(id, 2)).toEqual(['shareServer.migrate']);
    const { destination_share_server_id: to, ...told } = await progress(id);
    expect(told).toEqual({ total_progress: 0, task_state: 'migration_driver_in_progress' });
    expect(await get(to)).toMatchObject({
      status: 'server_migrating_to',
      source_share_server_id: id,
      share_network_id: next.id,
      task_state: 'migration_driver_in_progress',
    });
    expect(await refusal(complete(id))).toBe(400);

    await world.continueServerMigrations();
    await world.continueServerMigrations();
    expect(await world.work(id, 2)).toEqual(['shareServer.migrationContinue']);
    expect(await progress(id)).toMatchObject({
      total_progress: 100,
      task_state: 'migration_driver_phase1_done',
    });
    expect(await complete(id)).toEqual({ destination_share_server_id: to });
    expect(await refusal(cancel(id))).toBe(400);
    expect(await world.work(id, 2)).toEqual(['shareServer.migrationComplete', 'shareServer.delete']);
    expect(await findShareServer(world.db, id)).toBeUndefined();
    expect(await get(to)).toMatchObject({ status: 'active', task_state: 'migration_success' });
    const moved = await findShare(world.db, share.id, { withPaths: true });
    expect(moved).toMatchObject({
      status: 'available',
      share_server_id: to,
      share_network_id: next.id,
      host: `${SERVERS_HOST}#pool`,
    });
    const ports = await world.db.rows<{ ip: string }>`
      SELECT ip_address AS ip FROM network_allocations WHERE share_server_id = ${to} AND deleted = 'False'`;
    expect(ports.map(({ ip }) => ip)).toContain(moved!.export_locations![0]!.split(':')[0]);
    expect(await progress(id)).toEqual({
      total_progress: 100,
      task_state: 'migration_success',
      destination_share_server_id: to,
    });
  });

  test('given up, the server serves on and the other one is to be cleaned up', async () => {
    const { id, next, share } = await toBeMoved();
    await start(id, next.id);
    expect(await refusal(cancel(id))).toBe(400);
    await world.work(id);
    const { destination_share_server_id: to } = await progress(id);
    await cancel(id);
    expect(await get(id)).toMatchObject({ task_state: 'migration_cancel_in_progress' });
    expect(await world.work(id, 2)).toEqual(['shareServer.migrationCancel']);
    expect(await get(id)).toMatchObject({ status: 'active', task_state: 'migration_cancelled' });
    expect(await get(to)).toMatchObject({ status: 'inactive', task_state: 'migration_cancelled' });
    expect(await findShare(world.db, share.id)).toMatchObject({ status: 'available', share_server_id: id });
    expect(await refusal(progress(id))).toBe(400);
  });

  test.each([
    ['setup_server', 1],
    ['share_server_migration_check', 1],
    ['share_server_migration_start', 1],
    ['share_server_migration_continue', 2],
  ])('a failure of %s leaves the server and its shares as they were', async (call, steps) => {
    const { id, next, share } = await toBeMoved();
    await world.rebuildServers({ fake_driver_failures: `${call}:always` });
    await start(id, next.id);
    await world.work(id);
    if (steps === 2) {
      await world.continueServerMigrations();
      await world.work(id);
    }
    expect(await get(id)).toMatchObject({ status: 'active', task_state: 'migration_error' });
    expect(await findShare(world.db, share.id)).toMatchObject({ status: 'available', share_server_id: id });
    const [to] = await list({ share_network_id: next.id });
    expect(await get(to!)).toMatchObject({ status: 'error' });
  });

  test('a failure to switch over is an error of both, for an administrator to look at', async () => {
    const { id, next, share } = await toBeMoved();
    await start(id, next.id);
    await world.work(id);
    await world.continueServerMigrations();
    await world.work(id);
    await world.rebuildServers({ fake_driver_failures: 'share_server_migration_complete:always' });
    const { destination_share_server_id: to } = await complete(id);
    await world.work(id);
    expect(await get(id)).toMatchObject({ status: 'error', task_state: 'migration_error' });
    expect(await get(to)).toMatchObject({ status: 'error' });
    expect(await findShare(world.db, share.id)).toMatchObject({ status: 'error', share_server_id: id });
  });

  test('what the back end can not do fails when it is asked', async () => {
    const { id, next } = await toBeMoved();
    await start(id, next.id, { nondisruptive: true });
    await world.work(id);
    expect(await get(id)).toMatchObject({ status: 'active', task_state: 'migration_error' });
  });

  test('is refused for what makes no sense', async () => {
    const { id, network, next, share } = await toBeMoved();
    expect(await refusal(start(id, next.id, { host: `${SERVERS_HOST}#pool` }))).toBe(400);
    expect(await refusal(start(id, next.id, { host: 'nowhere@else' }))).toBe(404);
    expect(await refusal(start(id, randomUUID()))).toBe(400);
    expect(await refusal(start(id, next.id, { writable: 'perhaps' as never }))).toBe(400);
    expect(await refusal(start(id, network.id))).toBe(409);
    await reset(id, 'error');
    expect(await refusal(start(id, next.id))).toBe(409);
    await reset(id, 'active');
    await world.db.run`UPDATE share_instances SET status = 'error' WHERE id = ${share.instanceId}`;
    expect(await refusal(start(id, next.id))).toBe(409);
    expect(await refusal(check(id, next.id))).toBe(409);
    for (const ask of [complete, cancel, progress]) expect(await refusal(ask(id))).toBe(400);
    expect(await get(id)).toMatchObject({ status: 'active', task_state: null });
  });
});
