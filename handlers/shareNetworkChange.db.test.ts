/** Share networks in use get subnets and security services: their servers follow, or don't. */
import { randomUUID } from 'node:crypto';
import { findShareNetwork } from '#db/shareNetworks.ts';
import { findShareServer, insertShareServer, recordServerMade } from '#db/shareServers.ts';
import { Fault } from '#domain/faults.ts';
import type { WorldNetwork } from '#server/local/testing/networks.ts';
import { SERVERS_HOST, startWorld, type World } from '#server/local/testing/world.ts';
import { securityServices } from './securityServices.ts';
import { shareNetworkSecurity } from './shareNetworkSecurity.ts';
import { shareNetworkSubnets } from './shareNetworkSubnets.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.rebuildServers());

const refusal = async (promise: Promise<unknown>): Promise<number | string> =>
  promise.then(
    () => 'none',
    (error: unknown) => (error instanceof Fault ? error.status : String(error)),
  );

/** A server that serves a network, and takes changes unless told otherwise. */
async function server(network: WorldNetwork, { takes = true, status = 'active' } = {}): Promise<string> {
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
    await recordServerMade(tx, id, {
      identifier: id,
      security_service_update_support: takes,
      network_allocation_update_support: takes,
      share_replicas_migration_support: false,
    });
  });
  return id;
}

const owner = ({ projectId }: WorldNetwork) => world.caller({ projectId });
const addSubnet = (network: WorldNetwork) =>
  shareNetworkSubnets
    .createShareNetworkSubnet({
      ctx: owner(network),
      path: { share_network_id: network.id },
      query: {},
      body: {},
    })
    .then(({ share_network_subnet }) => share_network_subnet.id);
const newService = (network: WorldNetwork, type: 'ldap' | 'kerberos' = 'ldap') =>
  securityServices
    .createSecurityService({ ctx: owner(network), path: {}, query: {}, body: { type, name: type } })
    .then(({ security_service }) => security_service.id);
const addService = (network: WorldNetwork, id: string) =>
  shareNetworkSecurity.addShareNetworkSecurityService({
    ctx: owner(network),
    path: { id: network.id },
    query: {},
    body: { security_service_id: id },
  });
const replaceService = (network: WorldNetwork, current: string, next: string) =>
  shareNetworkSecurity.updateShareNetworkSecurityService({
    ctx: owner(network),
    path: { id: network.id },
    query: {},
    body: { current_service_id: current, new_service_id: next },
  });
const statuses = async (network: WorldNetwork, ...servers: string[]) => [
  (await findShareNetwork(world.db, network.id))!.status,
  ...(await Promise.all(servers.map(async (id) => (await findShareServer(world.db, id))!.status))),
];

test('servers reach into a new subnet; the network is active again when all of them do', async () => {
  const network = await world.network();
  const [first, second] = [await server(network), await server(network)];
  const subnetId = await addSubnet(network);
  expect(await statuses(network, first, second)).toEqual([
    'network_change',
    'network_change',
    'network_change',
  ]);
  expect(await refusal(addSubnet(network))).toBe(400);
  expect(await world.work(first, 2)).toEqual(['shareServer.update']);
  expect(await statuses(network, first, second)).toEqual(['network_change', 'active', 'network_change']);
  await world.work(second);
  expect(await statuses(network, first, second)).toEqual(['active', 'active', 'active']);
  const changed = await findShareServer(world.db, first);
  expect(changed!.share_network_subnet_ids).toEqual([network.subnetId, subnetId]);
  expect(JSON.parse(changed!.backend_details.subnet_allocations!)).toHaveLength(2);
});

test('servers take other security services', async () => {
  const network = await world.network();
  const id = await server(network);
  const [one, other] = [await newService(network), await newService(network)];
  await addService(network, one);
  expect(await statuses(network, id)).toEqual(['network_change', 'network_change']);
  await world.work(id);
  expect(await statuses(network, id)).toEqual(['active', 'active']);
  await replaceService(network, one, other);
  await world.work(id, 2);
  expect(await statuses(network, id)).toEqual(['active', 'active']);
});

test('a server that fails is in error with its network, and who asked is told why', async () => {
  const network = await world.network();
  const id = await server(network);
  await world.rebuildServers({ fake_driver_failures: 'update_share_server:always' });
  const subnetId = await addSubnet(network);
  await world.work(id);
  expect(await statuses(network, id)).toEqual(['error', 'error']);
  expect(await world.messages(subnetId)).toEqual([['005', '001']]);

  const secured = await world.network();
  const itsServer = await server(secured);
  const service = await newService(secured);
  await addService(secured, service);
  await world.work(itsServer);
  expect(await world.messages(service)).toEqual([['011', '022']]);
});

test('without an address left, it says so', async () => {
  const network = await world.network();
  const id = await server(network);
  await world.rebuildServers({}, 1);
  const subnetId = await addSubnet(network);
  await world.work(id);
  expect(await world.messages(subnetId)).toEqual([['005', '033']]);
});

test('is refused where a server takes no changes, or is not active; nothing is changed then', async () => {
  const [rigid, busy] = [await world.network(), await world.network()];
  await server(rigid, { takes: false });
  expect(await refusal(addSubnet(rigid))).toBe(409);
  expect(await refusal(addService(rigid, await newService(rigid)))).toBe(403);
  const [good, creating] = [await server(busy), await server(busy, { status: 'creating' })];
  expect(await refusal(addSubnet(busy))).toBe(409);
  expect(await refusal(addService(busy, await newService(busy)))).toBe(409);
  expect(await statuses(busy, good, creating)).toEqual(['active', 'active', 'creating']);
  expect((await findShareNetwork(world.db, busy.id))!.share_network_subnets).toHaveLength(1);
});
