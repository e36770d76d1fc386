import { randomUUID } from 'node:crypto';
import type { NewShare } from '#db/shares.ts';
import { startWorld, type World, type WorldShare } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { shareBackups } from './shareBackups.ts';
import { shareState } from './shareState.ts';
import { shares } from './shares.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };
const adminOf = (share: WorldShare) =>
  world.caller({ projectId: share.projectId, roles: ['admin', 'member', 'reader'] });

/** A share, its owner, and what the owner does with backups of it. The back end opens no shares: every copy fails. */
async function given(over: Partial<NewShare> = {}) {
  const share = await world.share(over);
  const owner = world.caller({ projectId: share.projectId });
  const make = async (body: Record<string, unknown> = {}, ctx: Ctx = owner) =>
    (await shareBackups.createShareBackup({ ...none, ctx, body: { share_id: share.id, ...body } }))
      .share_backup;
  const reset = (id: string, status: string) =>
    shareBackups.resetShareBackupStatus({ ...none, ctx: adminOf(share), path: { id }, body: { status } });
  /** one that an admin has set to this status after it failed */
  const made = async (status = 'available') => {
    const { id } = await make();
    await world.work(share.id);
    await reset(id, status);
    return id;
  };
  return { share, owner, make, made, reset, work: () => world.work(share.id) };
}
const show = async (ctx: Ctx, id: string) =>
  (await shareBackups.getShareBackup({ ...none, ctx, path: { id } })).share_backup;
const remove = (ctx: Ctx, id: string) => shareBackups.deleteShareBackup({ ...none, ctx, path: { id } });
const restore = (ctx: Ctx, id: string, body: unknown = null) =>
  shareBackups.restoreShareBackup({ ...none, ctx, path: { id }, body: body as never });
const list = async (ctx: Ctx, query: Record<string, string> = {}) =>
  (await shareBackups.listShareBackupsDetail({ ...none, ctx, query })).share_backups.map(({ id }) => id);
const shareNow = async (ctx: Ctx, id: string) =>
  (await shares.getShare({ ...none, ctx, path: { id } })).share;

test('where nothing can be copied a backup ends in error, and the share is as it was', async () => {
  const { share, owner, make, work } = await given({ size: 3 });
  const backup = await make({ name: 'n', description: 'd', backup_options: { any: 'thing' } });
  expect(backup).toMatchObject({
    name: 'n',
    description: 'd',
    share_id: share.id,
    status: 'creating',
    size: 3,
    progress: '0',
    restore_progress: '0',
    backup_type: null,
    updated_at: null,
  });
  expect(await shareNow(owner, share.id)).toMatchObject({ status: 'backup_creating' });
  expect(await work()).toEqual(['backup.create']);
  expect(await show(owner, backup.id)).toMatchObject({ status: 'error', progress: '0' });
  expect(await shareNow(owner, share.id)).toMatchObject({
    status: 'available',
    task_state: 'data_copying_error',
  });
  expect(await world.usage(share.projectId)).toMatchObject({ backups: [1, 0], backup_gigabytes: [3, 0] });
});

test('where there is nowhere to delete from, a deletion ends in error_deleting and counts on', async () => {
  const { share, owner, made, work, reset } = await given();
  const id = await made();
  await remove(owner, id);
  expect(await show(owner, id)).toMatchObject({ status: 'deleting' });
  expect(await work()).toEqual(['backup.delete']);
  expect(await show(owner, id)).toMatchObject({ status: 'error_deleting' });
  expect(await world.usage(share.projectId)).toMatchObject({ backups: [1, 0] });
  await expect(remove(owner, id)).rejects.toMatchObject({ status: 400 });
  await reset(id, 'error');
  await remove(owner, id);
});

test('a restore that fails leaves the backup available, the share in error, and a message', async () => {
  const { share, owner, made, work } = await given();
  const id = await made();
  expect(await restore(owner, id)).toEqual({ restore: { backup_id: id, share_id: share.id } });
  expect(await show(owner, id)).toMatchObject({ status: 'restoring' });
  expect(await shareNow(owner, share.id)).toMatchObject({ status: 'backup_restoring', source_backup_id: id });
  expect(await work()).toEqual(['backup.restore']);
  expect(await show(owner, id)).toMatchObject({ status: 'available' });
  expect(await shareNow(owner, share.id)).toMatchObject({ status: 'backup_restoring_error' });
  expect(await world.messages(share.id)).toEqual([['028', '001']]);
  // It may be begun again: nothing else would make the share whole.
  await restore(owner, id);
});

test.each([
  ['is not available', { status: 'error' }, 400],
  ['was never placed', { host: null }, 400],
])('a share that %s is not backed up', async (_what, over, status) => {
  const { share, make } = await given(over);
  await expect(make()).rejects.toMatchObject({ status });
  expect(await world.usage(share.projectId)).not.toHaveProperty('backups');
});

test('a share that is backed up, busy or in the recycle bin is not backed up', async () => {
  const { share, owner, make, work } = await given();
  await make();
  await expect(make()).rejects.toMatchObject({ status: 400 });
  await work();
  const state = (task_state: string | null) =>
    shareState.resetShareTaskState({
      ...none,
      ctx: adminOf(share),
      path: { id: share.id },
      body: { task_state } as never,
    });
  await state('migration_in_progress');
  await expect(make()).rejects.toMatchObject({ status: 409 });
  await state(null);
  await world.db.run`UPDATE shares SET is_soft_deleted = 1 WHERE id = ${share.id}`;
  await expect(make()).rejects.toMatchObject({ status: 403 });
  await expect(
    shareBackups.createShareBackup({ ...none, ctx: owner, body: { share_id: 'nope' } }),
  ).rejects.toMatchObject({ status: 400 });
});

test('of many at once one is made; the quota is kept', async () => {
  const { share, make } = await given();
  const results = await Promise.allSettled(Array.from({ length: 6 }, () => make()));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await world.setQuota(share.projectId, 'backups', 1);
  const other = await world.share({ projectId: share.projectId });
  await expect(make({ share_id: other.id })).rejects.toMatchObject({ status: 413 });
  expect(await world.usage(share.projectId)).toMatchObject({ backups: [1, 0], backup_gigabytes: [1, 0] });
});

test('a share with backups is not deleted, by nobody', async () => {
  const { share, owner, made } = await given();
  await made();
  const at = { ...none, path: { id: share.id } };
  await expect(shares.deleteShare({ ...at, ctx: owner })).rejects.toMatchObject({ status: 403 });
  await expect(shareState.softDeleteShare({ ...at, ctx: owner })).rejects.toMatchObject({ status: 403 });
  await expect(shareState.forceDeleteShare({ ...at, ctx: adminOf(share) })).rejects.toMatchObject({
    status: 400,
  });
});

test('what is restored to has to be there, own, available and large enough', async () => {
  const { share, owner, made } = await given({ size: 2 });
  const id = await made();
  const small = await world.share({ projectId: share.projectId });
  const foreign = await world.share({ size: 2, isPublic: true });
  const broken = await world.share({ size: 2, projectId: share.projectId, status: 'error' });
  await expect(restore(owner, id, small.id)).rejects.toMatchObject({ status: 400 });
  await expect(restore(owner, id, { target_share_id: foreign.id })).rejects.toMatchObject({ status: 404 });
  await expect(restore(owner, id, 'nope')).rejects.toMatchObject({ status: 404 });
  for (const mistaken of [5, '', { target_share_id: null }, { target_share: small.id }, ['x']])
    await expect(restore(owner, id, mistaken)).rejects.toMatchObject({ status: 400 });
  await expect(restore(owner, id, broken.id)).rejects.toMatchObject({ status: 400 });
  expect(await show(owner, id)).toMatchObject({ status: 'available' });
  // Older versions know of no other share.
  const before = world.caller({ projectId: share.projectId, version: 90 });
  expect(await restore(before, id, small.id)).toMatchObject({ restore: { share_id: share.id } });
});

test.each(['creating', 'error', 'deleting'])('a backup that is %s is not restored', async (status) => {
  const { owner, made } = await given();
  await expect(restore(owner, await made(status))).rejects.toMatchObject({ status: 400 });
});

test('names and descriptions are changed, alone and together', async () => {
  const { owner, made } = await given();
  const id = await made();
  const change = async (body: Record<string, unknown>) =>
    (await shareBackups.updateShareBackup({ ...none, ctx: owner, path: { id }, body })).share_backup;
  expect(await change({ name: 'a' })).toMatchObject({ name: 'a', description: null });
  expect(await change({ description: 'b' })).toMatchObject({ name: 'a', description: 'b' });
  expect(await change({ name: null })).toMatchObject({ name: null, description: 'b' });
  expect(await change({})).toMatchObject({ name: null, description: 'b' });
});

test('lists are narrowed, sorted and paged', async () => {
  const { share, owner, make, made, work } = await given();
  const first = await made();
  const { id: second } = await make({ name: 'second one', description: 'of two' });
  await work();
  expect(new Set(await list(owner))).toEqual(new Set([first, second]));
  expect(await list(owner, { name: 'second one' })).toEqual([second]);
  expect(await list(owner, { 'name~': 'cond' })).toEqual([second]);
  expect(await list(owner, { description: 'of two' })).toEqual([second]);
  expect(await list(owner, { 'description~': 'two' })).toEqual([second]);
  expect(await list(owner, { status: 'available', share_id: share.id })).toEqual([first]);
  expect(await list(owner, { sort_key: 'status', sort_dir: 'asc' })).toEqual([first, second]);
  expect(await list(owner, { sort_key: 'status', sort_dir: 'asc', offset: '1' })).toEqual([second]);
  await expect(list(owner, { share_id: 'nope' })).rejects.toMatchObject({ status: 400 });
  await expect(list(owner, { sort_key: 'zz' })).rejects.toMatchObject({ status: 400 });
  await expect(list(owner, { sort_dir: 'zz' })).rejects.toMatchObject({ status: 400 });
  const admin = world.caller({ roles: ['admin', 'member', 'reader'] });
  expect(await list(admin)).toEqual([]);
  expect(await list(admin, { all_tenants: '1' })).toEqual(expect.arrayContaining([first, second]));
  expect(await list(admin, { all_tenants: '1', project_id: randomUUID() })).toEqual([]);
  expect(await list(world.caller(), { all_tenants: '1' })).toEqual([]);
});

test("another project's backup is not there, and readers change nothing", async () => {
  const { share, owner, made } = await given();
  const id = await made();
  const actions = (ctx: Ctx): Promise<unknown>[] => [
    show(ctx, id),
    remove(ctx, id),
    restore(ctx, id),
    shareBackups.updateShareBackup({ ...none, ctx, path: { id }, body: { name: 'x' } }),
    shareBackups.resetShareBackupStatus({ ...none, ctx, path: { id }, body: { status: 'error' } }),
  ];
  for (const action of actions(world.caller())) await expect(action).rejects.toMatchObject({ status: 404 });
  const reader = world.caller({ projectId: share.projectId, roles: ['reader'] });
  const [shown, ...others] = actions(reader);
  await shown;
  for (const action of others) await expect(action).rejects.toMatchObject({ status: 403 });
  await expect(
    shareBackups.createShareBackup({ ...none, ctx: reader, body: { share_id: share.id } }),
  ).rejects.toMatchObject({ status: 403 });
  // A public share is seen by all, and its files still are its project's.
  const open = await world.share({ isPublic: true });
  await expect(
    shareBackups.createShareBackup({ ...none, ctx: owner, body: { share_id: open.id } }),
  ).rejects.toMatchObject({ status: 400 });
  for (const action of [show(owner, 'nope'), remove(owner, 'nope'), restore(owner, 'nope')])
    await expect(action).rejects.toMatchObject({ status: 404 });
});

test('only a status that there is can be set', async () => {
  const { made, reset } = await given();
  const id = await made();
  await expect(reset(id, 'restoring')).rejects.toMatchObject({ status: 400 });
});
