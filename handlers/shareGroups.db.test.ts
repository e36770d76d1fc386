import { randomUUID } from 'node:crypto';
import { type GroupWorld, none, startGroups } from '#server/local/testing/shareGroups.ts';
import { HOST } from '#server/local/testing/world.ts';
import { shareGroupSnapshots } from './shareGroupSnapshots.ts';
import { shareGroups } from './shareGroups.ts';
import { shares } from './shares.ts';

let at: GroupWorld;
beforeAll(async () => {
  at = await startGroups();
});
afterAll(() => at.world.close());
afterEach(() => at.world.rebuild());

describe('a group', () => {
  test('is placed, made, counted, renamed, and removed without a trace', async () => {
    const owner = at.world.caller();
    const made = await at.createGroup(owner, { name: 'trio', description: 'd', availability_zone: null });
    expect(made).toMatchObject({ status: 'creating', name: 'trio', host: null, share_types: [at.shareType] });
    expect(await at.world.work(made.id)).toEqual(['shareGroup.create', 'shareGroup.provision']);
    const shown = await at.showGroup(owner, made.id);
    expect(shown).toMatchObject({
      status: 'available',
      availability_zone: 'nova',
      consistent_snapshot_support: 'pool',
    });
    expect(shown.host).toContain(`${HOST}#`);
    expect(await at.world.usage(owner.projectId)).toMatchObject({ share_groups: [1, 0] });
    const { share_group: renamed } = await shareGroups.updateShareGroup({
      ...none,
      ctx: owner,
      path: { id: made.id },
      body: { name: null },
    });
    expect(renamed).toMatchObject({ name: null, description: 'd' });
    await at.deleteGroup(owner, made.id);
    expect(await at.showGroup(owner, made.id)).toMatchObject({ status: 'deleting' });
    expect(await at.world.work(made.id)).toEqual(['shareGroup.delete']);
    await expect(at.showGroup(owner, made.id)).rejects.toMatchObject({ status: 404 });
    expect(await at.world.usage(owner.projectId)).toMatchObject({ share_groups: [0, 0] });
    const rests = await at.world.db.rows`
      SELECT id FROM share_group_share_type_mappings WHERE share_group_id = ${made.id} AND deleted = 'False'`;
    expect(rests).toEqual([]);
  });

  test('whose type no back end suits is in error, with a message, and goes without a job', async () => {
    const owner = at.world.caller();
    const picky = await at.makeGroupType({ consistent_snapshot_support: 'host' });
    const { id } = await at.createGroup(owner, { share_group_type_id: picky });
    await at.world.work(id);
    expect(await at.showGroup(owner, id)).toMatchObject({ status: 'error', host: null });
    expect(await at.world.messages(id)).toEqual([['001', '002']]);
    await at.deleteGroup(owner, id);
    await expect(at.showGroup(owner, id)).rejects.toMatchObject({ status: 404 });
    expect(await at.world.usage(owner.projectId)).toMatchObject({ share_groups: [0, 0] });
  });

  test('whose share types no back end suits is in error', async () => {
    const owner = at.world.caller();
    const odd = await at.makeShareType({ thing: 'x' });
    const { id } = await at.createGroup(owner, {
      share_group_type_id: await at.makeGroupType({}, [at.shareType, odd]),
      share_types: [at.shareType, odd],
    });
    await at.world.work(id);
    expect(await at.showGroup(owner, id)).toMatchObject({ status: 'error' });
    expect(await at.world.messages(id)).toEqual([['001', '008']]);
  });

  test('that the back end fails on is in error, with a message', async () => {
    await at.world.rebuild({ fake_driver_failures: 'create_share_group:once' });
    const { owner, id } = await at.given();
    expect(await at.showGroup(owner, id)).toMatchObject({ status: 'error' });
    expect(await at.world.messages(id)).toEqual([['002', '001']]);
  });

  test('whose deletion failed can be deleted again; force ends it whatever the back end says', async () => {
    const { owner, id, work } = await at.given();
    await at.world.rebuild({ fake_driver_failures: 'delete_share_group:always' });
    await at.deleteGroup(owner, id);
    await work();
    expect(await at.showGroup(owner, id)).toMatchObject({ status: 'error' });
    expect(await at.world.messages(id)).toEqual([['007', '001']]);
    await shareGroups.forceDeleteShareGroup({ ...none, ctx: at.adminOf(owner), path: { id } });
    await work();
    await expect(at.showGroup(owner, id)).rejects.toMatchObject({ status: 404 });
  });

  test.each([
    [{ share_types: ['00000000-0000-4000-8000-000000000000'] }, 400],
    [{ share_group_type_id: '00000000-0000-4000-8000-000000000000' }, 400],
    [{ share_group_type_id: undefined }, 400],
    [{ share_types: [] }, 400],
    [{ availability_zone: 'mars' }, 404],
    [{ share_network_id: '00000000-0000-4000-8000-000000000000' }, 400],
    [{ source_share_group_snapshot_id: '00000000-0000-4000-8000-000000000000' }, 400],
    [
      { source_share_group_snapshot_id: '00000000-0000-4000-8000-000000000000', availability_zone: 'nova' },
      400,
    ],
  ])('asked for with %j is refused', async (body, status) => {
    await expect(at.createGroup(at.world.caller(), body)).rejects.toMatchObject({ status });
  });

  test('has share types of its type, all with share servers and a network, or all without', async () => {
    const owner = at.world.caller();
    const foreign = await at.makeShareType({});
    await expect(at.createGroup(owner, { share_types: [foreign] })).rejects.toMatchObject({ status: 400 });
    await expect(at.createGroup(owner, { share_types: [at.shareType, at.serverType] })).rejects.toMatchObject(
      {
        status: 400,
      },
    );
    await expect(at.createGroup(owner, { share_types: [at.serverType] })).rejects.toMatchObject({
      status: 400,
    });
    const share_network_id = randomUUID();
    await expect(
      at.createGroup(owner, { share_types: [at.serverType], share_network_id }),
    ).rejects.toMatchObject({
      status: 400,
    });
  });

  test('counts against the quota', async () => {
    const owner = at.world.caller();
    await at.world.setQuota(owner.projectId, 'share_groups', 2);
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => at.createGroup(owner)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 413 });
  });

  test('of another project is not there', async () => {
    const { owner, id, take, work } = await at.given();
    const snapshot = await take();
    await work();
    const ctx = at.world.caller();
    for (const ask of [
      () => at.showGroup(ctx, id),
      () => at.deleteGroup(ctx, id),
      () => shareGroups.updateShareGroup({ ...none, ctx, path: { id }, body: { name: 'x' } }),
      () => at.showSnapshot(ctx, snapshot.id),
      () => at.deleteSnapshot(ctx, snapshot.id),
      () => shareGroupSnapshots.listShareGroupSnapshotMembers({ ...none, ctx, path: { id: snapshot.id } }),
      () =>
        shareGroupSnapshots.updateShareGroupSnapshot({
          ...none,
          ctx,
          path: { id: snapshot.id },
          body: { name: 'x' },
        }),
      () => shares.createShare({ ...none, ctx, body: { share_proto: 'NFS', size: 1, share_group_id: id } }),
    ])
      await expect(ask()).rejects.toMatchObject({ status: 404 });
    await expect(take({}, ctx)).rejects.toMatchObject({ status: 400 });
    await expect(at.createGroup(ctx, { source_share_group_snapshot_id: snapshot.id })).rejects.toMatchObject({
      status: 400,
    });
    const reader = at.world.caller({ projectId: owner.projectId, roles: ['reader'] });
    await expect(at.deleteGroup(reader, id)).rejects.toMatchObject({ status: 403 });
    await expect(at.deleteSnapshot(reader, snapshot.id)).rejects.toMatchObject({ status: 403 });
    await expect(take({}, reader)).rejects.toMatchObject({ status: 403 });
  });

  test('has its status set by hand', async () => {
    const { owner, id } = await at.given();
    const ctx = at.adminOf(owner);
    const reset = (of: string) =>
      shareGroups.resetShareGroupStatus({ ...none, ctx, path: { id: of }, body: { status: 'deleting' } });
    await reset(id);
    expect(await at.showGroup(owner, id)).toMatchObject({ status: 'deleting' });
    await expect(at.deleteGroup(owner, id)).rejects.toMatchObject({ status: 409 });
    await expect(reset(randomUUID())).rejects.toMatchObject({ status: 404 });
  });
});

describe('a share in a group', () => {
  test('is made on the pool of the group, and deleted only by its name', async () => {
    const { owner, id, add } = await at.given();
    const share = await add();
    expect(share).toMatchObject({ share_group_id: id, availability_zone: 'nova' });
    await at.world.work(share.id);
    const { host } = await at.showShare(at.adminOf(owner), share.id);
    expect(host).toBe((await at.showGroup(owner, id)).host);
    await expect(at.deleteGroup(owner, id)).rejects.toMatchObject({ status: 409 });
    const force = shareGroups.forceDeleteShareGroup({ ...none, ctx: at.adminOf(owner), path: { id } });
    await expect(force).rejects.toMatchObject({ status: 400 });
    const remove = (query: { share_group_id?: string }) =>
      shares.deleteShare({ ...none, ctx: owner, path: { id: share.id }, query });
    await expect(remove({})).rejects.toMatchObject({ status: 400 });
    await expect(remove({ share_group_id: randomUUID() })).rejects.toMatchObject({ status: 400 });
    await remove({ share_group_id: id });
    await at.world.work(share.id);
    await at.deleteGroup(owner, id);
  });

  test('has a type of the group, and joins it when it is available', async () => {
    const { owner, id, add } = await at.given();
    await expect(add({ share_type: at.otherType })).rejects.toMatchObject({ status: 400 });
    await expect(add({ share_group_id: randomUUID() })).rejects.toMatchObject({ status: 404 });
    const ctx = at.adminOf(owner);
    await shareGroups.resetShareGroupStatus({ ...none, ctx, path: { id }, body: { status: 'error' } });
    await expect(add()).rejects.toMatchObject({ status: 400 });
  });

  test('that the pool of the group has no room for is in error', async () => {
    const { owner, add } = await at.given();
    await at.world.setQuota(owner.projectId, 'gigabytes', 1_000_000);
    const { id } = await add({ size: 100_000 });
    await at.world.work(id);
    expect(await at.showShare(owner, id)).toMatchObject({ status: 'error' });
    expect(await at.world.messages(id)).toEqual([['001', '009']]);
  });

  test('before there were groups is in none', async () => {
    const { id } = await at.given();
    const ctx = at.world.caller({ version: 30 });
    const body = { share_proto: 'NFS', size: 1, share_type: at.shareType, share_group_id: id };
    expect((await shares.createShare({ ...none, ctx, body })).share.share_group_id).toBeNull();
  });
});

test('lists are of the own project, narrowed, ordered and cut into pages', async () => {
  const owner = at.world.caller();
  for (const name of ['one', 'two_', 'three']) await at.createGroup(owner, { name });
  const listed = async (query: Record<string, string>, ctx = owner) =>
    (await shareGroups.listShareGroupsDetail({ ...none, ctx, query })).share_groups.map(({ name }) => name);
  expect(await listed({})).toEqual(['three', 'two_', 'one']);
  expect(await listed({ sort_key: 'name', sort_dir: 'asc' })).toEqual(['one', 'three', 'two_']);
  expect(await listed({ limit: '1', offset: '1' })).toEqual(['two_']);
  expect(await listed({ limit: '0' })).toHaveLength(3);
  expect(await listed({ 'name~': '_' })).toEqual(['two_']);
  expect(await listed({ name: 'one', status: 'creating' })).toEqual(['one']);
  expect(await listed({ status: 'error' })).toEqual([]);
  expect(await listed({ all_tenants: '1' }, at.world.caller())).toEqual([]);
  const admins = { all_tenants: '1', project_id: owner.projectId };
  expect(await listed(admins, at.admin)).toHaveLength(3);
  await expect(listed({ sort_key: 'bogus' })).rejects.toMatchObject({ status: 400 });
});
