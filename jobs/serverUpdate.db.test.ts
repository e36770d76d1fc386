/** Share networks that change, or go, under the shares that are on their servers. */
import { enqueue } from '#db/outbox.ts';
import { findInstance } from '#db/shareInstances.ts';
import { findShareServer, listShareServers, serverIs } from '#db/shareServers.ts';
import { shareQueue } from '#domain/services.ts';
import { shareJobs, shareLife } from '#domain/shares.ts';
import type { Ctx } from '#handlers/context.ts';
import { securityServices } from '#handlers/securityServices.ts';
import { shareNetworkSecurity } from '#handlers/shareNetworkSecurity.ts';
import { shareNetworkSubnets } from '#handlers/shareNetworkSubnets.ts';
import { shareNetworks } from '#handlers/shareNetworks.ts';
import type { WorldNetwork } from '#server/local/testing/networks.ts';
import { HOST, SERVERS_HOST, startWorld, type World } from '#server/local/testing/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.rebuildServers());

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };

/** A network with an available share on a server, and its owner. */
async function given() {
  const network = await world.network();
  const owner = world.caller({ projectId: network.projectId });
  const share = await world.share({
    projectId: network.projectId,
    status: shareLife.create.via,
    host: `${SERVERS_HOST}#pool`,
    shareNetworkId: network.id,
  });
  await world.db.transaction((tx) =>
    enqueue(tx, {
      kind: shareJobs.provision,
      queue: shareQueue(SERVERS_HOST),
      resource: share.id,
      payload: { requestId: 'r', projectId: network.projectId, userId: 'u', instanceId: share.instanceId },
    }),
  );
  const provisioned = world.work(share.id);
  let serverId: string | undefined;
  while (serverId === undefined) [{ id: serverId = undefined } = {}] = await serversOf(network);
  await world.work(serverId);
  await provisioned;
  return { network, owner, share, serverId };
}

const serversOf = (network: WorldNetwork): Promise<{ id?: string }[]> =>
  listShareServers(world.db, [serverIs.onNetwork(network.id)]);
const statusOf = async (ctx: Ctx, id: string) =>
  (await shareNetworks.getShareNetwork({ ...none, ctx, path: { id } })).share_network.status;
const serverNow = async (id: string) => (await findShareServer(world.db, id))!;
const service = async (ctx: Ctx) =>
  (await securityServices.createSecurityService({ ...none, ctx, body: { type: 'ldap' } })).security_service
    .id;
const add = (ctx: Ctx, networkId: string, id: string) =>
  shareNetworkSecurity.addShareNetworkSecurityService({
    ...none,
    ctx,
    path: { id: networkId },
    body: { security_service_id: id },
  });
const addSubnet = async (ctx: Ctx, networkId: string) =>
  (
    await shareNetworkSubnets.createShareNetworkSubnet({
      ...none,
      ctx,
      path: { share_network_id: networkId },
      body: {},
    })
  ).share_network_subnet.id;
const removeNetwork = (ctx: Ctx, id: string) =>
  shareNetworks.deleteShareNetwork({ ...none, ctx, path: { id } });

test('a back end without share servers takes no share network, and says so', async () => {
  const network = await world.network();
  const share = await world.share({
    projectId: network.projectId,
    status: shareLife.create.via,
    shareNetworkId: network.id,
  });
  await world.db.transaction((tx) =>
    enqueue(tx, {
      kind: shareJobs.provision,
      queue: shareQueue(HOST),
      resource: share.id,
      payload: { requestId: 'r', projectId: network.projectId, userId: 'u', instanceId: share.instanceId },
    }),
  );
  await world.work(share.id, 2);
  expect(await findInstance(world.db, share.instanceId)).toMatchObject({ status: 'error' });
  expect(await world.messages(share.id)).toEqual([['002', '003']]);
});

test('before security services could be changed in use, they can not', async () => {
  const { network, owner } = await given();
  const earlier = world.caller({ projectId: network.projectId, version: 62 });
  await expect(add(earlier, network.id, await service(owner))).rejects.toMatchObject({ status: 403 });
  expect(await statusOf(owner, network.id)).toBe('active');
});

test('a share stays where it was when its server reaches into a new subnet', async () => {
  const { network, owner, share, serverId } = await given();
  const before = (await findInstance(world.db, share.instanceId))!.exportLocations;
  const subnetId = await addSubnet(owner, network.id);
  expect(await statusOf(owner, network.id)).toBe('network_change');
  await world.work(serverId, 2);
  expect(await statusOf(owner, network.id)).toBe('active');
  const server = await serverNow(serverId);
  expect(server).toMatchObject({ status: 'active', share_network_subnet_ids: [network.subnetId, subnetId] });
  expect(JSON.parse(server.backend_details.subnet_allocations!)).toHaveLength(2);
  const ports = await world.db.rows`
    SELECT id FROM network_allocations WHERE share_network_subnet_id = ${subnetId} AND deleted = 'False'`;
  expect(ports).toHaveLength(2);
  expect((await findInstance(world.db, share.instanceId))!.exportLocations).toEqual(before);
});

test('with a network, or its subnet, go the servers that nothing is on', async () => {
  const { network, owner, share, serverId } = await given();
  await expect(removeNetwork(owner, network.id)).rejects.toMatchObject({ status: 409 });
  const subnet = { share_network_id: network.id, share_network_subnet_id: network.subnetId };
  const removeSubnet = () =>
    shareNetworkSubnets.deleteShareNetworkSubnet({ ...none, ctx: owner, path: subnet });
  await expect(removeSubnet()).rejects.toMatchObject({ status: 409 });
  await world.db.run`UPDATE share_instances SET deleted = id WHERE id = ${share.instanceId}`;
  await world.db.run`UPDATE share_servers SET is_auto_deletable = 0 WHERE id = ${serverId}`;
  await expect(removeNetwork(owner, network.id)).rejects.toMatchObject({ status: 409 });
  await world.db.run`UPDATE share_servers SET is_auto_deletable = 1 WHERE id = ${serverId}`;
  await removeNetwork(owner, network.id);
  expect(await serverNow(serverId)).toMatchObject({ status: 'deleting' });
  expect(await world.work(serverId, 2)).toEqual(['shareServer.delete']);
  expect(await findShareServer(world.db, serverId)).toBeUndefined();
  const ports = await world.db
    .rows`SELECT id FROM network_allocations WHERE share_server_id = ${serverId} AND deleted = 'False'`;
  expect(ports).toEqual([]);
  await expect(removeNetwork(owner, network.id)).rejects.toMatchObject({ status: 404 });
});
