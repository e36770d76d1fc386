import { findShare, setShareSize } from '#db/shares.ts';
import { startWorld, type World, type WorldShare } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { shareResize } from './shareResize.ts';
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

type Call = (ctx: Ctx, share: WorldShare) => Promise<unknown>;
const extendTo =
  (size: number): Call =>
  (ctx, { id }) =>
    shareResize.extendShare({ ctx, path: { id }, query: {}, body: { new_size: size } });
const shrinkTo =
  (size: number): Call =>
  (ctx, { id }) =>
    shareResize.shrinkShare({ ctx, path: { id }, query: {}, body: { new_size: size } });
const forceTo =
  (size: number): Call =>
  (ctx, { id }) =>
    shareResize.extendShare({ ctx, path: { id }, query: {}, body: { new_size: size, force: true } });
const snapshot: Call = (ctx, { id }) =>
  snapshots.createSnapshot({ ctx, path: {}, query: {}, body: { share_id: id } });

/** A caller whose transactions begin late: something else has been done by then. */
function lateCaller(share: WorldShare, meanwhile: () => Promise<unknown>): Ctx {
  const ctx = world.caller({ projectId: share.projectId });
  const { db } = ctx;
  const transaction = db.transaction.bind(db);
  db.transaction = async (work) => {
    await meanwhile();
    return transaction(work);
  };
  return ctx;
}

async function jobsOf(share: WorldShare): Promise<unknown[]> {
  return world.db.rows`SELECT id FROM shoal_outbox WHERE resource = ${share.id}`;
}

describe('a share that was resized between being read and being locked', () => {
  test.each([
    ['is not extended', extendTo(3)],
    ['is not shrunk', shrinkTo(1)],
    ['is not snapshotted', snapshot],
  ])('%s', async (_what, call) => {
    const share = await world.share({ size: 2, capabilities: everything });
    const resize = () => world.db.transaction((tx) => setShareSize(tx, share.id, 5));
    const caller = lateCaller(share, resize);
    await expect(call(caller, share)).rejects.toMatchObject({ status: 409 });
    expect(await findShare(world.db, share.id)).toMatchObject({ status: 'available', size: 5 });
    expect(await jobsOf(share)).toEqual([]);
    expect((await world.usage(share.projectId)).gigabytes?.[1]).toBe(0);
  });

  test('is not reverted', async () => {
    const share = await world.share({ size: 2, capabilities: everything });
    const owner = world.caller({ projectId: share.projectId });
    const body = { share_id: share.id };
    const { snapshot } = await snapshots.createSnapshot({ ctx: owner, body, path: {}, query: {} });
    await world.work(share.id);
    const caller = lateCaller(share, () => world.db.transaction((tx) => setShareSize(tx, share.id, 5)));
    const asked = { ctx: caller, path: { id: share.id }, query: {}, body: { snapshot_id: snapshot.id } };
    await expect(shareRevert.revertShare(asked)).rejects.toMatchObject({ status: 409 });
    expect(await findShare(world.db, share.id)).toMatchObject({ status: 'available', size: 5 });
    expect(await jobsOf(share)).toEqual([]);
  });
});

test.each([
  ['extended', extendTo(3), ['member', 'reader']],
  ['extended by force', forceTo(3), ['admin', 'member', 'reader']],
  ['shrunk', shrinkTo(1), ['member', 'reader']],
  ['snapshotted', snapshot, ['member', 'reader']],
])('a share that was never placed is not %s: no worker would ever do it', async (_what, call, roles) => {
  const share = await world.share({ size: 2, capabilities: everything });
  await world.db.run`UPDATE share_instances SET host = NULL WHERE id = ${share.instanceId}`;
  const caller = world.caller({ projectId: share.projectId, roles });
  await expect(call(caller, share)).rejects.toMatchObject({ status: 400 });
  expect(await findShare(world.db, share.id)).toMatchObject({ status: 'available' });
  expect(await jobsOf(share)).toEqual([]);
});
