import { randomUUID } from 'node:crypto';
import type { PortPlace } from '#domain/network.ts';
import { now } from '#domain/time.ts';
import { startTestDatabase, type TestDatabase } from '#server/local/testing/services.ts';
import { connect, type Db } from './connection.ts';
import { giveAllPorts, portStore, portsOfServer } from './networkAllocations.ts';
import {
  describedSubnet,
  findSubnet,
  findSubnets,
  insertSubnet,
  lockSubnet,
  redirectSubnet,
  removeSubnet,
  saveDescription,
  serversOfShareNetwork,
  subnetsOf,
} from './shareNetworkSubnets.ts';
import {
  findShareNetwork,
  insertShareNetwork,
  listShareNetworkNames,
  listShareNetworks,
  lockShareNetwork,
  removeShareNetwork,
  updateShareNetwork,
  usesOfShareNetwork,
} from './shareNetworks.ts';
import { sql } from './sql.ts';
import { setStatus } from './transition.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await startTestDatabase();
  db = connect(database.address);
});
afterAll(async () => {
  await db.close();
  await database.stop();
});

async function network(projectId: string = randomUUID()): Promise<string> {
  const id = randomUUID();
  await db.transaction((tx) =>
    insertShareNetwork(tx, {
      id,
      createdAt: now(),
      projectId,
      userId: 'u',
      name: 'net',
      description: null,
    }),
  );
  return id;
}

async function subnet(shareNetworkId: string, metadata: Record<string, string> = {}): Promise<string> {
  const id = randomUUID();
  const nowhere = { availabilityZoneId: null, neutronNetId: null, neutronSubnetId: null };
  await db.transaction((tx) =>
    insertSubnet(tx, { id, createdAt: now(), shareNetworkId, metadata, ...nowhere }),
  );
  return id;
}

async function server(subnetId: string): Promise<string> {
  const id = randomUUID();
  await db.run`
    INSERT INTO share_servers (created_at, deleted, id, host, status, is_auto_deletable, network_allocation_update_support)
    VALUES (UTC_TIMESTAMP(6), 'False', ${id}, 'h@b', 'active', 1, 1)`;
  await db.run`
    INSERT INTO share_server_share_network_subnet_mappings (created_at, deleted, share_server_id, share_network_subnet_id)
    VALUES (UTC_TIMESTAMP(6), 0, ${id}, ${subnetId})`;
  return id;
}

test('A network comes with its subnets, oldest first, and with what all its servers support', async () => {
  const id = await network();
  expect(await findShareNetwork(db, id)).toMatchObject({
    share_network_subnets: [],
    security_service_update_support: true,
    status: 'active',
  });
  const first = await subnet(id, { a: 'b' });
  const second = await subnet(id);
  await server(second);
  expect(await findShareNetwork(db, id)).toMatchObject({
    share_network_subnets: [
      { id: first, metadata: { a: 'b' }, availability_zone: null },
      { id: second, metadata: {} },
    ],
    security_service_update_support: false,
    network_allocation_update_support: true,
  });
  expect(await subnetsOf(db, id)).toMatchObject([{ id: first }, { id: second }]);
  expect(await findSubnets(db, [second])).toMatchObject([{ id: second, share_network_id: id }]);
  expect(await serversOfShareNetwork(db, id)).toMatchObject([
    { subnetIds: [second], takesSubnets: true, takesSecurityServices: false, shares: 0 },
  ]);
  expect(await serversOfShareNetwork(db, id, null)).toHaveLength(1);
  expect(await serversOfShareNetwork(db, id, randomUUID())).toEqual([]);
});

test('Networks are listed by pages and conditions', async () => {
  const projectId = randomUUID();
  const first = await network(projectId);
  const second = await network(projectId);
  const where = [sql`n.project_id = ${projectId}`];
  expect(await listShareNetworkNames(db, { where, page: { limit: null, offset: 0 } })).toEqual([
    { id: first, name: 'net' },
    { id: second, name: 'net' },
  ]);
  expect(await listShareNetworks(db, { where, page: { limit: 1, offset: 1 } })).toMatchObject([
    { id: second },
  ]);
});

test('Changes and removals reach what hangs on the network', async () => {
  const id = await network();
  const subnetId = await subnet(id, { a: 'b' });
  await db.transaction(async (tx) => {
    expect(await lockShareNetwork(tx, id)).toBe('active');
    expect(await lockSubnet(tx, subnetId)).toBe(true);
    await updateShareNetwork(tx, id, { name: null, description: 'd' });
    await setStatus(tx, 'share_networks', id, 'error');
    await redirectSubnet(tx, subnetId, { neutronNetId: 'n', neutronSubnetId: 's' });
    const found = describedSubnet((await findSubnet(tx, subnetId))!);
    await saveDescription(tx, { ...found, cidr: '10.0.0.0/24', ipVersion: 4, mtu: 1500 });
  });
  expect(await findShareNetwork(db, id)).toMatchObject({
    name: null,
    description: 'd',
    status: 'error',
    share_network_subnets: [{ neutron_net_id: 'n', neutron_subnet_id: 's', cidr: '10.0.0.0/24', mtu: 1500 }],
  });
  expect(await usesOfShareNetwork(db, id)).toEqual({ instances: 0, groups: 0 });
  const other = await subnet(id);
  await db.transaction((tx) => removeSubnet(tx, other));
  expect(await findSubnet(db, other)).toBeUndefined();
  await db.transaction((tx) => removeShareNetwork(tx, id));
  expect(await findShareNetwork(db, id)).toBeUndefined();
  expect(await findSubnet(db, subnetId)).toBeUndefined();
  expect(await db.transaction((tx) => lockShareNetwork(tx, id))).toBeUndefined();
});

async function place(label: PortPlace['label'] = 'user'): Promise<PortPlace> {
  const subnetId = await subnet(await network());
  return {
    serverId: await server(subnetId),
    label,
    subnet: describedSubnet((await findSubnet(db, subnetId))!),
  };
}

test('No address is given out twice, however many ask at once', async () => {
  const store = portStore(db);
  const candidates = Array.from({ length: 600 }, (_, i) => `10.1.${i >> 8}.${i & 255}`);
  const places = await Promise.all(Array.from({ length: 6 }, () => place()));
  const given = (await Promise.all(places.map((at) => store.claim(at, 100, candidates)))).flat();
  expect(new Set(given.map((port) => port.ipAddress)).size).toBe(600);
  expect(await store.claim(places[0]!, 101, candidates)).toHaveLength(100);
  expect(await store.claim(await place(), 1, candidates)).toEqual([]);
});

test('Who asks twice at once gets the same ports', async () => {
  const store = portStore(db);
  const at = await place();
  const candidates = ['10.3.0.1', '10.3.0.2', '10.3.0.3', '10.3.0.4'];
  const [one, other] = await Promise.all([store.claim(at, 2, candidates), store.claim(at, 2, candidates)]);
  expect(one).toEqual(other);
  expect(await store.ports(at)).toEqual(one);
});

test('Ports are found by their subnet, and given back', async () => {
  const store = portStore(db);
  const here = await place();
  const admin: PortPlace = { ...here, label: 'admin' };
  const port = { id: randomUUID(), ipAddress: '10.2.0.1', macAddress: '02:00:00:00:00:01' };
  await store.add(here, port);
  const [adminPort] = await store.claim(admin, 1, ['10.2.0.1', '11.0.0.1']);
  expect(adminPort?.ipAddress).toBe('11.0.0.1');
  expect(await store.ports(here)).toEqual([port]);
  expect(await store.ports(admin)).toEqual([adminPort]);
  expect(await portsOfServer(db, here.serverId)).toMatchObject([
    { ...port, subnetId: here.subnet.id, label: 'user' },
    { ipAddress: '11.0.0.1', subnetId: null, label: 'admin' },
  ]);
  await store.remove(here.serverId, [port.id]);
  expect(await store.ports(here)).toEqual([]);
  const { serverId } = await place();
  await giveAllPorts(db, here.serverId, serverId);
  expect(await store.ports({ ...admin, serverId })).toEqual([adminPort]);
});
