import { randomUUID } from 'node:crypto';
import { startWorld, type World } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { snapshotAccess } from './snapshotAccess.ts';
import { snapshots } from './snapshots.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
afterEach(() => world.rebuild());

/** A snapshot that can be mounted, and what its owner does about who may. */
async function given(mountable = true) {
  const capabilities = {
    snapshot_support: true,
    create_share_from_snapshot_support: true,
    revert_to_snapshot_support: true,
    mount_snapshot_support: mountable,
    replication_type: null,
  };
  const share = await world.share({ capabilities });
  const owner = world.caller({ projectId: share.projectId });
  const asked = { ctx: owner, body: { share_id: share.id }, path: {}, query: {} };
  const { id } = (await snapshots.createSnapshot(asked)).snapshot;
  await world.work(share.id);
  const allow = async (access_type: string, access_to: string, ctx: Ctx = owner) =>
    (
      await snapshotAccess.allowSnapshotAccess({
        ctx,
        path: { id },
        query: {},
        body: { access_type, access_to },
      })
    ).snapshot_access;
  const deny = (access_id: string, ctx: Ctx = owner) =>
    snapshotAccess.denySnapshotAccess({ ctx, path: { id }, query: {}, body: { access_id } });
  const states = async (ctx: Ctx = owner) => {
    const asked = { ctx, path: { snapshot_id: id }, query: {}, body: undefined as never };
    const { snapshot_access_list: rules } = await snapshotAccess.listSnapshotAccess(asked);
    return Object.fromEntries(rules.map(({ access_to, state }) => [access_to, state]));
  };
  return { id, share, owner, allow, deny, states, work: () => world.work(share.id) };
}

test('rules are queued, applied together, and one bad rule is alone in error', async () => {
  const { allow, states, work } = await given();
  expect(await allow('ip', '10.0.0.1')).toMatchObject({ access_type: 'ip', state: 'queued_to_apply' });
  await allow('user', 'alice');
  expect(await states()).toEqual({ '10.0.0.1': 'queued_to_apply', alice: 'queued_to_apply' });
  expect(await work()).toEqual(['snapshot.access', 'snapshot.access']);
  expect(await states()).toEqual({ '10.0.0.1': 'active', alice: 'error' });
});

test('a denied rule goes, the others stay', async () => {
  const { allow, deny, states, work } = await given();
  const { id } = await allow('ip', '10.0.0.1');
  await allow('ip', 'fd00::/64');
  await work();
  await deny(id);
  expect(await states()).toEqual({ '10.0.0.1': 'queued_to_deny', 'fd00::/64': 'active' });
  await deny(id);
  expect(await work()).toEqual(['snapshot.access']);
  expect(await states()).toEqual({ 'fd00::/64': 'active' });
  await expect(deny(id)).rejects.toMatchObject({ status: 404 });
  await allow('ip', '10.0.0.1');
});

test('when the back end fails, what was asked of it is in error and the rest stays', async () => {
  const { allow, deny, states, work } = await given();
  const { id } = await allow('ip', '10.0.0.1');
  await allow('ip', '10.0.0.2');
  await work();
  await world.rebuild({ fake_driver_failures: 'snapshot_update_access:always' });
  await allow('ip', '10.0.0.3');
  await deny(id);
  await work();
  expect(await states()).toEqual({ '10.0.0.1': 'error', '10.0.0.2': 'active', '10.0.0.3': 'error' });
  await world.rebuild();
  await deny(id);
  await work();
  expect(await states()).toEqual({ '10.0.0.2': 'active', '10.0.0.3': 'error' });
});

test('the same client is let in once', async () => {
  const { allow } = await given();
  await allow('ip', '10.0.0.1');
  await expect(allow('ip', '10.0.0.1/32')).rejects.toMatchObject({ status: 400 });
  const results = await Promise.allSettled([1, 2, 3].map(() => allow('ip', '10.0.0.2')));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test.each([
  ['cephx', 'joe'],
  ['ip', '10.0.0.7/24'],
  ['ip', 'x'],
  ['user', 'abc'],
])('%s %s is refused', async (type, to) => {
  const { allow } = await given();
  await expect(allow(type, to)).rejects.toMatchObject({ status: 400 });
});

test('there are no rules without mounts, in other states, or for other projects', async () => {
  const plain = await given(false);
  await expect(plain.allow('ip', '10.0.0.1')).rejects.toMatchObject({ status: 400 });
  await expect(plain.states()).rejects.toMatchObject({ status: 400 });
  const { id, allow, deny, states, work } = await given();
  const rule = await allow('ip', '10.0.0.1');
  await work();
  await expect(allow('ip', '10.0.0.2', world.caller())).rejects.toMatchObject({ status: 404 });
  await expect(states(world.caller())).rejects.toMatchObject({ status: 404 });
  await expect(deny(randomUUID())).rejects.toMatchObject({ status: 404 });
  await world.db.run`UPDATE share_snapshot_instances SET status = 'error' WHERE snapshot_id = ${id}`;
  await expect(allow('ip', '10.0.0.2')).rejects.toMatchObject({ status: 400 });
  await expect(deny(rule.id)).rejects.toMatchObject({ status: 400 });
});

test('rules go with their snapshot', async () => {
  const { id, owner, allow, work } = await given();
  const rule = await allow('ip', '10.0.0.1');
  await work();
  await snapshots.deleteSnapshot({ ctx: owner, path: { id }, query: {}, body: undefined as never });
  await work();
  const rests = await world.db.rows`
    SELECT id FROM share_snapshot_access_map WHERE id = ${rule.id} AND deleted = 'False'
    UNION ALL SELECT id FROM share_snapshot_instance_access_map WHERE access_id = ${rule.id} AND deleted = 'False'`;
  expect(rests).toEqual([]);
});
