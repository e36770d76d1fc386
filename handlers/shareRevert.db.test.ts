import { randomUUID } from 'node:crypto';
import { findShare, setShareSize } from '#db/shares.ts';
import { findSnapshot } from '#db/snapshots.ts';
import { startWorld, type World } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { shareRevert } from './shareRevert.ts';
import { snapshots } from './snapshots.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
afterEach(() => world.rebuild());

const everything = {
  snapshot_support: true,
  create_share_from_snapshot_support: true,
  revert_to_snapshot_support: true,
  mount_snapshot_support: true,
  replication_type: null,
};

/** A share of 2 GiB with one snapshot, and its owner. */
async function given(can: Partial<typeof everything> = {}) {
  const share = await world.share({ size: 2, capabilities: { ...everything, ...can } });
  const owner = world.caller({ projectId: share.projectId });
  const take = async () => {
    const body = { share_id: share.id };
    const { snapshot } = await snapshots.createSnapshot({ ctx: owner, body, path: {}, query: {} });
    await world.work(share.id);
    return snapshot.id;
  };
  const revert = (snapshotId: string, ctx: Ctx = owner) =>
    shareRevert.revertShare({ ctx, path: { id: share.id }, query: {}, body: { snapshot_id: snapshotId } });
  /** status and size of the share, status of the snapshot */
  const state = async (snapshotId: string) => {
    const [now, snapshot] = await Promise.all([
      findShare(world.db, share.id),
      findSnapshot(world.db, snapshotId),
    ]);
    return [now?.status, now?.size, snapshot?.status];
  };
  /** The share as if it had been extended, or shrunk, to this size. */
  const resized = async (size: number) => {
    await world.db.transaction((tx) => setShareSize(tx, share.id, size));
    await world.db
      .run`UPDATE quota_usages SET in_use = ${size} WHERE project_id = ${share.projectId} AND resource = 'gigabytes'`;
  };
  const usage = async () => (await world.usage(share.projectId)).gigabytes;
  return {
    share,
    owner,
    snapshot: await take(),
    take,
    revert,
    state,
    resized,
    usage,
    work: () => world.work(share.id),
  };
}

test('share and snapshot say what is going on, and are available again', async () => {
  const { snapshot, revert, state, work } = await given();
  await revert(snapshot);
  expect(await state(snapshot)).toEqual(['reverting', 2, 'restoring']);
  await expect(revert(snapshot)).rejects.toMatchObject({ status: 409 });
  expect(await work()).toEqual(['share.revert']);
  expect(await state(snapshot)).toEqual(['available', 2, 'available']);
});

test('only the newest snapshot can be reverted to', async () => {
  const { snapshot, take, revert, state } = await given();
  const newer = await take();
  await expect(revert(snapshot)).rejects.toMatchObject({
    status: 409,
    message: expect.stringContaining(newer),
  });
  expect(await state(snapshot)).toEqual(['available', 2, 'available']);
  await revert(newer);
});

test('a share that has grown shrinks back, and what it grew by is given back once', async () => {
  const { share, snapshot, revert, state, resized, usage } = await given();
  await resized(5);
  await revert(snapshot);
  expect(await usage()).toEqual([5, 0]);
  await world.work(share.id, 2);
  expect(await state(snapshot)).toEqual(['available', 2, 'available']);
  expect(await usage()).toEqual([2, 0]);
});

test('a share that has shrunk grows back: room for that is held until it has', async () => {
  const { share, snapshot, revert, state, resized, usage } = await given();
  await resized(1);
  await revert(snapshot);
  expect(await usage()).toEqual([1, 1]);
  await world.work(share.id, 2);
  expect(await state(snapshot)).toEqual(['available', 2, 'available']);
  expect(await usage()).toEqual([2, 0]);
});

test('it doesn’t grow back beyond the quota', async () => {
  const { share, snapshot, revert, state, resized, usage } = await given();
  await resized(1);
  await world.setQuota(share.projectId, 'gigabytes', 1);
  await expect(revert(snapshot)).rejects.toMatchObject({ status: 413 });
  expect(await state(snapshot)).toEqual(['available', 1, 'available']);
  expect(await usage()).toEqual([1, 0]);
});

test('a back end that fails leaves the share in error with a message, the snapshot and the quota as before', async () => {
  const { share, snapshot, revert, state, resized, usage, work } = await given();
  await world.rebuild({ fake_driver_failures: 'revert_to_snapshot:always' });
  await resized(1);
  await revert(snapshot);
  await work();
  expect(await state(snapshot)).toEqual(['reverting_error', 1, 'available']);
  expect(await usage()).toEqual([1, 0]);
  expect(await world.messages(share.id)).toEqual([['006', '035']]);
});

test('a status that was set by hand meanwhile stays, and nothing stays held', async () => {
  const { share, snapshot, revert, state, resized, usage, work } = await given();
  await resized(1);
  await revert(snapshot);
  await world.db.run`UPDATE share_instances SET status = 'error' WHERE id = ${share.instanceId}`;
  await work();
  expect(await state(snapshot)).toEqual(['error', 1, 'available']);
  expect(await usage()).toEqual([1, 0]);
});

test.each([
  ['another share’s snapshot', async () => (await given()).snapshot, 400],
  ['a snapshot that isn’t there', async () => randomUUID(), 400],
])('%s is refused', async (_what, other, status) => {
  const { revert } = await given();
  await expect(revert(await other())).rejects.toMatchObject({ status });
});

test('shares and snapshots in other states, of other types and other projects are refused', async () => {
  const plain = await given({ revert_to_snapshot_support: false });
  await expect(plain.revert(plain.snapshot)).rejects.toMatchObject({ status: 400 });
  const { share, owner, snapshot, revert, state } = await given();
  await expect(revert(snapshot, world.caller())).rejects.toMatchObject({ status: 404 });
  const reader = world.caller({ projectId: owner.projectId, roles: ['reader'] });
  await expect(revert(snapshot, reader)).rejects.toMatchObject({ status: 403 });
  await world.db.run`UPDATE share_snapshot_instances SET status = 'error' WHERE snapshot_id = ${snapshot}`;
  await expect(revert(snapshot)).rejects.toMatchObject({ status: 409 });
  await world.db
    .run`UPDATE share_snapshot_instances SET status = 'available' WHERE snapshot_id = ${snapshot}`;
  await world.db.run`UPDATE share_instances SET status = 'error' WHERE id = ${share.instanceId}`;
  await expect(revert(snapshot)).rejects.toMatchObject({ status: 409 });
  expect(await state(snapshot)).toEqual(['error', 2, 'available']);
});
