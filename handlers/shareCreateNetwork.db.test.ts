import { randomUUID } from 'node:crypto';
import { insertShareType } from '#db/shareTypes.ts';
import { startWorld, type World } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { shareNetworkSubnets } from './shareNetworkSubnets.ts';
import { shareNetworks } from './shareNetworks.ts';
import { shares } from './shares.ts';
import { snapshots } from './snapshots.ts';

let world: World;
const type = randomUUID();
const confined = randomUUID();
const plain = randomUUID();
beforeAll(async () => {
  world = await startWorld();
  await world.db.run`
    INSERT INTO availability_zones (id, name, deleted, created_at) VALUES (${randomUUID()}, 'mars', 'False', UTC_TIMESTAMP(6))`;
  const specs = { driver_handles_share_servers: 'True', snapshot_support: 'True' };
  await world.db.transaction(async (tx) => {
    const common = { description: null, isPublic: true };
    await insertShareType(tx, { id: type, name: 'servers', specs, ...common });
    await insertShareType(tx, {
      id: confined,
      name: 'confined',
      specs: { ...specs, availability_zones: 'mars' },
      ...common,
    });
    await insertShareType(tx, {
      id: plain,
      name: 'plain',
      specs: { driver_handles_share_servers: 'False' },
      ...common,
    });
  });
});
afterAll(() => world.close());

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };
const make = async (ctx: Ctx, body: Record<string, unknown> = {}) =>
  (
    await shares.createShare({
      ...none,
      ctx,
      body: { share_proto: 'NFS', size: 1, share_type: type, ...body } as never,
    })
  ).share;
const network = async (ctx: Ctx, body: Record<string, unknown> = {}) =>
  (await shareNetworks.createShareNetwork({ ...none, ctx, body })).share_network;

test('a share is made in a network of its project', async () => {
  const owner = world.caller();
  const { id } = await network(owner);
  expect(await make(owner, { share_network_id: id })).toMatchObject({
    share_network_id: id,
    status: 'creating',
  });
  await expect(make(owner)).rejects.toMatchObject({ status: 400 });
  await expect(make(owner, { share_network_id: '' })).rejects.toMatchObject({ status: 400 });
  await expect(make(owner, { share_network_id: 'nope' })).rejects.toMatchObject({ status: 404 });
  await expect(make(world.caller(), { share_network_id: id })).rejects.toMatchObject({ status: 404 });
  // a type without share servers keeps it, for the back end to say what it thinks of it
  expect(await make(owner, { share_type: plain, share_network_id: id })).toMatchObject({
    share_network_id: id,
  });
  await expect(shareNetworks.deleteShareNetwork({ ...none, ctx: owner, path: { id } })).rejects.toMatchObject(
    {
      status: 409,
    },
  );
});

test('a network that is not active, or has no subnet where the share may go, is refused', async () => {
  const owner = world.caller();
  const zoned = await network(owner, { availability_zone: 'mars' });
  expect(await make(owner, { share_network_id: zoned.id })).toMatchObject({ share_network_id: zoned.id });
  expect(await make(owner, { share_network_id: zoned.id, share_type: confined })).toBeDefined();
  const elsewhere = await network(owner, { availability_zone: 'nova' });
  await expect(make(owner, { share_network_id: elsewhere.id, share_type: confined })).rejects.toMatchObject({
    status: 400,
  });
  await expect(
    make(owner, { share_network_id: elsewhere.id, availability_zone: 'mars' }),
  ).rejects.toMatchObject({ status: 400 });
  await shareNetworkSubnets.deleteShareNetworkSubnet({
    ...none,
    ctx: owner,
    path: { share_network_id: zoned.id, share_network_subnet_id: zoned.share_network_subnets[0]!.id },
  });
  await expect(make(owner, { share_network_id: zoned.id })).rejects.toMatchObject({ status: 400 });
  await world.db.run`UPDATE share_networks SET status = 'network_change' WHERE id = ${elsewhere.id}`;
  await expect(make(owner, { share_network_id: elsewhere.id })).rejects.toMatchObject({ status: 400 });
});

test('a share from a snapshot is in the network of its source', async () => {
  const projectId = randomUUID();
  const owner = world.caller({ projectId });
  const [{ id }, other] = [await network(owner), await network(owner)];
  const share = await world.share({ projectId, shareTypeId: type, shareNetworkId: id });
  const taken = await snapshots.createSnapshot({
    ...none,
    ctx: owner,
    body: { share_id: share.id } as never,
  });
  await world.db
    .run`UPDATE share_snapshot_instances SET status = 'available' WHERE snapshot_id = ${taken.snapshot.id}`;
  const from = { snapshot_id: taken.snapshot.id, share_type: undefined };
  expect(await make(owner, from)).toMatchObject({ share_network_id: id });
  expect(await make(owner, { ...from, share_network_id: id })).toMatchObject({ share_network_id: id });
  await expect(make(owner, { ...from, share_network_id: other.id })).rejects.toMatchObject({ status: 400 });
});

test('of a share and the end of its network made at once, one is refused', async () => {
  const owner = world.caller();
  for (let round = 0; round < 4; round++) {
    const { id } = await network(owner);
    const [made, gone] = await Promise.allSettled([
      make(owner, { share_network_id: id }),
      shareNetworks.deleteShareNetwork({ ...none, ctx: owner, path: { id } }),
    ]);
    expect([made.status, gone.status].sort()).toEqual(['fulfilled', 'rejected']);
  }
});
