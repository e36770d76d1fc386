import { randomUUID } from 'node:crypto';
import { type GroupWorld, none, startGroups } from '#server/local/testing/shareGroups.ts';
import { shareGroupSnapshots } from './shareGroupSnapshots.ts';
import { shareGroups } from './shareGroups.ts';
import { shareState } from './shareState.ts';
import { shares } from './shares.ts';

let at: GroupWorld;
beforeAll(async () => {
  at = await startGroups();
});
afterAll(() => at.world.close());
afterEach(() => at.world.rebuild());

describe('a snapshot of a group', () => {
  test('is of all its shares, holds them, and is removed without a trace', async () => {
    const { owner, id, memberIds, take, work, usage } = await at.given(2);
    const taken = await take({ name: 's' });
    expect(taken).toMatchObject({ status: 'creating', name: 's', share_group_id: id, members: [] });
    expect(await work()).toEqual(['shareGroupSnapshot.create']);
    const shown = await at.showSnapshot(owner, taken.id);
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
    await expect(at.deleteGroup(owner, id)).rejects.toMatchObject({ status: 409 });
    const member = { ...none, ctx: owner, path: { id: memberIds[0]! } };
    const byName = { ...member, query: { share_group_id: id } };
    await expect(shares.deleteShare(byName)).rejects.toMatchObject({ status: 403 });
    await expect(shareState.softDeleteShare(member)).rejects.toMatchObject({ status: 403 });
    const force = { ...member, ctx: at.adminOf(owner) };
    await expect(shareState.forceDeleteShare(force)).rejects.toMatchObject({ status: 400 });
    await at.deleteSnapshot(owner, taken.id);
    expect(await work()).toEqual(['shareGroupSnapshot.delete']);
    await expect(at.showSnapshot(owner, taken.id)).rejects.toMatchObject({ status: 404 });
    expect(await usage()).toMatchObject({ share_group_snapshots: [0, 0] });
    const rests = await at.world.db.rows`
      SELECT id FROM share_snapshot_instances WHERE share_group_snapshot_id = ${taken.id} AND deleted = 'False'`;
    expect(rests).toEqual([]);
    await shares.deleteShare(byName);
  });

  test('of a group that is not available, or has a share that is not, is refused', async () => {
    const { owner, id, memberIds, take } = await at.given(1);
    await at.world.db.run`UPDATE share_instances SET status = 'error' WHERE share_id = ${memberIds[0]!}`;
    await expect(take()).rejects.toMatchObject({ status: 409 });
    const ctx = at.adminOf(owner);
    await shareGroups.resetShareGroupStatus({ ...none, ctx, path: { id }, body: { status: 'error' } });
    await expect(take()).rejects.toMatchObject({ status: 409 });
    await expect(take({ share_group_id: randomUUID() })).rejects.toMatchObject({ status: 400 });
  });

  test('that the back end fails on is in error with its members, and can be deleted', async () => {
    const { owner, id, take, work } = await at.given(1);
    await at.world.rebuild({ fake_driver_failures: 'create_share_group_snapshot:once' });
    const taken = await take();
    await work();
    expect(await at.showSnapshot(owner, taken.id)).toMatchObject({ status: 'error' });
    expect(await at.world.messages(id)).toEqual([['002', '001']]);
    const members = await at.world.db.rows<{ status: string }>`
      SELECT status FROM share_snapshot_instances WHERE share_group_snapshot_id = ${taken.id}`;
    expect(members.map(({ status }) => status)).toEqual(['error']);
    await at.deleteSnapshot(owner, taken.id);
    await work();
    await expect(at.showSnapshot(owner, taken.id)).rejects.toMatchObject({ status: 404 });
  });

  test('whose deletion failed is in error; force ends it whatever the back end says', async () => {
    const { owner, take, work } = await at.given(1);
    const { id } = await take();
    await work();
    await at.world.rebuild({ fake_driver_failures: 'delete_share_group_snapshot:always' });
    await at.deleteSnapshot(owner, id);
    await work();
    expect(await at.showSnapshot(owner, id)).toMatchObject({ status: 'error' });
    const path = { id };
    const ctx = at.adminOf(owner);
    const body = { status: 'creating' };
    await shareGroupSnapshots.resetShareGroupSnapshotStatus({ ...none, ctx, path, body: body as never });
    await expect(at.deleteSnapshot(owner, id)).rejects.toMatchObject({ status: 409 });
    await shareGroupSnapshots.forceDeleteShareGroupSnapshot({ ...none, ctx, path });
    await work();
    await expect(at.showSnapshot(owner, id)).rejects.toMatchObject({ status: 404 });
  });

  test('counts against the quota', async () => {
    const { owner, take } = await at.given();
    await at.world.setQuota(owner.projectId, 'share_group_snapshots', 1);
    await take();
    await expect(take()).rejects.toMatchObject({ status: 413 });
  });

  test('is renamed', async () => {
    const { owner, take } = await at.given();
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
    const { owner, id, take, work, usage } = await at.given(2);
    const snapshot = await take();
    await work();
    const made = await at.createGroup(owner, { source_share_group_snapshot_id: snapshot.id });
    const host = (await at.showGroup(owner, id)).host;
    expect(made).toMatchObject({ status: 'creating', host, source_share_group_snapshot_id: snapshot.id });
    const { shares: found } = await shares.listSharesDetail({
      ...none,
      ctx: owner,
      query: { share_group_id: made.id },
    });
    const members = (await at.showSnapshot(owner, snapshot.id)).members.map((member) => member.id);
    expect(found.map((share) => share.source_share_group_snapshot_member_id).sort()).toEqual(members.sort());
    await expect(at.world.work(made.id)).rejects.toThrow(/being made/);
    // The snapshot is needed until they are.
    await at.deleteSnapshot(owner, snapshot.id);
    await expect(work()).rejects.toThrow(/being made/);
    for (const share of found) expect(await at.world.work(share.id)).toEqual(['share.provision']);
    expect(await at.world.work(made.id)).toEqual(['shareGroup.fill']);
    expect(await at.showGroup(owner, made.id)).toMatchObject({
      status: 'available',
      consistent_snapshot_support: 'pool',
    });
    for (const share of found) {
      expect(await at.showShare(owner, share.id)).toMatchObject({
        status: 'available',
        size: 2,
        snapshot_id: null,
      });
    }
    await work();
    await expect(at.showSnapshot(owner, snapshot.id)).rejects.toMatchObject({ status: 404 });
    expect(await usage()).toMatchObject({ share_groups: [2, 0], shares: [4, 0], gigabytes: [8, 0] });
  });

  test('is in error when one of its shares could not be made', async () => {
    const { owner, take, work } = await at.given(1);
    const snapshot = await take();
    await work();
    await at.world.rebuild({ fake_driver_failures: 'create_share_from_snapshot:once' });
    const made = await at.createGroup(owner, { source_share_group_snapshot_id: snapshot.id });
    await expect(at.world.work(made.id)).rejects.toThrow(/being made/);
    const { shares: found } = await shares.listShares({
      ...none,
      ctx: owner,
      query: { share_group_id: made.id },
    });
    await at.world.work(found[0]!.id);
    await at.world.work(made.id);
    expect(await at.showGroup(owner, made.id)).toMatchObject({ status: 'error' });
    expect(await at.showShare(owner, found[0]!.id)).toMatchObject({ status: 'error' });
    expect(await at.world.messages(made.id)).toEqual([['002', '017']]);
  });

  test('is in error with its shares when the group itself could not be made', async () => {
    const { owner, take, work } = await at.given(1);
    const snapshot = await take();
    await work();
    await at.world.rebuild({ fake_driver_failures: 'create_share_group:once' });
    const made = await at.createGroup(owner, { source_share_group_snapshot_id: snapshot.id });
    await at.world.work(made.id);
    expect(await at.showGroup(owner, made.id)).toMatchObject({ status: 'error' });
    const { shares: found } = await shares.listSharesDetail({
      ...none,
      ctx: owner,
      query: { share_group_id: made.id },
    });
    expect(found).toMatchObject([{ status: 'error' }]);
  });

  test('is not made of a snapshot that is not available, nor beyond the quota', async () => {
    const { owner, take, work } = await at.given(1);
    const snapshot = await take();
    const from = { source_share_group_snapshot_id: snapshot.id };
    await expect(at.createGroup(owner, from)).rejects.toMatchObject({ status: 409 });
    await work();
    await expect(at.createGroup(owner, { ...from, share_types: [at.shareType] })).rejects.toMatchObject({
      status: 400,
    });
    await at.world.setQuota(owner.projectId, 'shares', 1);
    await expect(at.createGroup(owner, from)).rejects.toMatchObject({ status: 413 });
    expect(await at.world.usage(owner.projectId)).toMatchObject({ share_groups: [1, 0], shares: [1, 0] });
  });
});

test('lists of snapshots are of the own project, narrowed, ordered and cut into pages', async () => {
  const { owner, id, take } = await at.given();
  for (const name of ['one', 'two', 'three']) await take({ name });
  const listed = async (query: Record<string, string>, ctx = owner) =>
    (
      await shareGroupSnapshots.listShareGroupSnapshotsDetail({ ...none, ctx, query })
    ).share_group_snapshots.map(({ name }) => name);
  expect(await listed({})).toEqual(['three', 'two', 'one']);
  expect(await listed({ sort_key: 'name', sort_dir: 'asc', limit: '2' })).toEqual(['one', 'three']);
  expect(await listed({ share_group_id: id, name: 'two' })).toEqual(['two']);
  expect(await listed({ share_group_id: randomUUID() })).toEqual([]);
  expect(await listed({}, at.world.caller())).toEqual([]);
  expect(await listed({ all_tenants: '1', share_group_id: id }, at.admin)).toHaveLength(3);
});
