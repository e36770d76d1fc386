import { randomUUID } from 'node:crypto';
import { HOST, startWorld, type World } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { shareGroupSnapshots } from './shareGroupSnapshots.ts';
import { shareGroups } from './shareGroups.ts';
import { shareGroupTypes } from './shareGroupTypes.ts';
import { shareState } from './shareState.ts';
import { shares } from './shares.ts';
import { shareTypes } from './shareTypes.ts';

let world: World;
let admin: Ctx;
let shareType: string;
let otherType: string;
let serverType: string;
let groupType: string;
beforeAll(async () => {
  world = await startWorld();
  admin = world.caller({ roles: ['admin', 'member', 'reader'] });
  shareType = await makeShareType({ snapshot_support: 'True', create_share_from_snapshot_support: 'True' });
  otherType = await makeShareType({});
  serverType = await makeShareType({ driver_handles_share_servers: 'True' });
  groupType = await makeGroupType({});
});
afterAll(() => world.close());
afterEach(() => world.rebuild());

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };

async function makeShareType(specs: Record<string, string>): Promise<string> {
  const extra_specs = { driver_handles_share_servers: 'False', ...specs };
  const made = await shareTypes.createShareType({
    ...none,
    ctx: admin,
    body: { name: randomUUID(), extra_specs },
  });
  return made.share_type.id;
}

async function makeGroupType(
  group_specs: Record<string, string>,
  types = [shareType, otherType, serverType],
): Promise<string> {
  const body = { name: randomUUID(), share_types: types, group_specs };
  return (await shareGroupTypes.createShareGroupType({ ...none, ctx: admin, body })).share_group_type.id;
}

const createGroup = async (ctx: Ctx, body: Record<string, unknown> = {}) =>
  (
    await shareGroups.createShareGroup({
      ...none,
      ctx,
      body: {
        share_group_type_id: groupType,
        ...(body.source_share_group_snapshot_id ? {} : { share_types: [shareType] }),
        ...body,
      },
    })
  ).share_group;
const showGroup = async (ctx: Ctx, id: string) =>
  (await shareGroups.getShareGroup({ ...none, ctx, path: { id } })).share_group;
const deleteGroup = (ctx: Ctx, id: string) => shareGroups.deleteShareGroup({ ...none, ctx, path: { id } });
const showShare = async (ctx: Ctx, id: string) =>
  (await shares.getShare({ ...none, ctx, path: { id } })).share;
const showSnapshot = async (ctx: Ctx, id: string) =>
  (await shareGroupSnapshots.getShareGroupSnapshot({ ...none, ctx, path: { id } })).share_group_snapshot;
const deleteSnapshot = (ctx: Ctx, id: string) =>
  shareGroupSnapshots.deleteShareGroupSnapshot({ ...none, ctx, path: { id } });
const adminOf = (ctx: Ctx) =>
  world.caller({ projectId: ctx.projectId, roles: ['admin', 'member', 'reader'] });

/** An available group of a new project, and what its owner does with it. */
async function given(members = 0) {
  const owner = world.caller();
  const group = await createGroup(owner, { name: 'g' });
  await world.work(group.id);
  const add = async (body: Record<string, unknown> = {}) =>
    (
      await shares.createShare({
        ...none,
        ctx: owner,
        body: { share_proto: 'NFS', size: 2, share_type: shareType, share_group_id: group.id, ...body },
      })
    ).share;
  const member = async () => {
    const { id } = await add();
    await world.work(id);
    return id;
  };
  const memberIds: string[] = [];
  for (let i = 0; i < members; i++) memberIds.push(await member());
  const take = async (body: Record<string, unknown> = {}, ctx = owner) =>
    (
      await shareGroupSnapshots.createShareGroupSnapshot({
        ...none,
        ctx,
        body: { share_group_id: group.id, ...body },
      })
    ).share_group_snapshot;
  return {
    owner,
    id: group.id,
    add,
    member,
    memberIds,
    take,
    work: () => world.work(group.id),
    usage: () => world.usage(owner.projectId),
  };
}

describe('a group', () => {
  test('is placed, made, counted, renamed, and removed without a trace', async () => {
    const owner = world.caller();
    const made = await createGroup(owner, { name: 'trio', description: 'd' });
    expect(made).toMatchObject({ status: 'creating', name: 'trio', host: null, share_types: [shareType] });
    expect(await world.work(made.id)).toEqual(['shareGroup.create', 'shareGroup.provision']);
    const shown = await showGroup(owner, made.id);
    expect(shown).toMatchObject({
      status: 'available',
      availability_zone: 'nova',
      consistent_snapshot_support: 'pool',
    });
    expect(shown.host).toContain(`${HOST}#`);
    expect(await world.usage(owner.projectId)).toMatchObject({ share_groups: [1, 0] });
    const { share_group: renamed } = await shareGroups.updateShareGroup({
      ...none,
      ctx: owner,
      path: { id: made.id },
      body: { name: null },
    });
    expect(renamed).toMatchObject({ name: null, description: 'd' });
    await deleteGroup(owner, made.id);
    expect(await showGroup(owner, made.id)).toMatchObject({ status: 'deleting' });
    expect(await world.work(made.id)).toEqual(['shareGroup.delete']);
    await expect(showGroup(owner, made.id)).rejects.toMatchObject({ status: 404 });
    expect(await world.usage(owner.projectId)).toMatchObject({ share_groups: [0, 0] });
    const rests = await world.db.rows`
      SELECT id FROM share_group_share_type_mappings WHERE share_group_id = ${made.id} AND deleted = 'False'`;
    expect(rests).toEqual([]);
  });

  test('whose type no back end suits is in error, with a message, and goes without a job', async () => {
    const owner = world.caller();
    const picky = await makeGroupType({ consistent_snapshot_support: 'host' });
    const { id } = await createGroup(owner, { share_group_type_id: picky });
    await world.work(id);
    expect(await showGroup(owner, id)).toMatchObject({ status: 'error', host: null });
    expect(await world.messages(id)).toEqual([['001', '002']]);
    await deleteGroup(owner, id);
    await expect(showGroup(owner, id)).rejects.toMatchObject({ status: 404 });
    expect(await world.usage(owner.projectId)).toMatchObject({ share_groups: [0, 0] });
  });

  test('whose share types no back end suits is in error', async () => {
    const owner = world.caller();
    const odd = await makeShareType({ thing: 'x' });
    const { id } = await createGroup(owner, {
      share_group_type_id: await makeGroupType({}, [shareType, odd]),
      share_types: [shareType, odd],
    });
    await world.work(id);
    expect(await showGroup(owner, id)).toMatchObject({ status: 'error' });
    expect(await world.messages(id)).toEqual([['001', '008']]);
  });

  test('that the back end fails on is in error, with a message', async () => {
    await world.rebuild({ fake_driver_failures: 'create_share_group:once' });
    const { owner, id } = await given();
    expect(await showGroup(owner, id)).toMatchObject({ status: 'error' });
    expect(await world.messages(id)).toEqual([['002', '001']]);
  });

  test('whose deletion failed can be deleted again; force ends it whatever the back end says', async () => {
    const { owner, id, work } = await given();
    await world.rebuild({ fake_driver_failures: 'delete_share_group:always' });
    await deleteGroup(owner, id);
    await work();
    expect(await showGroup(owner, id)).toMatchObject({ status: 'error' });
    expect(await world.messages(id)).toEqual([['007', '001']]);
    await shareGroups.forceDeleteShareGroup({ ...none, ctx: adminOf(owner), path: { id } });
    await work();
    await expect(showGroup(owner, id)).rejects.toMatchObject({ status: 404 });
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
    await expect(createGroup(world.caller(), body)).rejects.toMatchObject({ status });
  });

  test('has share types of its type, all with share servers and a network, or all without', async () => {
    const owner = world.caller();
    const foreign = await makeShareType({});
    await expect(createGroup(owner, { share_types: [foreign] })).rejects.toMatchObject({ status: 400 });
    await expect(createGroup(owner, { share_types: [shareType, serverType] })).rejects.toMatchObject({
      status: 400,
    });
    await expect(createGroup(owner, { share_types: [serverType] })).rejects.toMatchObject({ status: 400 });
    const share_network_id = randomUUID();
    await expect(createGroup(owner, { share_types: [serverType], share_network_id })).rejects.toMatchObject({
      status: 400,
    });
  });

  test('counts against the quota', async () => {
    const owner = world.caller();
    await world.setQuota(owner.projectId, 'share_groups', 2);
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => createGroup(owner)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    for (const result of results)
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ status: 413 });
  });

  test('of another project is not there', async () => {
    const { owner, id, take, work } = await given();
    const snapshot = await take();
    await work();
    const ctx = world.caller();
    for (const ask of [
      () => showGroup(ctx, id),
      () => deleteGroup(ctx, id),
      () => shareGroups.updateShareGroup({ ...none, ctx, path: { id }, body: { name: 'x' } }),
      () => showSnapshot(ctx, snapshot.id),
      () => deleteSnapshot(ctx, snapshot.id),
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
    await expect(createGroup(ctx, { source_share_group_snapshot_id: snapshot.id })).rejects.toMatchObject({
      status: 400,
    });
    const reader = world.caller({ projectId: owner.projectId, roles: ['reader'] });
    await expect(deleteGroup(reader, id)).rejects.toMatchObject({ status: 403 });
    await expect(deleteSnapshot(reader, snapshot.id)).rejects.toMatchObject({ status: 403 });
    await expect(take({}, reader)).rejects.toMatchObject({ status: 403 });
  });

  test('has its status set by hand', async () => {
    const { owner, id } = await given();
    const ctx = adminOf(owner);
    const reset = (of: string) =>
      shareGroups.resetShareGroupStatus({ ...none, ctx, path: { id: of }, body: { status: 'deleting' } });
    await reset(id);
    expect(await showGroup(owner, id)).toMatchObject({ status: 'deleting' });
    await expect(deleteGroup(owner, id)).rejects.toMatchObject({ status: 409 });
    await expect(reset(randomUUID())).rejects.toMatchObject({ status: 404 });
  });
});

describe('a share in a group', () => {
  test('is made on the pool of the group, and deleted only by its name', async () => {
    const { owner, id, add } = await given();
    const share = await add();
    expect(share).toMatchObject({ share_group_id: id, availability_zone: 'nova' });
    await world.work(share.id);
    const { host } = await showShare(adminOf(owner), share.id);
    expect(host).toBe((await showGroup(owner, id)).host);
    await expect(deleteGroup(owner, id)).rejects.toMatchObject({ status: 409 });
    const force = shareGroups.forceDeleteShareGroup({ ...none, ctx: adminOf(owner), path: { id } });
    await expect(force).rejects.toMatchObject({ status: 400 });
    const remove = (query: { share_group_id?: string }) =>
      shares.deleteShare({ ...none, ctx: owner, path: { id: share.id }, query });
    await expect(remove({})).rejects.toMatchObject({ status: 400 });
    await expect(remove({ share_group_id: randomUUID() })).rejects.toMatchObject({ status: 400 });
    await remove({ share_group_id: id });
    await world.work(share.id);
    await deleteGroup(owner, id);
  });

  test('has a type of the group, and joins it when it is available', async () => {
    const { owner, id, add } = await given();
    await expect(add({ share_type: otherType })).rejects.toMatchObject({ status: 400 });
    await expect(add({ share_group_id: randomUUID() })).rejects.toMatchObject({ status: 404 });
    const ctx = adminOf(owner);
    await shareGroups.resetShareGroupStatus({ ...none, ctx, path: { id }, body: { status: 'error' } });
    await expect(add()).rejects.toMatchObject({ status: 400 });
  });

  test('that the pool of the group has no room for is in error', async () => {
    const { owner, add } = await given();
    await world.setQuota(owner.projectId, 'gigabytes', 1_000_000);
    const { id } = await add({ size: 100_000 });
    await world.work(id);
    expect(await showShare(owner, id)).toMatchObject({ status: 'error' });
    expect(await world.messages(id)).toEqual([['001', '009']]);
  });

  test('before there were groups is in none', async () => {
    const { id } = await given();
    const ctx = world.caller({ version: 30 });
    const body = { share_proto: 'NFS', size: 1, share_type: shareType, share_group_id: id };
    expect((await shares.createShare({ ...none, ctx, body })).share.share_group_id).toBeNull();
  });
});

describe('a snapshot of a group', () => {
  test('is of all its shares, holds them, and is removed without a trace', async () => {
    const { owner, id, memberIds, take, work, usage } = await given(2);
    const taken = await take({ name: 's' });
    expect(taken).toMatchObject({ status: 'creating', name: 's', share_group_id: id, members: [] });
    expect(await work()).toEqual(['shareGroupSnapshot.create']);
    const shown = await showSnapshot(owner, taken.id);
    expect(shown).toMatchObject({ status: 'available' });
    expect(shown.members.map(({ share_id, size }) => [share_id, size]).sort()).toEqual(
      memberIds.map((shareId) => [shareId, 2]).sort(),
    );
    const { share_group_snapshot_members: members } = await shareGroupSnapshots.listShareGroupSnapshotMembers(
      {
        ...none,
        ctx: owner,
        path: { id: taken.id },
      },
    );
    expect(members).toHaveLength(2);
    expect(members[0]).toMatchObject({ share_protocol: 'NFS', share_group_snapshot_id: taken.id });
    expect(await usage()).toMatchObject({ share_group_snapshots: [1, 0] });
    await expect(deleteGroup(owner, id)).rejects.toMatchObject({ status: 409 });
    const member = { ...none, ctx: owner, path: { id: memberIds[0]! } };
    const byName = { ...member, query: { share_group_id: id } };
    await expect(shares.deleteShare(byName)).rejects.toMatchObject({ status: 403 });
    await expect(shareState.softDeleteShare(member)).rejects.toMatchObject({ status: 403 });
    const force = { ...member, ctx: adminOf(owner) };
    await expect(shareState.forceDeleteShare(force)).rejects.toMatchObject({ status: 400 });
    await deleteSnapshot(owner, taken.id);
    expect(await work()).toEqual(['shareGroupSnapshot.delete']);
    await expect(showSnapshot(owner, taken.id)).rejects.toMatchObject({ status: 404 });
    expect(await usage()).toMatchObject({ share_group_snapshots: [0, 0] });
    const rests = await world.db.rows`
      SELECT id FROM share_snapshot_instances WHERE share_group_snapshot_id = ${taken.id} AND deleted = 'False'`;
    expect(rests).toEqual([]);
    await shares.deleteShare(byName);
  });

  test('of a group that is not available, or has a share that is not, is refused', async () => {
    const { owner, id, memberIds, take } = await given(1);
    await world.db.run`UPDATE share_instances SET status = 'error' WHERE share_id = ${memberIds[0]!}`;
    await expect(take()).rejects.toMatchObject({ status: 409 });
    const ctx = adminOf(owner);
    await shareGroups.resetShareGroupStatus({ ...none, ctx, path: { id }, body: { status: 'error' } });
    await expect(take()).rejects.toMatchObject({ status: 409 });
    await expect(take({ share_group_id: randomUUID() })).rejects.toMatchObject({ status: 400 });
  });

  test('that the back end fails on is in error with its members, and can be deleted', async () => {
    const { owner, id, take, work } = await given(1);
    await world.rebuild({ fake_driver_failures: 'create_share_group_snapshot:once' });
    const taken = await take();
    await work();
    expect(await showSnapshot(owner, taken.id)).toMatchObject({ status: 'error' });
    expect(await world.messages(id)).toEqual([['002', '001']]);
    const members = await world.db.rows<{ status: string }>`
      SELECT status FROM share_snapshot_instances WHERE share_group_snapshot_id = ${taken.id}`;
    expect(members.map(({ status }) => status)).toEqual(['error']);
    await deleteSnapshot(owner, taken.id);
    await work();
    await expect(showSnapshot(owner, taken.id)).rejects.toMatchObject({ status: 404 });
  });

  test('whose deletion failed is in error; force ends it whatever the back end says', async () => {
    const { owner, take, work } = await given(1);
    const { id } = await take();
    await work();
    await world.rebuild({ fake_driver_failures: 'delete_share_group_snapshot:always' });
    await deleteSnapshot(owner, id);
    await work();
    expect(await showSnapshot(owner, id)).toMatchObject({ status: 'error' });
    const path = { id };
    const ctx = adminOf(owner);
    const body = { status: 'creating' };
    await shareGroupSnapshots.resetShareGroupSnapshotStatus({ ...none, ctx, path, body: body as never });
    await expect(deleteSnapshot(owner, id)).rejects.toMatchObject({ status: 409 });
    await shareGroupSnapshots.forceDeleteShareGroupSnapshot({ ...none, ctx, path });
    await work();
    await expect(showSnapshot(owner, id)).rejects.toMatchObject({ status: 404 });
  });

  test('counts against the quota', async () => {
    const { owner, take } = await given();
    await world.setQuota(owner.projectId, 'share_group_snapshots', 1);
    await take();
    await expect(take()).rejects.toMatchObject({ status: 413 });
  });

  test('is renamed', async () => {
    const { owner, take } = await given();
    const { id } = await take({ name: 'a' });
    const body = { description: 'd' };
    const { share_group_snapshot: changed } = await shareGroupSnapshots.updateShareGroupSnapshot({
      ...none,
      ctx: owner,
      path: { id },
      body,
    });
    expect(changed).toMatchObject({ name: 'a', description: 'd' });
  });
});

describe('a group from a snapshot', () => {
  test('has shares of its own, made from the members', async () => {
    const { owner, id, take, work, usage } = await given(2);
    const snapshot = await take();
    await work();
    const made = await createGroup(owner, { source_share_group_snapshot_id: snapshot.id });
    const host = (await showGroup(owner, id)).host;
    expect(made).toMatchObject({ status: 'creating', host, source_share_group_snapshot_id: snapshot.id });
    const { shares: found } = await shares.listSharesDetail({
      ...none,
      ctx: owner,
      query: { share_group_id: made.id },
    });
    const members = (await showSnapshot(owner, snapshot.id)).members.map((member) => member.id);
    expect(found.map((share) => share.source_share_group_snapshot_member_id).sort()).toEqual(members.sort());
    await expect(world.work(made.id)).rejects.toThrow(/being made/);
    // The snapshot is needed until they are.
    await deleteSnapshot(owner, snapshot.id);
    await expect(work()).rejects.toThrow(/being made/);
    for (const share of found) expect(await world.work(share.id)).toEqual(['share.provision']);
    expect(await world.work(made.id)).toEqual(['shareGroup.fill']);
    expect(await showGroup(owner, made.id)).toMatchObject({
      status: 'available',
      consistent_snapshot_support: 'pool',
    });
    for (const share of found) {
      expect(await showShare(owner, share.id)).toMatchObject({
        status: 'available',
        size: 2,
        snapshot_id: null,
      });
    }
    await work();
    await expect(showSnapshot(owner, snapshot.id)).rejects.toMatchObject({ status: 404 });
    expect(await usage()).toMatchObject({ share_groups: [2, 0], shares: [4, 0], gigabytes: [8, 0] });
  });

  test('is in error when one of its shares could not be made', async () => {
    const { owner, take, work } = await given(1);
    const snapshot = await take();
    await work();
    await world.rebuild({ fake_driver_failures: 'create_share_from_snapshot:once' });
    const made = await createGroup(owner, { source_share_group_snapshot_id: snapshot.id });
    await expect(world.work(made.id)).rejects.toThrow(/being made/);
    const { shares: found } = await shares.listShares({
      ...none,
      ctx: owner,
      query: { share_group_id: made.id },
    });
    await world.work(found[0]!.id);
    await world.work(made.id);
    expect(await showGroup(owner, made.id)).toMatchObject({ status: 'error' });
    expect(await showShare(owner, found[0]!.id)).toMatchObject({ status: 'error' });
    expect(await world.messages(made.id)).toEqual([['002', '017']]);
  });

  test('is in error with its shares when the group itself could not be made', async () => {
    const { owner, take, work } = await given(1);
    const snapshot = await take();
    await work();
    await world.rebuild({ fake_driver_failures: 'create_share_group:once' });
    const made = await createGroup(owner, { source_share_group_snapshot_id: snapshot.id });
    await world.work(made.id);
    expect(await showGroup(owner, made.id)).toMatchObject({ status: 'error' });
    const { shares: found } = await shares.listSharesDetail({
      ...none,
      ctx: owner,
      query: { share_group_id: made.id },
    });
    expect(found).toMatchObject([{ status: 'error' }]);
  });

  test('is not made of a snapshot that is not available, nor beyond the quota', async () => {
    const { owner, take, work } = await given(1);
    const snapshot = await take();
    const from = { source_share_group_snapshot_id: snapshot.id };
    await expect(createGroup(owner, from)).rejects.toMatchObject({ status: 409 });
    await work();
    await expect(createGroup(owner, { ...from, share_types: [shareType] })).rejects.toMatchObject({
      status: 400,
    });
    await world.setQuota(owner.projectId, 'shares', 1);
    await expect(createGroup(owner, from)).rejects.toMatchObject({ status: 413 });
    expect(await world.usage(owner.projectId)).toMatchObject({ share_groups: [1, 0], shares: [1, 0] });
  });
});

describe('a group with share servers', () => {
  /** Works on the resource, and on the servers that it waits for. */
  async function settle(resource: string): Promise<void> {
    for (let isDone = false; !isDone; ) {
      let isOver = false;
      const working = world
        .work(resource)
        .then(
          () => true,
          (error: Error) => {
            if (!/just being/.test(error.message)) throw error;
            return false;
          },
        )
        .finally(() => {
          isOver = true;
        });
      while (!isOver) {
        for (const { id } of await world.db.rows<{ id: string }>`SELECT id FROM share_servers`)
          await world.work(id);
        await new Promise((next) => setTimeout(next, 20));
      }
      isDone = await working;
    }
  }

  async function placed() {
    const network = await world.network();
    const owner = world.caller({ projectId: network.projectId });
    const { id } = await createGroup(owner, { share_types: [serverType], share_network_id: network.id });
    await settle(id);
    return { network, owner, id, shown: await showGroup(owner, id) };
  }

  test('is on one, with all its shares and those of groups from its snapshots', async () => {
    const { network, owner, id, shown } = await placed();
    expect(shown).toMatchObject({ status: 'available', share_network_id: network.id });
    expect(shown.share_server_id).not.toBeNull();
    const body = { share_proto: 'NFS', size: 1, share_type: serverType, share_group_id: id };
    const { share } = await shares.createShare({ ...none, ctx: owner, body });
    await settle(share.id);
    const on = { share_server_id: shown.share_server_id, share_network_id: network.id };
    expect(await showShare(owner, share.id)).toMatchObject({ status: 'available', ...on });
    const taken = await shareGroupSnapshots.createShareGroupSnapshot({
      ...none,
      ctx: owner,
      body: { share_group_id: id },
    });
    await world.work(id);
    const made = await createGroup(owner, { source_share_group_snapshot_id: taken.share_group_snapshot.id });
    await expect(world.work(made.id)).rejects.toThrow(/being made/);
    const query = { share_group_id: made.id };
    const { shares: found } = await shares.listShares({ ...none, ctx: owner, query });
    await settle(found[0]!.id);
    await world.work(made.id);
    expect(await showGroup(owner, made.id)).toMatchObject({ status: 'available', ...on });
    expect(await showShare(owner, found[0]!.id)).toMatchObject({ status: 'available', ...on });
  });

  test('is in error when there is none to be had', async () => {
    await world.rebuildServers({ fake_driver_failures: 'setup_server:always' });
    const { id, shown } = await placed();
    expect(shown).toMatchObject({ status: 'error', share_server_id: null });
    expect(await world.messages(id)).toEqual([['002', '004']]);
    await world.rebuildServers();
  });

  test('leaves it when it is deleted', async () => {
    Object.assign(world.backendOptions, { delete_share_server_with_last_share: true });
    const { owner, id, shown } = await placed();
    await deleteGroup(owner, id);
    await world.work(id);
    await world.work(shown.share_server_id!);
    const left = await world.db.rows`
      SELECT id FROM share_servers WHERE id = ${shown.share_server_id} AND deleted = 'False'`;
    expect(left).toEqual([]);
    Object.assign(world.backendOptions, { delete_share_server_with_last_share: false });
  });
});

test('lists are of the own project, narrowed, ordered and cut into pages', async () => {
  const owner = world.caller();
  for (const name of ['one', 'two_', 'three']) await createGroup(owner, { name });
  const listed = async (query: Record<string, string>, ctx = owner) =>
    (await shareGroups.listShareGroupsDetail({ ...none, ctx, query })).share_groups.map(({ name }) => name);
  expect(await listed({})).toEqual(['three', 'two_', 'one']);
  expect(await listed({ sort_key: 'name', sort_dir: 'asc' })).toEqual(['one', 'three', 'two_']);
  expect(await listed({ limit: '1', offset: '1' })).toEqual(['two_']);
  expect(await listed({ limit: '0' })).toHaveLength(3);
  expect(await listed({ 'name~': '_' })).toEqual(['two_']);
  expect(await listed({ name: 'one', status: 'creating' })).toEqual(['one']);
  expect(await listed({ status: 'error' })).toEqual([]);
  expect(await listed({ all_tenants: '1' }, world.caller())).toEqual([]);
  const admins = { all_tenants: '1', project_id: owner.projectId };
  expect(await listed(admins, admin)).toHaveLength(3);
  await expect(listed({ sort_key: 'bogus' })).rejects.toMatchObject({ status: 400 });
});

test('lists of snapshots are of the own project, narrowed, ordered and cut into pages', async () => {
  const { owner, id, take } = await given();
  for (const name of ['one', 'two', 'three']) await take({ name });
  const listed = async (query: Record<string, string>, ctx = owner) =>
    (
      await shareGroupSnapshots.listShareGroupSnapshotsDetail({ ...none, ctx, query })
    ).share_group_snapshots.map(({ name }) => name);
  expect(await listed({})).toEqual(['three', 'two', 'one']);
  expect(await listed({ sort_key: 'name', sort_dir: 'asc', limit: '2' })).toEqual(['one', 'three']);
  expect(await listed({ share_group_id: id, name: 'two' })).toEqual(['two']);
  expect(await listed({ share_group_id: randomUUID() })).toEqual([]);
  expect(await listed({}, world.caller())).toEqual([]);
  expect(await listed({ all_tenants: '1', share_group_id: id }, admin)).toHaveLength(3);
});

test('jobs run by two workers at once leave what one leaves', async () => {
  const owner = world.caller();
  const { id } = await createGroup(owner);
  await world.work(id, 2);
  expect(await showGroup(owner, id)).toMatchObject({ status: 'available' });
  const body = { share_proto: 'NFS', size: 1, share_type: shareType, share_group_id: id };
  const { share } = await shares.createShare({ ...none, ctx: owner, body });
  await world.work(share.id, 2);
  const created = await shareGroupSnapshots.createShareGroupSnapshot({
    ...none,
    ctx: owner,
    body: { share_group_id: id },
  });
  const snapshot = created.share_group_snapshot;
  await world.work(id, 2);
  expect((await showSnapshot(owner, snapshot.id)).members).toHaveLength(1);
  await deleteSnapshot(owner, snapshot.id);
  await world.work(id, 2);
  await shares.deleteShare({ ...none, ctx: owner, path: { id: share.id }, query: { share_group_id: id } });
  await world.work(share.id, 2);
  await deleteGroup(owner, id);
  await world.work(id, 2);
  expect(await world.usage(owner.projectId)).toMatchObject({
    share_groups: [0, 0],
    share_group_snapshots: [0, 0],
    shares: [0, 0],
  });
});
