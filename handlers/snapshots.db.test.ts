import { randomUUID } from 'node:crypto';
import type { NewShare } from '#db/shares.ts';
import { startWorld, type World, type WorldShare } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { snapshotInstances } from './snapshotInstances.ts';
import { snapshots } from './snapshots.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
afterEach(() => world.rebuild());

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };
const adminOf = (share: WorldShare) =>
  world.caller({ projectId: share.projectId, roles: ['admin', 'member', 'reader'] });

/** A share, its owner, and what the owner does with snapshots of it. */
async function given(over: Partial<NewShare> = {}) {
  const share = await world.share(over);
  const owner = world.caller({ projectId: share.projectId });
  const take = async (body: Record<string, unknown> = {}, ctx: Ctx = owner) =>
    (await snapshots.createSnapshot({ ...none, ctx, body: { share_id: share.id, ...body } })).snapshot;
  return { share, owner, take, work: () => world.work(share.id), usage: () => world.usage(share.projectId) };
}
const show = async (ctx: Ctx, id: string) =>
  (await snapshots.getSnapshot({ ...none, ctx, path: { id } })).snapshot;
const remove = (ctx: Ctx, id: string) => snapshots.deleteSnapshot({ ...none, ctx, path: { id } });

test('a snapshot is taken, counted, exported, and removed without a trace', async () => {
  const { share, owner, take, work, usage } = await given({ size: 3 });
  const taken = await take({ name: 'n', description: 'd', metadata: { a: 'b' } });
  expect(taken).toMatchObject({
    status: 'creating',
    size: 3,
    share_size: 3,
    name: 'n',
    metadata: { a: 'b' },
  });
  expect(await work()).toEqual(['snapshot.create']);
  const made = await show(owner, taken.id);
  expect(made).toMatchObject({ status: 'available', description: 'd', share_proto: 'NFS' });
  expect(made.provider_location).toContain('/snapshot/');
  expect(await usage()).toMatchObject({ snapshots: [1, 0], snapshot_gigabytes: [3, 0] });

  const at = { ...none, path: { snapshot_id: taken.id } };
  const shown = await snapshotInstances.listSnapshotExportLocations({ ...at, ctx: owner });
  expect(shown.share_snapshot_export_locations).toHaveLength(2);
  const all = await snapshotInstances.listSnapshotExportLocations({ ...at, ctx: adminOf(share) });
  expect(all.share_snapshot_export_locations).toHaveLength(3);

  await remove(owner, taken.id);
  expect(await show(owner, taken.id)).toMatchObject({ status: 'deleting' });
  expect(await work()).toEqual(['snapshot.delete']);
  await expect(show(owner, taken.id)).rejects.toMatchObject({ status: 404 });
  expect(await usage()).toMatchObject({ snapshots: [0, 0], snapshot_gigabytes: [0, 0] });
  const rests = await world.db.rows`
    SELECT id FROM share_snapshot_instances WHERE snapshot_id = ${taken.id} AND deleted = 'False'
    UNION ALL SELECT id FROM share_snapshot_metadata WHERE share_snapshot_id = ${taken.id} AND deleted = 'False'`;
  expect(rests).toEqual([]);
});

test('a snapshot that the back end fails on is in error, with a message, and can be deleted', async () => {
  const { owner, take, work, usage } = await given();
  await world.rebuild({ fake_driver_failures: 'create_snapshot:once' });
  const { id } = await take();
  await work();
  expect(await show(owner, id)).toMatchObject({ status: 'error' });
  expect(await world.messages(id)).toEqual([['002', '001']]);
  expect(await usage()).toMatchObject({ snapshots: [1, 0] });
  await remove(owner, id);
  await work();
  expect(await usage()).toMatchObject({ snapshots: [0, 0], snapshot_gigabytes: [0, 0] });
});

test('a deletion that fails ends in error_deleting; force ends it whatever the back end says', async () => {
  const { share, owner, take, work, usage } = await given();
  const { id } = await take();
  await work();
  await world.rebuild({ fake_driver_failures: 'delete_snapshot:always' });
  await remove(owner, id);
  await work();
  expect(await show(owner, id)).toMatchObject({ status: 'error_deleting' });
  expect(await world.messages(id)).toEqual([['007', '001']]);
  await expect(remove(owner, id)).rejects.toMatchObject({ status: 400 });
  await snapshots.forceDeleteSnapshot({ ...none, ctx: adminOf(share), path: { id } });
  await work();
  await expect(show(owner, id)).rejects.toMatchObject({ status: 404 });
  expect(await usage()).toMatchObject({ snapshots: [0, 0] });
});

test('a snapshot deleted by force while it is being taken is gone in the end', async () => {
  const { share, owner, take, work } = await given();
  const { id } = await take();
  await snapshots.forceDeleteSnapshot({ ...none, ctx: adminOf(share), path: { id } });
  await snapshots.forceDeleteSnapshot({ ...none, ctx: adminOf(share), path: { id } });
  expect(await work()).toEqual(['snapshot.create', 'snapshot.delete', 'snapshot.delete']);
  await expect(show(owner, id)).rejects.toMatchObject({ status: 404 });
});

test('of many at once exactly as many are taken as the quota has room for', async () => {
  const { share, take, usage } = await given();
  await world.setQuota(share.projectId, 'snapshots', 3);
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => take()));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 413 });
  }
  expect(await usage()).toMatchObject({ snapshots: [3, 0], snapshot_gigabytes: [3, 0] });
});

test.each([
  ['is not available', { status: 'extending' }, 400],
  ['can not be snapshotted', { capabilities: { snapshot_support: false } as never }, 422],
])('a share that %s has no snapshot taken', async (_what, over, status) => {
  const capabilities =
    'capabilities' in over ? { capabilities: await capabilitiesBut(over.capabilities) } : {};
  const { take, usage } = await given({ ...over, ...capabilities });
  await expect(take()).rejects.toMatchObject({ status });
  expect(await usage()).not.toHaveProperty('snapshots');
});
async function capabilitiesBut(some: object) {
  return {
    snapshot_support: true,
    create_share_from_snapshot_support: true,
    revert_to_snapshot_support: true,
    mount_snapshot_support: true,
    replication_type: null,
    ...some,
  };
}

test('a share in the recycle bin has no snapshot taken', async () => {
  const { share, take } = await given();
  await world.db.run`UPDATE shares SET is_soft_deleted = 1 WHERE id = ${share.id}`;
  await expect(take()).rejects.toMatchObject({ status: 403 });
});

test('another project sees neither share nor snapshot; of a public share it takes none', async () => {
  const { owner, take, work } = await given();
  const stranger = world.caller();
  const { id } = await take();
  await work();
  await expect(take({}, stranger)).rejects.toMatchObject({ status: 404 });
  await expect(show(stranger, id)).rejects.toMatchObject({ status: 404 });
  await expect(remove(stranger, id)).rejects.toMatchObject({ status: 404 });
  await expect(
    remove(world.caller({ projectId: owner.projectId, roles: ['reader'] }), id),
  ).rejects.toMatchObject({
    status: 403,
  });
  const open = await given({ isPublic: true });
  await expect(open.take({}, stranger)).rejects.toMatchObject({ status: 403 });
});

test('an admin’s snapshot of another project’s share is the admin’s, and counts there', async () => {
  const { owner, take, usage } = await given();
  const admin = world.caller({ roles: ['admin', 'member', 'reader'] });
  const { id, project_id } = await take({}, admin);
  expect(project_id).toBe(admin.projectId);
  await expect(show(owner, id)).rejects.toMatchObject({ status: 404 });
  expect(await usage()).not.toHaveProperty('snapshots');
  expect(await world.usage(admin.projectId)).toMatchObject({ snapshots: [1, 0] });
});

test('the deletion of a snapshot waits for the share that is just being made from it', async () => {
  const { share, owner, take, work } = await given();
  const { id } = await take();
  await work();
  const clone = await world.share({ snapshotId: id, status: 'creating', projectId: share.projectId });
  await remove(owner, id);
  await expect(work()).rejects.toThrow(/being made/);
  expect(await show(owner, id)).toMatchObject({ status: 'deleting' });
  await world.db.run`UPDATE share_instances SET status = 'available' WHERE id = ${clone.instanceId}`;
  await work();
  await expect(show(owner, id)).rejects.toMatchObject({ status: 404 });
});

test('a status is set by hand, among those there are, on the snapshot and on one instance', async () => {
  const { share, owner, take, work } = await given();
  const { id } = await take();
  await work();
  const ctx = adminOf(share);
  const reset = (status: string) =>
    snapshots.resetSnapshotStatus({ ...none, ctx, path: { id }, body: { status } });
  await reset('restoring');
  expect(await show(owner, id)).toMatchObject({ status: 'restoring' });
  await expect(reset('bogus')).rejects.toMatchObject({ status: 400 });
  const query = { snapshot_id: id };
  const { snapshot_instances: found } = await snapshotInstances.listSnapshotInstancesDetail({
    ...none,
    ctx,
    query,
  });
  expect(found).toMatchObject([
    { snapshot_id: id, share_id: share.id, progress: '100%', status: 'restoring' },
  ]);
  const resetInstance = (status: string, instance = found[0]!.id) =>
    snapshotInstances.resetSnapshotInstanceStatus({ ...none, ctx, path: { id: instance }, body: { status } });
  await expect(resetInstance('restoring')).rejects.toMatchObject({ status: 400 });
  await expect(resetInstance('error', randomUUID())).rejects.toMatchObject({ status: 404 });
  await resetInstance('error');
  expect(await show(owner, id)).toMatchObject({ status: 'error' });
});

test('of several instances the worst off speaks for the snapshot', async () => {
  const { share, owner, take, work } = await given();
  const { id } = await take();
  await work();
  await world.db.run`
    INSERT INTO share_snapshot_instances (id, created_at, deleted, snapshot_id, share_instance_id, status)
    VALUES (${randomUUID()}, UTC_TIMESTAMP(6), 'False', ${id}, ${share.instanceId}, 'error')`;
  expect(await show(owner, id)).toMatchObject({ status: 'error' });
});

describe('a list', () => {
  const listed = async (ctx: Ctx, query: Record<string, string>) => {
    const { snapshots: found, ...around } = await snapshots.listSnapshotsDetail({ ...none, ctx, query });
    return { names: found.map(({ name }) => name), ...around };
  };
  let owner: Ctx;
  let shareId: string;
  beforeAll(async () => {
    const world1 = await given();
    owner = world1.owner;
    shareId = world1.share.id;
    await world1.take({ name: 'one', description: 'first', metadata: { k: 'v', l: 'w' } });
    await world1.take({ name: 'two_%', description: 'second', metadata: { k: 'v' } });
    await world1.work();
    await world1.take({ name: 'three' });
  });

  test.each([
    [{}, ['three', 'two_%', 'one']],
    [{ sort_dir: 'asc' }, ['one', 'two_%', 'three']],
    [{ sort_key: 'name', sort_dir: 'asc' }, ['one', 'three', 'two_%']],
    [{ limit: '1', offset: '1' }, ['two_%']],
    [{ name: 'one' }, ['one']],
    [{ 'name~': '_' }, ['two_%']],
    [{ 'description~': 'on' }, ['two_%']],
    [{ description: 'first' }, ['one']],
    [{ status: 'available' }, ['two_%', 'one']],
    [{ status: 'creating' }, ['three']],
    [{ metadata: '{"k": "v"}' }, ['two_%', 'one']],
    [{ metadata: "{'k': 'v', 'l': 'w'}" }, ['one']],
    [{ size: '2' }, []],
    [{ share_id: 'nope' }, []],
    [{ all_tenants: '1', project_id: 'nope' }, ['three', 'two_%', 'one']],
  ] as [Record<string, string>, string[]][])('by %j', async (query, names) => {
    expect((await listed(owner, query)).names).toEqual(names);
  });

  test('is counted whole, page or not', async () => {
    expect(await listed(owner, { limit: '1', with_count: 'true' })).toMatchObject({
      count: 3,
      names: ['three'],
    });
  });

  test('is of all projects for an admin who asks', async () => {
    const admin = world.caller({ roles: ['admin', 'member', 'reader'] });
    expect((await listed(admin, { share_id: shareId })).names).toEqual([]);
    expect((await listed(admin, { all_tenants: '1', share_id: shareId })).names).toHaveLength(3);
    expect((await listed(admin, { all_tenants: '1', project_id: owner.projectId })).names).toHaveLength(3);
  });

  test('by whether shares were made of them, for an admin', async () => {
    const admin = world.caller({ roles: ['admin', 'member', 'reader'] });
    const all = { all_tenants: '1', share_id: shareId };
    expect((await listed(admin, { ...all, usage: 'any' })).names).toHaveLength(3);
    expect((await listed(admin, { ...all, usage: 'unused' })).names).toHaveLength(3);
    expect((await listed(admin, { ...all, usage: 'used' })).names).toEqual([]);
    expect((await listed(owner, { usage: 'nonsense' })).names).toHaveLength(3);
    await expect(listed(admin, { usage: 'nonsense' })).rejects.toMatchObject({ status: 400 });
  });

  test.each([{ sort_key: 'nonsense' }, { metadata: '[1]' }, { 'name~': '' }, { limit: '-1' }, { size: 'x' }])(
    'by %j is refused',
    async (query) => {
      await expect(listed(owner, query as never)).rejects.toMatchObject({ status: 400 });
    },
  );

  test('knows of parts of names and of metadata only since the version that brought them', async () => {
    const old = world.caller({ projectId: owner.projectId, version: 35 });
    expect((await listed(old, { 'name~': 'one', metadata: '{"k": "v"}' })).names).toHaveLength(3);
  });
});
