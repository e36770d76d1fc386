/** Deferred deletion: for its project a share is gone at once, whatever its back end takes. */
import { retryDeferred } from '#jobs/deferredDeletion.ts';
import { startWorld, type World, type WorldShare } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { shareInstances } from './shareInstances.ts';
import { shareState } from './shareState.ts';
import { shares } from './shares.ts';
import { snapshots } from './snapshots.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  (world.caller().settings as { is_deferred_deletion_enabled: boolean }).is_deferred_deletion_enabled = true;
});
afterAll(() => world.close());
afterEach(() => world.rebuild());

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };
const admin = () => world.caller({ roles: ['admin', 'member', 'reader'] });
const of = ({ id, projectId }: WorldShare) => {
  const owner = world.caller({ projectId });
  return {
    owner,
    remove: (ctx: Ctx = owner) => shares.deleteShare({ ...none, ctx, path: { id } }),
    force: () => shareState.forceDeleteShare({ ...none, ctx: admin(), path: { id } }),
    status: async (ctx: Ctx) => (await shares.getShare({ ...none, ctx, path: { id } })).share.status,
    listed: async (ctx: Ctx) =>
      (await shares.listShares({ ...none, ctx, query: { all_tenants: '1' } })).shares.some(
        (each) => each.id === id,
      ),
    snap: async () =>
      (await snapshots.createSnapshot({ ...none, ctx: owner, body: { share_id: id } })).snapshot.id,
    work: () => world.work(id),
    usage: () => world.usage(projectId),
  };
};
const removeSnapshot = (ctx: Ctx, id: string) => snapshots.deleteSnapshot({ ...none, ctx, path: { id } });
const showSnapshot = async (ctx: Ctx, id: string) =>
  (await snapshots.getSnapshot({ ...none, ctx, path: { id } })).snapshot.status;
const retry = () => retryDeferred({ db: world.db, log: () => {} } as never);
const nothing = { shares: [0, 0], gigabytes: [0, 0] };

test('a share counts no more and is seen by admins only, until its back end is done', async () => {
  const share = await world.share({ size: 2 });
  const { owner, remove, status, listed, work, usage } = of(share);
  expect(await listed(owner)).toBe(true);
  await remove();
  expect(await usage()).toMatchObject(nothing);
  await expect(status(owner)).rejects.toMatchObject({ status: 404 });
  await expect(remove()).rejects.toMatchObject({ status: 404 });
  expect(await listed(owner)).toBe(false);
  expect(await status(admin())).toBe('deferred_deleting');
  expect(await listed(admin())).toBe(true);
  expect(await work()).toEqual(['share.deferDelete']);
  await expect(status(admin())).rejects.toMatchObject({ status: 404 });
  expect(await usage()).toMatchObject(nothing);
});

test('one that fails is tried again, says nothing to its project, and is counted once', async () => {
  const share = await world.share();
  const other = await world.share({ projectId: share.projectId });
  const { remove, status, work, usage } = of(share);
  await world.rebuild({ fake_driver_failures: 'delete_share:always' });
  await remove();
  await work();
  expect(await status(admin())).toBe('error_deferred_deleting');
  expect(await world.messages(share.id)).toEqual([]);
  await Promise.all([retry(), retry()]);
  expect(await status(admin())).toBe('deferred_deleting');
  expect(await work()).toEqual(['share.deferDelete']);
  await world.rebuild();
  await retry();
  await work();
  await expect(status(admin())).rejects.toMatchObject({ status: 404 });
  expect(await usage()).toMatchObject({ shares: [1, 0] });
  expect(await of(other).status(admin())).toBe('available');
});

test.each(['by the share', 'by its instance'])(
  'an admin’s force %s ends it without giving back twice',
  async (how) => {
    const share = await world.share();
    await world.share({ projectId: share.projectId });
    const { remove, force, status, work, usage } = of(share);
    await world.rebuild({ fake_driver_failures: 'delete_share:always' });
    await remove();
    await work();
    const path = { id: share.instanceId };
    if (how === 'by the share') await force();
    else await shareInstances.forceDeleteShareInstance({ ...none, ctx: admin(), path });
    await work();
    await expect(status(admin())).rejects.toMatchObject({ status: 404 });
    expect(await usage()).toMatchObject({ shares: [1, 0], gigabytes: [1, 0] });
  },
);

test('a share that was never placed is gone at once', async () => {
  const share = await world.share({ host: null, status: 'error' });
  const { remove, status, usage } = of(share);
  await remove();
  await expect(status(admin())).rejects.toMatchObject({ status: 404 });
  expect(await usage()).toMatchObject(nothing);
});

test('snapshots likewise; a share whose snapshots fail to go waits for them', async () => {
  const share = await world.share();
  const { owner, remove, status, snap, work, usage } = of(share);
  const id = await snap();
  await work();
  await world.rebuild({ fake_driver_failures: 'delete_snapshot:always' });
  await expect(remove()).rejects.toMatchObject({ status: 403 });
  await removeSnapshot(owner, id);
  expect(await usage()).toMatchObject({ snapshots: [0, 0], snapshot_gigabytes: [0, 0] });
  await expect(showSnapshot(owner, id)).rejects.toMatchObject({ status: 404 });
  const list = await snapshots.listSnapshots({ ...none, ctx: owner, query: {} });
  expect(list.snapshots).toEqual([]);
  await remove();
  expect(await work()).toEqual(['snapshot.deferDelete', 'share.deferDelete']);
  expect(await showSnapshot(admin(), id)).toBe('error_deferred_deleting');
  expect(await status(admin())).toBe('error_deferred_deleting');
  await world.rebuild();
  await retry();
  await work();
  await expect(showSnapshot(admin(), id)).rejects.toMatchObject({ status: 404 });
  await expect(status(admin())).rejects.toMatchObject({ status: 404 });
  expect(await usage()).toMatchObject({ ...nothing, snapshots: [0, 0] });
});

test('a snapshot deleted by force gives back what it counted once', async () => {
  const share = await world.share();
  const { owner, snap, work, usage } = of(share);
  const [one] = [await snap(), await snap()];
  await work();
  await removeSnapshot(owner, one!);
  await snapshots.forceDeleteSnapshot({ ...none, ctx: admin(), path: { id: one! } });
  await work();
  await expect(showSnapshot(admin(), one!)).rejects.toMatchObject({ status: 404 });
  expect(await usage()).toMatchObject({ snapshots: [1, 0] });
});
