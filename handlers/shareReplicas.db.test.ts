import { randomUUID } from 'node:crypto';
import type { Operations } from '#generated/handlers.ts';
import { replicatedShare, replicating } from '#server/local/testing/replicated.ts';
import { startWorld, type World, type WorldShare } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { shareAccess } from './shareAccess.ts';
import { shareReplicaLocations } from './shareReplicaLocations.ts';
import { shareReplicaMetadata } from './shareReplicaMetadata.ts';
import { shareReplicas } from './shareReplicas.ts';
import { shareResize } from './shareResize.ts';
import { shares } from './shares.ts';
import { snapshotInstances } from './snapshotInstances.ts';
import { snapshots } from './snapshots.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.rebuild(replicating()));

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };
const member = ({ projectId }: WorldShare) => world.caller({ projectId });
const admin = () => world.caller({ roles: ['admin', 'member', 'reader'] });

type Asked = Partial<Operations['createShareReplica']['body']>;
const create = async (ctx: Ctx, share: WorldShare, more: Asked = {}) =>
  (await shareReplicas.createShareReplica({ ...none, ctx, body: { share_id: share.id, ...more } as never }))
    .share_replica;
const show = async (ctx: Ctx, id: string) =>
  (await shareReplicas.getShareReplica({ ...none, ctx, path: { id } })).share_replica;
const promote = (ctx: Ctx, id: string, body: unknown = null) =>
  shareReplicas.promoteShareReplica({ ...none, ctx, path: { id }, body: body as never });
const remove = (ctx: Ctx, id: string) => shareReplicas.deleteShareReplica({ ...none, ctx, path: { id } });
const reset = (id: string, status: string) =>
  shareReplicas.resetShareReplicaStatus({ ...none, ctx: admin(), path: { id }, body: { status } as never });
const resetState = (id: string, replica_state: string) =>
  shareReplicas.resetShareReplicaState({
    ...none,
    ctx: admin(),
    path: { id },
    body: { replica_state } as never,
  });
const share = async (ctx: Ctx, id: string) => (await shares.getShare({ ...none, ctx, path: { id } })).share;

/** A share with a replica beside its active one. */
async function pair(options: Parameters<typeof replicatedShare>[1] = {}) {
  const made = await replicatedShare(world, options);
  const owner = member(made);
  const replica = await create(owner, made);
  await world.work(made.id);
  return { share: made, owner, replica: replica.id };
}

test('a replica is placed, made, listed, counted, and removed without a trace', async () => {
  const made = await replicatedShare(world, { size: 3 });
  const owner = member(made);
  const asked = await create(owner, made, { availability_zone: 'nova', metadata: { a: 'b' } });
  expect(asked).toMatchObject({
    share_id: made.id,
    status: 'creating',
    replica_state: null,
    availability_zone: 'nova',
    metadata: { a: 'b' },
  });
  expect(await world.work(made.id)).toEqual(['replica.create', 'replica.provision']);
  const shown = await show(owner, asked.id);
  expect(shown).toMatchObject({
    status: 'available',
    replica_state: 'in_sync',
    cast_rules_to_readonly: true,
  });
  expect(shown.host).toMatch(/^testhost@fake#pool[23]$/);
  expect(await world.usage(made.projectId)).toMatchObject({
    shares: [1, 0],
    gigabytes: [3, 0],
    share_replicas: [2, 0],
    replica_gigabytes: [6, 0],
  });
  expect(await share(owner, made.id)).toMatchObject({ has_replicas: true, status: 'available' });
  const listed = await shareReplicas.listShareReplicas({ ...none, ctx: owner, query: { share_id: made.id } });
  expect(listed.share_replicas.map(({ id }) => id).sort()).toEqual([made.instanceId, asked.id].sort());

  await remove(owner, asked.id);
  expect(await show(owner, asked.id)).toMatchObject({ status: 'deleting' });
  expect(await world.work(made.id)).toEqual(['replica.delete']);
  await expect(show(owner, asked.id)).rejects.toMatchObject({ status: 404 });
  expect(await share(owner, made.id)).toMatchObject({ has_replicas: false, status: 'available' });
  expect(await world.usage(made.projectId)).toMatchObject({
    share_replicas: [1, 0],
    replica_gigabytes: [3, 0],
  });
  const rests = await world.db.rows`
    SELECT id FROM share_instance_metadata WHERE share_instance_id = ${asked.id} AND deleted = 'False'
    UNION ALL SELECT id FROM share_instance_export_locations WHERE share_instance_id = ${asked.id} AND deleted = 0`;
  expect(rests).toEqual([]);
});

test('export locations of a replica: those for admins are for admins', async () => {
  const { owner, replica } = await pair();
  const at = { ...none, path: { share_replica_id: replica } };
  const seen = await shareReplicaLocations.listShareReplicaExportLocations({ ...at, ctx: owner });
  expect(seen.export_locations).toHaveLength(2);
  expect(seen.export_locations[0]).toMatchObject({ replica_state: 'in_sync', availability_zone: 'nova' });
  const all = await shareReplicaLocations.listShareReplicaExportLocations({ ...at, ctx: admin() });
  expect(all.export_locations).toHaveLength(3);
  const hidden = all.export_locations.find(({ is_admin_only }) => is_admin_only)!;
  const one = (ctx: Ctx, id: string) =>
    shareReplicaLocations.getShareReplicaExportLocation({
      ...none,
      ctx,
      path: { share_replica_id: replica, export_location_uuid: id },
    });
  expect((await one(admin(), hidden.id)).export_location).toMatchObject({ path: hidden.path });
  await expect(one(owner, hidden.id)).rejects.toMatchObject({ status: 403 });
  await expect(one(owner, 'nope')).rejects.toMatchObject({ status: 404 });
});

test('a share that can not be replicated is refused', async () => {
  const plain = await world.share();
  await expect(create(member(plain), plain)).rejects.toMatchObject({ status: 400 });
  const made = await replicatedShare(world);
  await expect(create(member(made), made, { availability_zone: 'mars' })).rejects.toMatchObject({
    status: 400,
  });
  await expect(create(member(made), made, { share_network_id: 'nope' })).rejects.toMatchObject({
    status: 400,
  });
  await expect(create(world.caller(), made)).rejects.toMatchObject({ status: 404 });
  await expect(create(member(made), { ...made, id: 'nope' })).rejects.toMatchObject({ status: 404 });
  await world.db.run`UPDATE share_instances SET status = 'error' WHERE id = ${made.instanceId}`;
  await expect(create(member(made), made)).rejects.toMatchObject({ status: 400 });
  const zoned = await replicatedShare(world, { specs: { availability_zones: 'elsewhere' } });
  await expect(create(member(zoned), zoned, { availability_zone: 'nova' })).rejects.toMatchObject({
    status: 400,
  });
});

test('a full quota refuses a replica, and nothing is left', async () => {
  const made = await replicatedShare(world, { size: 2 });
  await world.setQuota(made.projectId, 'replica_gigabytes', 3);
  await expect(create(member(made), made)).rejects.toMatchObject({ status: 413 });
  expect(await world.usage(made.projectId)).toMatchObject({
    share_replicas: [1, 0],
    replica_gigabytes: [2, 0],
  });
  expect(await world.work(made.id)).toEqual([]);
});

test('promotion swaps the active replica, and the access rules follow', async () => {
  const made = await replicatedShare(world);
  const owner = member(made);
  const allow = { access_type: 'ip', access_to: '10.0.0.1', access_level: 'rw' } as never;
  await shareAccess.allowShareAccess({ ...none, ctx: owner, path: { id: made.id }, body: allow });
  await world.work(made.id);
  const { id } = await create(owner, made);
  await world.work(made.id);
  const answer = await promote(owner, id, { quiesce_wait_time: '0' });
  expect(answer.share_replica).toMatchObject({ id, status: 'replication_change', replica_state: 'in_sync' });
  // An access job for each of the two, whose rules may be written by, or no longer.
  expect(await world.work(made.id)).toEqual(['replica.promote', 'share.access', 'share.access']);
  expect(await show(owner, id)).toMatchObject({
    status: 'available',
    replica_state: 'active',
    cast_rules_to_readonly: false,
  });
  expect(await show(owner, made.instanceId)).toMatchObject({
    status: 'available',
    replica_state: 'in_sync',
    cast_rules_to_readonly: true,
  });
  const { access_list } = await shareAccess.listShareAccess({ ...none, ctx: owner, path: { id: made.id } });
  expect(access_list).toMatchObject([{ state: 'active', access_level: 'rw' }]);
  expect(await share(owner, made.id)).toMatchObject({ status: 'available', access_rules_status: 'active' });

  expect(await promote(owner, id)).toEqual({});
  await remove(owner, made.instanceId);
  await world.work(made.id);
  await shares.deleteShare({ ...none, ctx: owner, path: { id: made.id } });
  expect(await world.work(made.id)).toEqual(['share.delete']);
  await expect(share(owner, made.id)).rejects.toMatchObject({ status: 404 });
  expect(await world.usage(made.projectId)).toMatchObject({
    shares: [0, 0],
    gigabytes: [0, 0],
    share_replicas: [0, 0],
    replica_gigabytes: [0, 0],
  });
});

test('what can not be promoted is refused', async () => {
  const { owner, replica } = await pair();
  for (const quiesce_wait_time of ['x', -1, 1.5, true])
    await expect(promote(owner, replica, { quiesce_wait_time })).rejects.toMatchObject({ status: 400 });
  await resetState(replica, 'out_of_sync');
  await expect(promote(owner, replica)).rejects.toMatchObject({ status: 403 });
  await reset(replica, 'error');
  await expect(promote(admin(), replica)).rejects.toMatchObject({ status: 400 });
  await reset(replica, 'available');
  expect((await promote(admin(), replica)).share_replica).toMatchObject({ status: 'replication_change' });
});

test('versions that know no quiesce time pass it over', async () => {
  const { share: made, replica } = await pair();
  const old = world.caller({ projectId: made.projectId, version: 74 });
  expect((await promote(old, replica, { quiesce_wait_time: 'x' })).share_replica).toBeDefined();
});

test('the last active replica stays, and so does a share with replicas', async () => {
  const { share: made, owner, replica } = await pair();
  await expect(remove(owner, made.instanceId)).rejects.toMatchObject({ status: 400 });
  await expect(
    shareReplicas.forceDeleteShareReplica({ ...none, ctx: admin(), path: { id: made.instanceId } }),
  ).rejects.toMatchObject({ status: 400 });
  await expect(shares.deleteShare({ ...none, ctx: owner, path: { id: made.id } })).rejects.toMatchObject({
    status: 409,
  });
  await resetState(replica, 'active');
  await remove(owner, made.instanceId);
  expect(await show(owner, made.instanceId)).toMatchObject({ status: 'deleting' });
});

test('a new rule goes to all replicas; on those that are only read it is for reading', async () => {
  const { share: made, owner, replica } = await pair();
  const allow = { access_type: 'ip', access_to: '10.0.0.2', access_level: 'rw' } as never;
  await shareAccess.allowShareAccess({ ...none, ctx: owner, path: { id: made.id }, body: allow });
  expect(await world.work(made.id)).toEqual(['share.access', 'share.access']);
  const states = await world.db.rows`
    SELECT share_instance_id, state FROM share_instance_access_map WHERE deleted = 'False'
      AND share_instance_id IN (${made.instanceId}, ${replica}) ORDER BY share_instance_id`;
  expect(states).toMatchObject([{ state: 'active' }, { state: 'active' }]);
});

test('an extension counts for every replica and touches the active one', async () => {
  const { share: made, owner, replica } = await pair();
  await shareResize.extendShare({
    ...none,
    ctx: owner,
    path: { id: made.id },
    body: { new_size: 3 } as never,
  });
  expect(await show(owner, replica)).toMatchObject({ status: 'available' });
  expect(await show(owner, made.instanceId)).toMatchObject({ status: 'extending' });
  expect(await world.usage(made.projectId)).toMatchObject({ gigabytes: [1, 2], replica_gigabytes: [2, 4] });
  await world.work(made.id);
  expect(await show(owner, made.instanceId)).toMatchObject({ status: 'available' });
  expect(await world.usage(made.projectId)).toMatchObject({ gigabytes: [3, 0], replica_gigabytes: [6, 0] });
  await shareResize.shrinkShare({
    ...none,
    ctx: owner,
    path: { id: made.id },
    body: { new_size: 2 } as never,
  });
  await world.work(made.id);
  expect(await world.usage(made.projectId)).toMatchObject({ gigabytes: [2, 0], replica_gigabytes: [4, 0] });
});

test('replicas have the snapshots of the share, those taken before and after', async () => {
  const made = await replicatedShare(world);
  const owner = member(made);
  const take = async () =>
    (await snapshots.createSnapshot({ ...none, ctx: owner, body: { share_id: made.id } as never })).snapshot
      .id;
  const instances = async (snapshot_id: string) =>
    (await snapshotInstances.listSnapshotInstancesDetail({ ...none, ctx: admin(), query: { snapshot_id } }))
      .snapshot_instances;
  const before = await take();
  await world.work(made.id);
  const { id } = await create(owner, made);
  await world.work(made.id);
  expect((await instances(before)).map((each) => [each.share_instance_id, each.status])).toEqual([
    [made.instanceId, 'available'],
    [id, 'available'],
  ]);
  const after = await take();
  expect(await world.work(made.id)).toEqual(['snapshot.create', 'snapshot.create']);
  expect(await instances(after)).toMatchObject([{ status: 'available' }, { status: 'available' }]);
  await snapshots.deleteSnapshot({ ...none, ctx: owner, path: { id: after } });
  expect(await world.work(made.id)).toEqual(['snapshot.delete', 'snapshot.delete']);
  expect(await world.usage(made.projectId)).toMatchObject({ snapshots: [1, 0] });

  await remove(owner, id);
  await world.work(made.id);
  expect(await instances(before)).toHaveLength(1);
  expect(await world.usage(made.projectId)).toMatchObject({ snapshots: [1, 0] });
});

test('metadata of a replica is kept, changed and removed', async () => {
  const { owner, replica } = await pair();
  const at = { ...none, ctx: owner, path: { resource_id: replica } };
  const sent = { a: 'b', c: 'd' };
  expect(await shareReplicaMetadata.createShareReplicaMetadata({ ...at, body: sent })).toEqual({
    metadata: sent,
  });
  expect(await shareReplicaMetadata.replaceShareReplicaMetadata({ ...at, body: { c: 'e' } })).toEqual({
    metadata: { c: 'e' },
  });
  const item = { ...none, ctx: owner, path: { resource_id: replica, key: 'c' } };
  expect(await shareReplicaMetadata.getShareReplicaMetadataItem(item)).toEqual({ meta: { c: 'e' } });
  expect(await shareReplicaMetadata.updateShareReplicaMetadataItem({ ...item, body: { c: 'f' } })).toEqual({
    metadata: { c: 'f' },
  });
  await expect(
    shareReplicaMetadata.updateShareReplicaMetadataItem({ ...item, body: { x: 'f' } }),
  ).rejects.toMatchObject({ status: 400 });
  expect(await shareReplicaMetadata.listShareReplicaMetadata(at)).toEqual({ metadata: { c: 'f' } });
  await shareReplicaMetadata.deleteShareReplicaMetadataItem(item);
  await expect(shareReplicaMetadata.deleteShareReplicaMetadataItem(item)).rejects.toMatchObject({
    status: 404,
  });
  await expect(shareReplicaMetadata.getShareReplicaMetadataItem(item)).rejects.toMatchObject({ status: 404 });
});

/** Every operation on one replica. */
const operations: Record<string, (ctx: Ctx, id: string) => Promise<unknown>> = {
  show,
  promote,
  remove,
  forceDelete: (ctx, id) => shareReplicas.forceDeleteShareReplica({ ...none, ctx, path: { id } }),
  resync: (ctx, id) => shareReplicas.resyncShareReplica({ ...none, ctx, path: { id } }),
  resetStatus: (ctx, id) =>
    shareReplicas.resetShareReplicaStatus({ ...none, ctx, path: { id }, body: { status: 'error' } }),
  resetState: (ctx, id) =>
    shareReplicas.resetShareReplicaState({ ...none, ctx, path: { id }, body: { replica_state: 'error' } }),
  locations: (ctx, id) =>
    shareReplicaLocations.listShareReplicaExportLocations({ ...none, ctx, path: { share_replica_id: id } }),
  location: (ctx, id) =>
    shareReplicaLocations.getShareReplicaExportLocation({
      ...none,
      ctx,
      path: { share_replica_id: id, export_location_uuid: 'x' },
    }),
  metadata: (ctx, id) =>
    shareReplicaMetadata.listShareReplicaMetadata({ ...none, ctx, path: { resource_id: id } }),
  addMetadata: (ctx, id) =>
    shareReplicaMetadata.createShareReplicaMetadata({
      ...none,
      ctx,
      path: { resource_id: id },
      body: { a: 'b' },
    }),
  replaceMetadata: (ctx, id) =>
    shareReplicaMetadata.replaceShareReplicaMetadata({ ...none, ctx, path: { resource_id: id }, body: {} }),
  item: (ctx, id) =>
    shareReplicaMetadata.getShareReplicaMetadataItem({ ...none, ctx, path: { resource_id: id, key: 'a' } }),
  setItem: (ctx, id) =>
    shareReplicaMetadata.updateShareReplicaMetadataItem({
      ...none,
      ctx,
      path: { resource_id: id, key: 'a' },
      body: { a: 'b' },
    }),
  removeItem: (ctx, id) =>
    shareReplicaMetadata.deleteShareReplicaMetadataItem({
      ...none,
      ctx,
      path: { resource_id: id, key: 'a' },
    }),
};
const forReaders = ['show', 'locations', 'location'];
const forAdmins = ['forceDelete', 'resync', 'resetStatus', 'resetState'];

describe.each(Object.entries(operations))('%s', (name, operation) => {
  test('is 404 for what is not there and for another project', async () => {
    const { replica, owner } = await pair();
    await expect(operation(owner, randomUUID())).rejects.toMatchObject({ status: 404 });
    await expect(operation(world.caller(), replica)).rejects.toMatchObject({ status: 404 });
    expect(await show(owner, replica)).toMatchObject({ status: 'available', replica_state: 'in_sync' });
  });

  if (forReaders.includes(name)) return;
  test('is 403 for those whom the policy does not admit', async () => {
    const { share: made, replica, owner } = await pair();
    const reader = world.caller({ projectId: made.projectId, roles: ['reader'] });
    await expect(operation(reader, replica)).rejects.toMatchObject({ status: 403 });
    if (forAdmins.includes(name))
      await expect(operation(owner, replica)).rejects.toMatchObject({ status: 403 });
  });
});

test('lists show the replicas of the own project, and to admins all, a page at a time', async () => {
  const { share: made, owner } = await pair();
  const list = async (ctx: Ctx, query: Record<string, string> = {}) =>
    shareReplicas.listShareReplicasDetail({ ...none, ctx, query });
  expect((await list(owner)).share_replicas).toHaveLength(2);
  expect((await list(world.caller(), { share_id: made.id })).share_replicas).toEqual([]);
  expect((await list(admin(), { share_id: made.id })).share_replicas).toHaveLength(2);
  expect((await list(admin())).share_replicas.length).toBeGreaterThan(2);
  const first = await list(owner, { limit: '1' });
  const second = await list(owner, { limit: '1', offset: '1' });
  expect(first.share_replicas).toHaveLength(1);
  expect(second.share_replicas[0]!.id).not.toBe(first.share_replicas[0]!.id);
});
