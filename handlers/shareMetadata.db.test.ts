import { startWorld, type World } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { shareMetadata } from './shareMetadata.ts';
import { snapshotMetadata } from './snapshotMetadata.ts';
import { snapshots } from './snapshots.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const nothing = { query: {}, body: undefined as never };
const affinity = '__affinity_same_host';

async function given(isPublic = false) {
  const share = await world.share({ metadata: { a: '1' }, isPublic });
  const owner = world.caller({ projectId: share.projectId });
  const admin = world.caller({ roles: ['admin', 'member', 'reader'] });
  const path = { resource_id: share.id };
  return {
    share,
    owner,
    admin,
    show: async (ctx: Ctx = owner) =>
      (await shareMetadata.listShareMetadata({ ctx, path, ...nothing })).metadata,
    add: async (body: Record<string, string>, ctx: Ctx = owner) =>
      (await shareMetadata.createShareMetadata({ ctx, path, query: {}, body })).metadata,
    replace: async (body: Record<string, string>, ctx: Ctx = owner) =>
      (await shareMetadata.replaceShareMetadata({ ctx, path, query: {}, body })).metadata,
    item: async (key: string) =>
      (await shareMetadata.getShareMetadataItem({ ctx: owner, path: { ...path, key }, ...nothing })).meta,
    set: (key: string, body: Record<string, string>, ctx: Ctx = owner) =>
      shareMetadata.updateShareMetadataItem({ ctx, path: { ...path, key }, query: {}, body }),
    remove: (key: string, ctx: Ctx = owner) =>
      shareMetadata.deleteShareMetadataItem({ ctx, path: { ...path, key }, ...nothing }),
  };
}

test('is added to, replaced, and taken away pair by pair', async () => {
  const { show, add, replace, item, set, remove } = await given();
  expect(await add({ b: '2' })).toEqual({ a: '1', b: '2' });
  expect(await replace({ b: '3', c: '4' })).toEqual({ b: '3', c: '4' });
  await set('d', { d: '5' });
  await expect(set('d', { e: '5' })).rejects.toMatchObject({ status: 400 });
  await expect(set('d', { d: '5', e: '5' })).rejects.toMatchObject({ status: 400 });
  expect(await item('D')).toEqual({ d: '5' });
  await remove('b');
  await expect(remove('b')).rejects.toMatchObject({ status: 404 });
  await expect(item('b')).rejects.toMatchObject({ status: 404 });
  expect(await show()).toEqual({ c: '4', d: '5' });
});

test.each([affinity, affinity.toUpperCase(), `${affinity} `, '__áffinity_same_host'])(
  'the key %j is for admins only',
  async (key) => {
    const { show, add, replace, set, remove, admin } = await given();
    for (const attempt of [
      () => add({ [key]: 'x' }),
      () => replace({ [key]: 'x' }),
      () => set(key, { [key]: 'x' }),
    ]) {
      await expect(attempt()).rejects.toMatchObject({ status: 403 });
    }
    await add({ [affinity]: 'x' }, admin);
    await expect(remove(key)).rejects.toMatchObject({ status: 403 });
    expect(await show()).toEqual({ a: '1', [affinity]: 'x' });
    expect(await replace({ b: '2' })).toEqual({ b: '2', [affinity]: 'x' });
    await remove(key, admin);
    expect(await show()).toEqual({ b: '2' });
  },
);

test('of many writers at once each pair comes once', async () => {
  const { show, add } = await given();
  await Promise.all(Array.from({ length: 10 }, (_, i) => add({ shared: 'x', [`own${i}`]: 'y' })));
  expect(Object.keys(await show())).toHaveLength(12);
});

test('another project sees none; that of a public share it sees and can’t change', async () => {
  const stranger = world.caller();
  const mine = await given();
  await expect(mine.show(stranger)).rejects.toMatchObject({ status: 404 });
  await expect(mine.add({ b: 'x' }, stranger)).rejects.toMatchObject({ status: 404 });
  const open = await given(true);
  expect(await open.show(stranger)).toEqual({ a: '1' });
  await expect(open.add({ b: 'x' }, stranger)).rejects.toMatchObject({ status: 403 });
  await expect(open.remove('a', stranger)).rejects.toMatchObject({ status: 403 });
});

test('that of snapshots has no keys for admins only, and an addition answers what was sent', async () => {
  const { share, owner } = await given();
  const body = { share_id: share.id, metadata: { a: '1' } };
  const { id } = (await snapshots.createSnapshot({ ctx: owner, path: {}, query: {}, body })).snapshot;
  const path = { resource_id: id };
  const add = (pairs: Record<string, string>, ctx: Ctx = owner) =>
    snapshotMetadata.createSnapshotMetadata({ ctx, path, query: {}, body: pairs });
  const show = async () =>
    (await snapshotMetadata.listSnapshotMetadata({ ctx: owner, path, ...nothing })).metadata;
  expect(await add({ [affinity]: 'x' })).toEqual({ metadata: { [affinity]: 'x' } });
  expect(await show()).toEqual({ a: '1', [affinity]: 'x' });
  await snapshotMetadata.deleteSnapshotMetadataItem({ ctx: owner, path: { ...path, key: 'a' }, ...nothing });
  const replaced = await snapshotMetadata.replaceSnapshotMetadata({
    ctx: owner,
    path,
    query: {},
    body: { c: '2' },
  });
  expect(replaced).toEqual({ metadata: { c: '2' } });
  const at = { ...path, key: 'c' };
  await snapshotMetadata.updateSnapshotMetadataItem({ ctx: owner, path: at, query: {}, body: { c: '3' } });
  expect(await snapshotMetadata.getSnapshotMetadataItem({ ctx: owner, path: at, ...nothing })).toEqual({
    meta: { c: '3' },
  });
  await expect(add({ b: 'x' }, world.caller())).rejects.toMatchObject({ status: 404 });
});
