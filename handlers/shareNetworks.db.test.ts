import { randomUUID } from 'node:crypto';
import { startWorld, type World } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { shareNetworkSubnets } from './shareNetworkSubnets.ts';
import { shareNetworks } from './shareNetworks.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };
const make = async (ctx: Ctx, body: Record<string, unknown> = {}) =>
  (await shareNetworks.createShareNetwork({ ...none, ctx, body })).share_network;
const show = async (ctx: Ctx, id: string) =>
  (await shareNetworks.getShareNetwork({ ...none, ctx, path: { id } })).share_network;
const change = async (ctx: Ctx, id: string, body: Record<string, unknown>) =>
  (await shareNetworks.updateShareNetwork({ ...none, ctx, path: { id }, body })).share_network;
const remove = (ctx: Ctx, id: string) => shareNetworks.deleteShareNetwork({ ...none, ctx, path: { id } });
const reset = (ctx: Ctx, id: string, status: string) =>
  shareNetworks.resetShareNetworkStatus({ ...none, ctx, path: { id }, body: { status } });
const names = async (ctx: Ctx, query: Record<string, string> = {}) =>
  (await shareNetworks.listShareNetworks({ ...none, ctx, query: query as never })).share_networks.map(
    ({ name }) => name,
  );
const addSubnet = async (ctx: Ctx, networkId: string, body: Record<string, unknown> = {}) =>
  (
    await shareNetworkSubnets.createShareNetworkSubnet({
      ...none,
      ctx,
      path: { share_network_id: networkId },
      body,
    })
  ).share_network_subnet;
const subnetOf = (network: { share_network_subnets: { id: string }[] }) =>
  network.share_network_subnets[0]!.id;
const at = (networkId: string, subnetId: string) => ({
  share_network_id: networkId,
  share_network_subnet_id: subnetId,
});

/** A member of a project, one who may only read in it, one of another project, and an administrator. */
function people() {
  const projectId = randomUUID();
  return {
    projectId,
    owner: world.caller({ projectId }),
    reader: world.caller({ projectId, roles: ['reader'] }),
    stranger: world.caller(),
    admin: world.caller({ roles: ['admin', 'member', 'reader'] }),
  };
}

/** An active share server in a subnet. */
async function server(subnetId: string): Promise<string> {
  const id = randomUUID();
  await world.db.run`
    INSERT INTO share_servers (created_at, deleted, id, host, status, is_auto_deletable) VALUES (UTC_TIMESTAMP(6), 'False', ${id}, 'testhost@fake', 'active', 0)`;
  await world.db.run`
    INSERT INTO share_server_share_network_subnet_mappings (created_at, deleted, share_server_id, share_network_subnet_id)
    VALUES (UTC_TIMESTAMP(6), 0, ${id}, ${subnetId})`;
  return id;
}

const neutron = { neutron_net_id: 'net-1', neutron_subnet_id: 'subnet-1' };

test('a network is made with a subnet, counted, changed and removed', async () => {
  const { owner, projectId } = people();
  const made = await make(owner, { name: 7, description: 'd', ...neutron, availability_zone: 'nova' });
  expect(made).toMatchObject({
    name: '7',
    description: 'd',
    status: 'active',
    security_service_update_support: true,
    // what stood for the network stands in the subnet that is for every zone, and there is none
    neutron_net_id: null,
    share_network_subnets: [{ ...neutron, availability_zone: 'nova', cidr: null, metadata: {} }],
  });
  expect(await show(owner, made.id)).toEqual(made);
  expect(await world.usage(projectId)).toMatchObject({ share_networks: [1, 0] });
  expect(await change(owner, made.id, { name: null })).toMatchObject({ name: null, description: 'd' });
  await remove(owner, made.id);
  await expect(show(owner, made.id)).rejects.toMatchObject({ status: 404 });
  expect(await world.usage(projectId)).toMatchObject({ share_networks: [0, 0] });
});

test('a network over the quota is refused, and nothing is left of it', async () => {
  const { owner, projectId } = people();
  await world.setQuota(projectId, 'share_networks', 1);
  await make(owner);
  await expect(make(owner)).rejects.toMatchObject({ status: 413 });
  expect(await names(owner)).toHaveLength(1);
});

test.each([
  [{ neutron_net_id: 'x' }, 400],
  [{ neutron_subnet_id: 'x' }, 400],
  [{ nova_net_id: null }, 400],
  [{ availability_zone: 'mars' }, 400],
  [{ availability_zone: null }, 400],
])('a network %j is refused', async (body, status) => {
  await expect(make(people().owner, body)).rejects.toMatchObject({ status });
});

test('the subnet for every zone can be pointed elsewhere, as long as there is one and no server in it', async () => {
  const { owner } = people();
  const network = await make(owner);
  await expect(change(owner, network.id, { neutron_net_id: 'x' })).rejects.toMatchObject({ status: 400 });
  await expect(change(owner, network.id, { nova_net_id: 'x' })).rejects.toMatchObject({ status: 400 });
  expect(await change(owner, network.id, neutron)).toMatchObject(neutron);
  expect(await change(owner, network.id, { neutron_net_id: 'net-2' })).toMatchObject({
    neutron_net_id: 'net-2',
    neutron_subnet_id: 'subnet-1',
  });
  await server(subnetOf(network));
  await expect(change(owner, network.id, neutron)).rejects.toMatchObject({ status: 403 });
  expect(await change(owner, network.id, { name: 'n' })).toMatchObject({ name: 'n' });
  const zoned = await make(owner, { availability_zone: 'nova' });
  await expect(change(owner, zoned.id, neutron)).rejects.toMatchObject({ status: 400 });
});

test('a network is only removed when nothing needs it', async () => {
  const { owner, projectId } = people();
  const network = await make(owner);
  const { instanceId } = await world.share({ projectId, shareNetworkId: network.id });
  await expect(remove(owner, network.id)).rejects.toMatchObject({ status: 409 });
  await world.db.run`UPDATE share_instances SET deleted = id WHERE id = ${instanceId}`;
  const second = await addSubnet(owner, network.id);
  await expect(remove(owner, network.id)).rejects.toMatchObject({ status: 409 });
  await shareNetworkSubnets.deleteShareNetworkSubnet({
    ...none,
    ctx: owner,
    path: at(network.id, second.id),
  });
  const serverId = await server(subnetOf(network));
  await expect(remove(owner, network.id)).rejects.toThrow(serverId);
  await world.db.run`UPDATE share_servers SET deleted = id WHERE id = ${serverId}`;
  await remove(owner, network.id);
  await expect(remove(owner, network.id)).rejects.toMatchObject({ status: 404 });
});

test('two who remove a network at once give its quota back once', async () => {
  const { owner, projectId } = people();
  await make(owner);
  const { id } = await make(owner);
  const outcomes = await Promise.allSettled([remove(owner, id), remove(owner, id), remove(owner, id)]);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await world.usage(projectId)).toMatchObject({ share_networks: [1, 0] });
});

test('others see nothing of a network, and readers change nothing', async () => {
  const { owner, reader, stranger, admin, projectId } = people();
  const { id } = await make(owner, { name: 'mine' });
  for (const call of [
    show,
    remove,
    (ctx: Ctx, which: string) => change(ctx, which, {}),
    (ctx: Ctx, which: string) => addSubnet(ctx, which),
  ]) {
    await expect(call(stranger, id)).rejects.toMatchObject({ status: 404 });
    await expect(call(owner, 'nope')).rejects.toMatchObject({ status: 404 });
  }
  expect(await show(reader, id)).toMatchObject({ name: 'mine' });
  await expect(remove(reader, id)).rejects.toMatchObject({ status: 403 });
  await expect(change(reader, id, {})).rejects.toMatchObject({ status: 403 });
  await expect(addSubnet(reader, id)).rejects.toMatchObject({ status: 403 });
  await expect(reset(owner, id, 'error')).rejects.toMatchObject({ status: 403 });
  expect(await names(stranger, { all_tenants: '1', project_id: projectId })).toEqual([]);
  expect(await names(admin)).toEqual([]);
  expect(await names(admin, { project_id: projectId })).toEqual(['mine']);
  expect(await names(admin, { all_tenants: '1' })).toContain('mine');
});

test('administrators set the status', async () => {
  const { owner, admin } = people();
  const { id } = await make(owner);
  await reset(admin, id, 'error');
  expect(await show(owner, id)).toMatchObject({ status: 'error' });
  await expect(reset(admin, id, 'creating')).rejects.toMatchObject({ status: 400 });
});

test('lists are narrowed by what networks and their subnets are', async () => {
  const { owner } = people();
  await make(owner, { name: 'a', description: 'first', ...neutron });
  const { id } = await make(owner, { name: 'ab', availability_zone: 'nova' });
  const expected: [Record<string, string>, string[]][] = [
    [{}, ['a', 'ab']],
    [{ name: 'a' }, ['a']],
    [{ 'name~': 'b' }, ['ab']],
    [{ description: 'first' }, ['a']],
    [{ 'description~': '%' }, []],
    [{ neutron_net_id: 'net-1' }, ['a']],
    [{ neutron_subnet_id: 'net-1' }, []],
    [{ availability_zone: 'nova' }, ['ab']],
    [{ status: 'error' }, []],
    [{ id }, ['ab']],
    [{ user_id: 'someone' }, []],
    [{ cidr: '10.0.0.0/24' }, []],
    [{ ip_version: '4' }, []],
    [{ segmentation_id: '5', network_type: 'vlan' }, ['a', 'ab']],
    [{ created_since: '2020-01-01', created_before: '2100-01-01' }, ['a', 'ab']],
    [{ created_before: '2020-01-01' }, []],
    [{ security_service_id: 'x' }, []],
    [{ nova_net_id: 'x' }, []],
    [{ limit: '1' }, ['a']],
    [{ limit: '1', offset: '1' }, ['ab']],
    [{ limit: '0' }, ['a', 'ab']],
  ];
  for (const [query, found] of expected) expect([query, await names(owner, query)]).toEqual([query, found]);
  for (const query of [
    { created_since: '2020-13-01' },
    { created_before: '2020-01-01T00:00:00' },
    { ip_version: 'six' },
  ])
    await expect(names(owner, query as never)).rejects.toMatchObject({ status: 400 });
  const detail = await shareNetworks.listShareNetworksDetail({ ...none, ctx: owner, query: {} as never });
  expect(detail.share_networks).toMatchObject([{ ...neutron, nova_net_id: null }, { neutron_net_id: null }]);
});
