import { heldRules } from '#db/heldRules.ts';
import { shareAccess } from '#handlers/shareAccess.ts';
import { shareInstances } from '#handlers/shareInstances.ts';
import { shareReplicas } from '#handlers/shareReplicas.ts';
import { shareRevert } from '#handlers/shareRevert.ts';
import { snapshots } from '#handlers/snapshots.ts';
import { replicatedShare, replicating } from '#server/local/testing/replicated.ts';
import { HOST, startWorld, type World, type WorldShare } from '#server/local/testing/world.ts';
import { lookAtReplicas } from './shareReplicaState.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.rebuild(replicating()));

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };
const admin = () => world.caller({ roles: ['admin', 'member', 'reader'] });
const failing = (failures: string) => world.rebuild(replicating({ fake_driver_failures: failures }));

async function ask(share: WorldShare) {
  const ctx = world.caller({ projectId: share.projectId });
  const body = { share_id: share.id } as never;
  const { id } = (await shareReplicas.createShareReplica({ ...none, ctx, body })).share_replica;
  const at = { ...none, ctx, path: { id } };
  return {
    id,
    ctx,
    show: async () => (await shareReplicas.getShareReplica(at)).share_replica,
    promote: () => shareReplicas.promoteShareReplica({ ...at, body: null as never }),
    remove: () => shareReplicas.deleteShareReplica(at),
    forceRemove: () => shareReplicas.forceDeleteShareReplica({ ...at, ctx: admin() }),
    resync: () => shareReplicas.resyncShareReplica({ ...at, ctx: admin() }),
    set: (status: string) =>
      shareReplicas.resetShareReplicaStatus({ ...at, ctx: admin(), body: { status } as never }),
    setState: (replica_state: string) =>
      shareReplicas.resetShareReplicaState({ ...at, ctx: admin(), body: { replica_state } as never }),
  };
}

async function pair(options: Parameters<typeof replicatedShare>[1] = {}) {
  const share = await replicatedShare(world, options);
  const replica = await ask(share);
  await world.work(share.id);
  return { share, replica };
}

test('every job of a replica’s life may run twice at once', async () => {
  const share = await replicatedShare(world);
  const replica = await ask(share);
  await world.work(share.id, 2);
  expect(await replica.show()).toMatchObject({ status: 'available', replica_state: 'in_sync' });
  await replica.resync();
  await world.work(share.id, 2);
  await replica.promote();
  await world.work(share.id, 2);
  expect(await replica.show()).toMatchObject({ status: 'available', replica_state: 'active' });
  const other = { ...none, ctx: replica.ctx, path: { id: share.instanceId } };
  await shareReplicas.deleteShareReplica(other);
  await world.work(share.id, 2);
  await expect(shareReplicas.getShareReplica(other)).rejects.toMatchObject({ status: 404 });
  expect(await world.usage(share.projectId)).toMatchObject({
    share_replicas: [1, 0],
    replica_gigabytes: [1, 0],
  });
  expect(await world.messages(replica.id)).toEqual([]);
});

test('a replica that no pool takes is in error, with the reason, and goes at once when deleted', async () => {
  await world.rebuild({
    share_backend_name: 'fake',
    replication_domain: 'rd',
    fake_driver_pools: 'pool:9:9',
  });
  const share = await replicatedShare(world);
  const replica = await ask(share);
  expect(await world.work(share.id)).toEqual(['replica.create']);
  expect(await replica.show()).toMatchObject({ status: 'error', replica_state: 'error', host: null });
  expect(await world.messages(replica.id)).toEqual([['001', '014']]);
  // It is in nobody's way.
  const allow = { access_type: 'ip', access_to: '10.0.0.1', access_level: 'rw' } as never;
  await shareAccess.allowShareAccess({ ...none, ctx: replica.ctx, path: { id: share.id }, body: allow });
  expect(await world.work(share.id)).toEqual(['share.access']);
  await replica.remove();
  expect(await world.work(share.id)).toEqual([]);
  await expect(replica.show()).rejects.toMatchObject({ status: 404 });
  expect(await world.usage(share.projectId)).toMatchObject({
    share_replicas: [1, 0],
    replica_gigabytes: [1, 0],
  });
});

test('a replica of a share whose active one is gone is in error, with the reason', async () => {
  const share = await replicatedShare(world);
  const replica = await ask(share);
  await world.db.run`UPDATE share_instances SET replica_state = 'error' WHERE id = ${share.instanceId}`;
  await world.work(share.id);
  expect(await replica.show()).toMatchObject({ status: 'error', replica_state: 'error' });
  expect(await world.messages(replica.id)).toEqual([['001', '006']]);
});

test('a replica that the back end fails to make is in error; what was begun of it is taken back', async () => {
  await failing('create_replica:always');
  const share = await replicatedShare(world);
  const replica = await ask(share);
  await world.work(share.id);
  expect(await replica.show()).toMatchObject({ status: 'error', replica_state: 'error' });
  expect(await world.messages(replica.id)).toEqual([['002', '001']]);
  await replica.remove();
  await world.work(share.id);
  expect(await world.usage(share.projectId)).toMatchObject({ share_replicas: [1, 0] });
});

test('one whose rules can not be told is in error as well', async () => {
  const share = await replicatedShare(world);
  const replica = await ask(share);
  await failing('update_access:always,delete_replica:always');
  await world.work(share.id);
  expect(await replica.show()).toMatchObject({ status: 'error', replica_state: 'error' });
});

test('a replica deleted while it is placed is not made', async () => {
  const share = await replicatedShare(world);
  const replica = await ask(share);
  await replica.remove();
  await expect(replica.show()).rejects.toMatchObject({ status: 404 });
  expect(await world.work(share.id)).toEqual(['replica.create']);
  expect(await world.usage(share.projectId)).toMatchObject({ share_replicas: [1, 0] });
});

test('a deletion that fails ends in error_deleting; force ends it', async () => {
  const { share, replica } = await pair();
  await failing('delete_replica:always');
  await replica.remove();
  await world.work(share.id);
  expect(await replica.show()).toMatchObject({ status: 'error_deleting' });
  expect(await world.messages(replica.id)).toEqual([['007', '001']]);
  await replica.forceRemove();
  await world.work(share.id);
  await expect(replica.show()).rejects.toMatchObject({ status: 404 });
  expect(await world.usage(share.projectId)).toMatchObject({ share_replicas: [1, 0] });
});

test('a promotion that fails leaves the active replica as it was', async () => {
  const { share, replica } = await pair();
  await failing('promote_replica:once');
  await replica.promote();
  expect(await world.work(share.id)).toEqual(['replica.promote']);
  expect(await replica.show()).toMatchObject({ status: 'error', replica_state: 'in_sync' });
  expect(await world.messages(replica.id)).toEqual([['004', '001']]);
  const active = { ...none, ctx: replica.ctx, path: { id: share.instanceId } };
  expect((await shareReplicas.getShareReplica(active)).share_replica).toMatchObject({
    status: 'available',
    replica_state: 'active',
  });
  await replica.set('available');
  await replica.promote();
  await world.work(share.id);
  expect(await replica.show()).toMatchObject({ status: 'available', replica_state: 'active' });
});

test.each([
  ['readable', 'ro', true],
  ['dr', 'ro', false],
  ['writable', 'rw', false],
])('rules on a %s replica are %s', async (replication, level, cast) => {
  const fake_driver_capabilities = JSON.stringify({ replication_type: replication });
  await world.rebuild(replicating({ fake_driver_capabilities }));
  const { share, replica } = await pair({ replication });
  const allow = { access_type: 'ip', access_to: '10.0.0.1', access_level: 'rw' } as never;
  await shareAccess.allowShareAccess({ ...none, ctx: replica.ctx, path: { id: share.id }, body: allow });
  await world.work(share.id);
  const levelOn = async (id: string) => (await heldRules(world.db, id)).map(({ accessLevel }) => accessLevel);
  expect(await levelOn(share.instanceId)).toEqual(['rw']);
  expect(await levelOn(replica.id)).toEqual([level]);
  expect(await replica.show()).toMatchObject({ cast_rules_to_readonly: cast });
  await replica.promote();
  await world.work(share.id);
  expect(await levelOn(replica.id)).toEqual(['rw']);
  expect(await levelOn(share.instanceId)).toEqual([level]);
});

test('replicas are looked at while nothing else is done to their share, and say how they are', async () => {
  const { share, replica } = await pair();
  await replica.setState('out_of_sync');
  await lookAtReplicas(world, HOST);
  await lookAtReplicas(world, HOST);
  expect(await world.work(share.id)).toEqual(['replica.update']);
  expect(await replica.show()).toMatchObject({ status: 'available', replica_state: 'in_sync' });

  await failing('update_replica_state:always');
  for (let look = 0; look < 2; look++) {
    await lookAtReplicas(world, HOST);
    await world.work(share.id);
  }
  expect(await replica.show()).toMatchObject({ status: 'available', replica_state: 'error' });
  // A user hears of it once.
  expect(await world.messages(replica.id)).toEqual([['005', '001']]);
  await replica.resync();
  await world.work(share.id);
  expect(await world.messages(replica.id)).toHaveLength(2);
  await world.rebuild(replicating());
  await lookAtReplicas(world, HOST);
  await world.work(share.id);
  expect(await replica.show()).toMatchObject({ replica_state: 'in_sync' });
});

test('an active replica, and one that is being made, are left alone', async () => {
  const share = await replicatedShare(world);
  await lookAtReplicas(world, HOST);
  expect(await world.work(share.id)).toEqual([]);
});

test('a snapshot missing on a replica is there after the next look', async () => {
  const { share, replica } = await pair();
  await replica.set('error');
  const body = { share_id: share.id } as never;
  const { snapshot } = await snapshots.createSnapshot({ ...none, ctx: replica.ctx, body });
  expect(await world.work(share.id)).toEqual(['snapshot.create']);
  const instances = () =>
    world.db.rows<{ status: string }>`
      SELECT status FROM share_snapshot_instances WHERE snapshot_id = ${snapshot.id} AND deleted = 'False'`;
  expect(await instances()).toHaveLength(1);
  await replica.set('available');
  await lookAtReplicas(world, HOST);
  await world.work(share.id, 2);
  expect(await instances()).toMatchObject([{ status: 'available' }, { status: 'available' }]);
});

test('a snapshot that one replica fails on is in error, and heals with the next look', async () => {
  const { share, replica } = await pair();
  await failing('update_replica_state:once');
  const body = { share_id: share.id } as never;
  const { id } = (await snapshots.createSnapshot({ ...none, ctx: replica.ctx, body })).snapshot;
  await world.work(share.id);
  const show = async () =>
    (await snapshots.getSnapshot({ ...none, ctx: replica.ctx, path: { id } })).snapshot;
  expect(await show()).toMatchObject({ status: 'error' });
  await lookAtReplicas(world, HOST);
  await world.work(share.id);
  expect(await show()).toMatchObject({ status: 'available' });
});

test('a share that was put back to a snapshot leaves its other replicas behind', async () => {
  const { share, replica } = await pair();
  const body = { share_id: share.id } as never;
  const { snapshot } = await snapshots.createSnapshot({ ...none, ctx: replica.ctx, body });
  await world.work(share.id);
  const revert = { snapshot_id: snapshot.id } as never;
  await shareRevert.revertShare({ ...none, ctx: replica.ctx, path: { id: share.id }, body: revert });
  await world.work(share.id);
  expect(await replica.show()).toMatchObject({ status: 'available', replica_state: 'out_of_sync' });
});

test('a replica deleted as an instance, by force, gives back what it counted', async () => {
  const { share, replica } = await pair();
  const ctx = admin();
  await shareInstances.forceDeleteShareInstance({ ...none, ctx, path: { id: replica.id }, body: undefined });
  await world.work(share.id);
  await expect(replica.show()).rejects.toMatchObject({ status: 404 });
  expect(await world.usage(share.projectId)).toMatchObject({
    shares: [1, 0],
    share_replicas: [1, 0],
    replica_gigabytes: [1, 0],
  });
});

test('a rule that only a replica still has goes with it', async () => {
  const { share, replica } = await pair();
  const allow = { access_type: 'ip', access_to: '10.0.0.1', access_level: 'rw' } as never;
  const { access } = await shareAccess.allowShareAccess({
    ...none,
    ctx: replica.ctx,
    path: { id: share.id },
    body: allow,
  });
  await world.work(share.id);
  await world.db.run`
    UPDATE share_instance_access_map SET deleted = id WHERE access_id = ${access.id} AND share_instance_id = ${share.instanceId}`;
  await replica.remove();
  await world.work(share.id);
  expect(
    await world.db.rows`SELECT id FROM share_access_map WHERE id = ${access.id} AND deleted = 'False'`,
  ).toEqual([]);
});
