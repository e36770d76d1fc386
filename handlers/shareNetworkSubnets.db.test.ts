import { randomUUID } from 'node:crypto';
import { startWorld, type World } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { shareNetworkSubnetMetadata } from './shareNetworkSubnetMetadata.ts';
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

test('subnets are added, shown with their network, and removed', async () => {
  const { owner, stranger, projectId } = people();
  const network = await make(owner, { name: 'n' });
  const made = await addSubnet(owner, network.id, {
    ...neutron,
    availability_zone: 'nova',
    metadata: { a: 'b' },
  });
  expect(made).toMatchObject({
    ...neutron,
    availability_zone: 'nova',
    metadata: { a: 'b' },
    share_network_id: network.id,
    share_network_name: 'n',
  });
  const path = at(network.id, made.id);
  const one = await shareNetworkSubnets.getShareNetworkSubnet({ ...none, ctx: owner, path });
  expect(one.share_network_subnet).toEqual(made);
  const all = await shareNetworkSubnets.listShareNetworkSubnets({ ...none, ctx: owner, path });
  expect(all.share_network_subnets.map(({ id }) => id)).toEqual([subnetOf(network), made.id]);
  // a subnet is not there under another network
  const other = await make(owner);
  for (const wrong of [at(other.id, made.id), at(network.id, 'nope'), at('nope', made.id)]) {
    await expect(
      shareNetworkSubnets.getShareNetworkSubnet({ ...none, ctx: owner, path: wrong }),
    ).rejects.toMatchObject({ status: 404 });
    await expect(
      shareNetworkSubnets.deleteShareNetworkSubnet({ ...none, ctx: owner, path: wrong }),
    ).rejects.toMatchObject({ status: 404 });
  }
  await expect(
    shareNetworkSubnets.deleteShareNetworkSubnet({ ...none, ctx: stranger, path }),
  ).rejects.toMatchObject({ status: 404 });
  await expect(
    shareNetworkSubnets.deleteShareNetworkSubnet({
      ...none,
      ctx: world.caller({ projectId, roles: ['reader'] }),
      path,
    }),
  ).rejects.toMatchObject({ status: 403 });
  await server(made.id);
  await expect(
    shareNetworkSubnets.deleteShareNetworkSubnet({ ...none, ctx: owner, path }),
  ).rejects.toMatchObject({ status: 409 });
  await world.db
    .run`UPDATE share_server_share_network_subnet_mappings SET deleted = id WHERE share_network_subnet_id = ${made.id}`;
  await shareNetworkSubnets.deleteShareNetworkSubnet({ ...none, ctx: owner, path });
  expect(await show(owner, network.id)).toMatchObject({ share_network_subnets: [{ id: subnetOf(network) }] });
});

test('several subnets in one zone take a version that knows of them', async () => {
  const { owner, projectId } = people();
  const { id } = await make(owner);
  const earlier = world.caller({ projectId, version: 69 });
  await expect(addSubnet(earlier, id)).rejects.toMatchObject({ status: 409 });
  await addSubnet(earlier, id, { availability_zone: 'nova' });
  await addSubnet(owner, id);
  expect((await show(owner, id)).share_network_subnets).toHaveLength(3);
  await expect(addSubnet(owner, id, { neutron_net_id: 'x' })).rejects.toMatchObject({ status: 400 });
  await expect(addSubnet(owner, id, { availability_zone: 'mars' })).rejects.toMatchObject({ status: 400 });
});

test('metadata of a subnet is written, replaced and removed by those who may', async () => {
  const { owner, stranger, reader } = people();
  const network = await make(owner);
  const path = { share_network_id: network.id, resource_id: subnetOf(network), key: 'a' };
  const on = (ctx: Ctx, body?: Record<string, string>) => ({ ...none, ctx, path, body: body as never });
  const md = shareNetworkSubnetMetadata;
  await md.createShareNetworkSubnetMetadata(on(owner, { a: 'b', c: 'd' }));
  expect(await md.createShareNetworkSubnetMetadata(on(owner, { e: 'f' }))).toEqual({ metadata: { e: 'f' } });
  expect(await md.listShareNetworkSubnetMetadata(on(reader))).toEqual({
    metadata: { a: 'b', c: 'd', e: 'f' },
  });
  expect(await md.getShareNetworkSubnetMetadataItem(on(owner))).toEqual({ meta: { a: 'b' } });
  await md.updateShareNetworkSubnetMetadataItem(on(owner, { a: 'x' }));
  await expect(md.updateShareNetworkSubnetMetadataItem(on(owner, { q: 'x' }))).rejects.toMatchObject({
    status: 400,
  });
  expect(await md.replaceShareNetworkSubnetMetadata(on(owner, { a: 'z' }))).toEqual({ metadata: { a: 'z' } });
  await md.deleteShareNetworkSubnetMetadataItem(on(owner));
  await expect(md.deleteShareNetworkSubnetMetadataItem(on(owner))).rejects.toMatchObject({ status: 404 });
  await expect(md.getShareNetworkSubnetMetadataItem(on(owner))).rejects.toMatchObject({ status: 404 });
  for (const operation of Object.values(md)) {
    const call = operation as (request: never) => Promise<unknown>;
    await expect(call(on(stranger, { a: 'b' }) as never)).rejects.toMatchObject({ status: 404 });
  }
  for (const write of [
    md.createShareNetworkSubnetMetadata,
    md.replaceShareNetworkSubnetMetadata,
    md.updateShareNetworkSubnetMetadataItem,
  ])
    await expect(write(on(reader, { a: 'b' }))).rejects.toMatchObject({ status: 403 });
  await expect(md.deleteShareNetworkSubnetMetadataItem(on(reader))).rejects.toMatchObject({ status: 403 });
});
