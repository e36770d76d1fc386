/** Share servers around the shares that need them: made, shared, limited, failing, cleaned up. */
import { randomUUID } from 'node:crypto';
import { enqueue } from '#db/outbox.ts';
import { findInstance } from '#db/shareInstances.ts';
import { findShareServer, listShareServers, type ShareServerRow, serverIs } from '#db/shareServers.ts';
import { shareQueue } from '#domain/services.ts';
import { shareJobs, shareLife } from '#domain/shares.ts';
import type { WorldNetwork } from '#server/local/testing/networks.ts';
import { SERVERS_HOST, startWorld, type World } from '#server/local/testing/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.rebuildServers();
  Object.assign(world.backendOptions, {
    max_shares_per_share_server: -1,
    max_share_server_size: -1,
    delete_share_server_with_last_share: false,
  });
});

/** A share that the scheduler has placed on the back end with servers; its row waits to be provisioned. */
async function placed(network: WorldNetwork, size = 1) {
  const share = await world.share({
    projectId: network.projectId,
    status: shareLife.create.via,
    host: `${SERVERS_HOST}#pool`,
    size,
  });
  await world.db
    .run`UPDATE share_instances SET share_network_id = ${network.id} WHERE id = ${share.instanceId}`;
  await queue(share, shareJobs.provision);
  return share;
}

type Placed = Awaited<ReturnType<typeof placed>>;

function queue(share: Placed, kind: string) {
  return world.db.transaction((tx) =>
    enqueue(tx, {
      kind,
      queue: shareQueue(SERVERS_HOST),
      resource: share.id,
      payload: {
        requestId: 'req-1',
        projectId: share.projectId,
        userId: 'u',
        shareId: share.id,
        instanceId: share.instanceId,
      },
    }),
  );
}

const serversOf = (network: WorldNetwork): Promise<ShareServerRow[]> =>
  listShareServers(world.db, [serverIs.onNetwork(network.id)]);

/** Provisions the shares at the same time, and sets up whatever server they had made. */
async function provision(network: WorldNetwork, shares: Placed[], workers = 1): Promise<void> {
  let done = false;
  const provisioning = Promise.all(
    shares.map(async (share) => {
      for (;;) {
        try {
          return await world.work(share.id, workers);
        } catch (error) {
          if (!/just being/.test((error as Error).message)) throw error;
        }
      }
    }),
  ).finally(() => {
    done = true;
  });
  const settingUp = (async () => {
    while (!done) {
      for (const server of await serversOf(network)) await world.work(server.id, workers);
      await new Promise((next) => setTimeout(next, 20));
    }
  })();
  await Promise.all([provisioning, settingUp]);
}

const instanceOf = (share: Placed) => findInstance(world.db, share.instanceId);
const ports = async (serverId: string): Promise<string[]> =>
  (
    await world.db.rows<{ ip: string }>`
      SELECT ip_address AS ip FROM network_allocations WHERE share_server_id = ${serverId} AND deleted = 'False' ORDER BY ip_address`
  ).map(({ ip }) => ip);

async function remove(share: Placed): Promise<void> {
  await world.db.run`UPDATE share_instances SET status = 'deleting' WHERE id = ${share.instanceId}`;
  await queue(share, shareLife.delete.kind);
  await world.work(share.id);
}

async function deleteServer(id: string): Promise<void> {
  await world.db.run`UPDATE share_servers SET status = 'deleting' WHERE id = ${id}`;
  await world.db.transaction((tx) =>
    enqueue(tx, {
      kind: 'shareServer.delete',
      queue: shareQueue(SERVERS_HOST),
      resource: id,
      payload: { serverId: id },
    }),
  );
  await world.work(id, 2);
}

test('a first share has a server made, with ports and details; a second one shares it', async () => {
  const network = await world.network();
  const [first, second] = [await placed(network), await placed(network)];
  await provision(network, [first], 2);
  const [server] = await serversOf(network);
  expect(server).toMatchObject({
    status: 'active',
    host: SERVERS_HOST,
    project_id: network.projectId,
    share_network_id: network.id,
    share_network_subnet_ids: [network.subnetId],
    identifier: server!.id,
    is_auto_deletable: true,
    security_service_update_support: true,
  });
  const addresses = await ports(server!.id);
  expect(server!.backend_details).toMatchObject({ server_id: server!.id, username: 'fake_username' });
  const [{ primary_public_ip: ip }] = JSON.parse(server!.backend_details.subnet_allocations!) as [
    Record<string, string>,
  ];
  expect(addresses).toContain(ip);
  expect((await instanceOf(first))!.exportLocations.map(({ path }) => path.split(':')[0])).toContain(ip);

  await provision(network, [second]);
  expect(await serversOf(network)).toHaveLength(1);
  expect(await instanceOf(second)).toMatchObject({ status: 'available', shareServerId: server!.id });
  const subnet = await world.db.row`
    SELECT cidr, gateway, mtu, ip_version AS ipVersion FROM share_network_subnets WHERE id = ${network.subnetId}`;
  expect(subnet).toEqual({ cidr: '10.254.0.0/24', gateway: '10.254.0.1', mtu: 1500, ipVersion: 4 });
});

test('many shares at once have one server made', async () => {
  const network = await world.network();
  const shares = await Promise.all(Array.from({ length: 5 }, () => placed(network)));
  await provision(network, shares);
  const servers = await serversOf(network);
  expect(servers).toHaveLength(1);
  for (const share of shares)
    expect(await instanceOf(share)).toMatchObject({ status: 'available', shareServerId: servers[0]!.id });
});

test('a server takes no more shares, and no more GiB, than it may', async () => {
  const network = await world.network();
  world.backendOptions.max_shares_per_share_server = 2;
  await provision(network, await Promise.all([1, 2, 3].map(() => placed(network))));
  expect(await serversOf(network)).toHaveLength(2);
  world.backendOptions.max_shares_per_share_server = -1;
  world.backendOptions.max_share_server_size = 3;
  await provision(network, [await placed(network, 2)]);
  expect(await serversOf(network)).toHaveLength(2);
  await provision(network, [await placed(network, 2)]);
  expect(await serversOf(network)).toHaveLength(3);
});

test('two tenants never share a server', async () => {
  const [one, other] = [await world.network(), await world.network()];
  await provision(one, [await placed(one)]);
  await provision(other, [await placed(other)]);
  const [a, b] = [await serversOf(one), await serversOf(other)];
  expect(a).toHaveLength(1);
  expect(b).toHaveLength(1);
  expect(a[0]!.id).not.toBe(b[0]!.id);
  const shared = (await ports(a[0]!.id)).filter((ip) => ip.startsWith('10.254'));
  expect(await ports(b[0]!.id)).not.toEqual(expect.arrayContaining(shared));
});

test('a server that could not be set up is in error, has no ports, and its shares are told', async () => {
  const network = await world.network();
  await world.rebuildServers({ fake_driver_failures: 'setup_server:always' });
  const shares = [await placed(network), await placed(network)];
  await provision(network, shares);
  const [server, ...others] = await serversOf(network);
  expect(others).toEqual([]);
  expect(server!.status).toBe('error');
  expect(await ports(server!.id)).toEqual([]);
  for (const share of shares) {
    expect(await instanceOf(share)).toMatchObject({ status: 'error', shareServerId: null });
    expect(await world.messages(share.id)).toEqual([['002', '004']]);
  }
  await world.rebuildServers();
  const next = await placed(network);
  await provision(network, [next]);
  expect(await instanceOf(next)).toMatchObject({ status: 'available' });
  // The shares that failed were never anywhere: they go without their back end.
  await world.rebuildServers({ fake_driver_failures: 'delete_share:always' });
  await remove(shares[0]!);
  expect(await instanceOf(shares[0]!)).toBeUndefined();
});

test('a network without an address left says so', async () => {
  const network = await world.network();
  await world.rebuildServers({}, 1);
  const share = await placed(network);
  await provision(network, [share]);
  expect(await world.messages(share.id)).toEqual([['002', '033']]);
  expect(await ports((await serversOf(network))[0]!.id)).toEqual([]);
});

test('a share without a subnet in its zone says so, and makes no server', async () => {
  const network = await world.network();
  await world.db.run`UPDATE share_network_subnets SET deleted = id WHERE id = ${network.subnetId}`;
  const share = await placed(network);
  await world.work(share.id);
  expect(await instanceOf(share)).toMatchObject({ status: 'error', shareServerId: null });
  expect(await world.messages(share.id)).toEqual([['002', '004']]);
});

test('a share that fails on its server leaves the server to others', async () => {
  const network = await world.network();
  await world.rebuildServers({ fake_driver_failures: 'create_share:once' });
  const share = await placed(network);
  await provision(network, [share]);
  expect(await instanceOf(share)).toMatchObject({ status: 'error' });
  expect((await serversOf(network))[0]).toMatchObject({ status: 'active' });
});

test('a deleted server gives its ports back; one that can not be torn down is in error and keeps them', async () => {
  const network = await world.network();
  await provision(network, [await placed(network)]);
  const [server] = await serversOf(network);
  await world.rebuildServers({ fake_driver_failures: 'teardown_server:always' });
  await deleteServer(server!.id);
  expect(await findShareServer(world.db, server!.id)).toMatchObject({ status: 'error' });
  expect(await ports(server!.id)).toHaveLength(3);
  await world.rebuildServers();
  await deleteServer(server!.id);
  expect(await findShareServer(world.db, server!.id)).toBeUndefined();
  expect(await ports(server!.id)).toEqual([]);
});

test('the last share takes the server along where the back end is told so', async () => {
  const network = await world.network();
  const [first, second] = [await placed(network), await placed(network)];
  await provision(network, [first, second]);
  world.backendOptions.delete_share_server_with_last_share = true;
  const [server] = await serversOf(network);
  await remove(first);
  expect(await findShareServer(world.db, server!.id)).toMatchObject({ status: 'active' });
  await remove(second);
  expect(await findShareServer(world.db, server!.id)).toMatchObject({ status: 'deleting' });
  await world.work(server!.id);
  expect(await findShareServer(world.db, server!.id)).toBeUndefined();
});

test('servers that are unused for long are deleted, others stay', async () => {
  const [used, unused, fresh, kept] = await Promise.all([1, 2, 3, 4].map(() => world.network()));
  const servers: string[] = [];
  for (const network of [used!, unused!, fresh!, kept!]) {
    const share = await placed(network);
    await provision(network, [share]);
    servers.push((await serversOf(network))[0]!.id);
    if (network !== used) await remove(share);
  }
  await world.db.run`
    UPDATE share_servers SET updated_at = UTC_TIMESTAMP(6) - INTERVAL 11 MINUTE WHERE id IN (${servers[0]!}, ${servers[1]!}, ${servers[3]!})`;
  await world.db.run`UPDATE share_servers SET is_auto_deletable = 0 WHERE id = ${servers[3]!}`;
  await world.cleanUpServers();
  const states = await Promise.all(servers.map((id) => findShareServer(world.db, id)));
  expect(states.map((server) => server!.status)).toEqual(['active', 'deleting', 'active', 'active']);
  expect(await findShareServer(world.db, randomUUID())).toBeUndefined();
});
