import { type GroupWorld, none, startGroups } from '#server/local/testing/shareGroups.ts';
import { shareGroupSnapshots } from './shareGroupSnapshots.ts';
import { shares } from './shares.ts';

let at: GroupWorld;
beforeAll(async () => {
  at = await startGroups();
});
afterAll(() => at.world.close());
afterEach(() => at.world.rebuild());

describe('a group with share servers', () => {
  /** Works on the resource, and on the servers that it waits for. */
  async function settle(resource: string): Promise<void> {
    for (let isDone = false; !isDone; ) {
      let isOver = false;
      const working = at.world
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
        for (const { id } of await at.world.db.rows<{ id: string }>`SELECT id FROM share_servers`)
          await at.world.work(id);
        await new Promise((next) => setTimeout(next, 20));
      }
      isDone = await working;
    }
  }

  async function placed() {
    const network = await at.world.network();
    const owner = at.world.caller({ projectId: network.projectId });
    const { id } = await at.createGroup(owner, {
      share_types: [at.serverType],
      share_network_id: network.id,
    });
    await settle(id);
    return { network, owner, id, shown: await at.showGroup(owner, id) };
  }

  test('is on one, with all its shares and those of groups from its snapshots', async () => {
    const { network, owner, id, shown } = await placed();
    expect(shown).toMatchObject({ status: 'available', share_network_id: network.id });
    expect(shown.share_server_id).not.toBeNull();
    const body = { share_proto: 'NFS', size: 1, share_type: at.serverType, share_group_id: id };
    const { share } = await shares.createShare({ ...none, ctx: owner, body });
    await settle(share.id);
    const on = { share_server_id: shown.share_server_id, share_network_id: network.id };
    expect(await at.showShare(owner, share.id)).toMatchObject({ status: 'available', ...on });
    const taken = await shareGroupSnapshots.createShareGroupSnapshot({
      ...none,
      ctx: owner,
      body: { share_group_id: id },
    });
    await at.world.work(id);
    const made = await at.createGroup(owner, {
      source_share_group_snapshot_id: taken.share_group_snapshot.id,
    });
    await expect(at.world.work(made.id)).rejects.toThrow(/being made/);
    const query = { share_group_id: made.id };
    const { shares: found } = await shares.listShares({ ...none, ctx: owner, query });
    await settle(found[0]!.id);
    await at.world.work(made.id);
    expect(await at.showGroup(owner, made.id)).toMatchObject({ status: 'available', ...on });
    expect(await at.showShare(owner, found[0]!.id)).toMatchObject({ status: 'available', ...on });
  });

  test('is in error when there is none to be had', async () => {
    await at.world.rebuildServers({ fake_driver_failures: 'setup_server:always' });
    const { id, shown } = await placed();
    expect(shown).toMatchObject({ status: 'error', share_server_id: null });
    expect(await at.world.messages(id)).toEqual([['002', '004']]);
    await at.world.rebuildServers();
  });

  test('leaves it when it is deleted', async () => {
    Object.assign(at.world.backendOptions, { delete_share_server_with_last_share: true });
    const { owner, id, shown } = await placed();
    await at.deleteGroup(owner, id);
    await at.world.work(id);
    await at.world.work(shown.share_server_id!);
    const left = await at.world.db.rows`
      SELECT id FROM share_servers WHERE id = ${shown.share_server_id} AND deleted = 'False'`;
    expect(left).toEqual([]);
    Object.assign(at.world.backendOptions, { delete_share_server_with_last_share: false });
  });
});

test('jobs run by two workers at once leave what one leaves', async () => {
  const owner = at.world.caller();
  const { id } = await at.createGroup(owner);
  await at.world.work(id, 2);
  expect(await at.showGroup(owner, id)).toMatchObject({ status: 'available' });
  const body = { share_proto: 'NFS', size: 1, share_type: at.shareType, share_group_id: id };
  const { share } = await shares.createShare({ ...none, ctx: owner, body });
  await at.world.work(share.id, 2);
  const created = await shareGroupSnapshots.createShareGroupSnapshot({
    ...none,
    ctx: owner,
    body: { share_group_id: id },
  });
  const snapshot = created.share_group_snapshot;
  await at.world.work(id, 2);
  expect((await at.showSnapshot(owner, snapshot.id)).members).toHaveLength(1);
  await at.deleteSnapshot(owner, snapshot.id);
  await at.world.work(id, 2);
  await shares.deleteShare({ ...none, ctx: owner, path: { id: share.id }, query: { share_group_id: id } });
  await at.world.work(share.id, 2);
  await at.deleteGroup(owner, id);
  await at.world.work(id, 2);
  expect(await at.world.usage(owner.projectId)).toMatchObject({
    share_groups: [0, 0],
    share_group_snapshots: [0, 0],
    shares: [0, 0],
  });
});
