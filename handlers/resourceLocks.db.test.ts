import { randomUUID } from 'node:crypto';
import { startWorld, type World } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { resourceLocks } from './resourceLocks.ts';
import { shareAccess } from './shareAccess.ts';
import { shareState } from './shareState.ts';
import { shares } from './shares.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };
type Body = Record<string, unknown>;

/** A share, its owner, and what a caller (the owner unless said) does with locks on it. */
async function given() {
  const share = await world.share();
  const owner = world.caller({ projectId: share.projectId });
  const place = async (body: Body = {}, ctx: Ctx = owner) =>
    (
      await resourceLocks.createResourceLock({
        ...none,
        ctx,
        body: { resource_id: share.id, resource_type: 'share', ...body } as never,
      })
    ).resource_lock;
  const allow = async (to: string, body: Body = {}) =>
    (
      await shareAccess.allowShareAccess({
        ctx: owner,
        query: {} as never,
        path: { id: share.id },
        body: { access_type: 'ip', access_to: to, ...body },
      })
    ).access.id;
  const listed = async (query: Record<string, string> = {}, ctx: Ctx = owner) =>
    (await resourceLocks.listResourceLocks({ ...none, ctx, query })).resource_locks;
  return { share, owner, place, allow, listed, remove: removeShare(share.id) };
}
const removeShare = (id: string) => (ctx: Ctx) => shares.deleteShare({ ...none, ctx, path: { id } });
const admin = () => world.caller({ userId: 'a', roles: ['admin', 'member', 'reader'] });
const show = async (ctx: Ctx, id: string) =>
  (await resourceLocks.getResourceLock({ ...none, ctx, path: { id } })).resource_lock;
const lift = (ctx: Ctx, id: string) => resourceLocks.deleteResourceLock({ ...none, ctx, path: { id } });
const update = async (ctx: Ctx, id: string, body: Body) =>
  (await resourceLocks.updateResourceLock({ ...none, ctx, path: { id }, body })).resource_lock;

test('a locked share is deleted by nobody, an admin included, until its locks are gone', async () => {
  const { share, owner, place, remove, listed } = await given();
  const own = await place({ lock_reason: 'keep' });
  expect(own).toMatchObject({
    resource_action: 'delete',
    lock_context: 'user',
    lock_reason: 'keep',
    user_id: 'u',
    updated_at: null,
  });
  const ofAdmin = await place({}, admin());
  expect(ofAdmin).toMatchObject({ lock_context: 'admin', lock_reason: null });
  for (const ctx of [owner, admin()]) await expect(remove(ctx)).rejects.toMatchObject({ status: 403 });
  const forced = shareState.forceDeleteShare({ ...none, ctx: admin(), path: { id: share.id } });
  await expect(forced).rejects.toMatchObject({ status: 400 });
  const softDelete = shareState.softDeleteShare({ ...none, ctx: owner, path: { id: share.id } });
  await expect(softDelete).rejects.toMatchObject({ status: 403 });
  await lift(owner, own.id);
  await expect(show(owner, own.id)).rejects.toMatchObject({ status: 404 });
  await expect(remove(owner)).rejects.toMatchObject({ status: 403 });
  expect(await listed()).toEqual([]);
  await lift(admin(), ofAdmin.id);
  await remove(owner);
});

test('a lock is changed and lifted by who placed it and by admins; other projects don’t know of it', async () => {
  const { share, owner, place } = await given();
  const { id } = await place();
  const colleague = world.caller({ projectId: share.projectId, userId: 'v' });
  const stranger = world.caller();
  expect(await show(colleague, id)).toMatchObject({ id });
  for (const act of [(ctx: Ctx) => update(ctx, id, { lock_reason: 'no' }), (ctx: Ctx) => lift(ctx, id)]) {
    await expect(act(colleague)).rejects.toMatchObject({ status: 403 });
    await expect(act(stranger)).rejects.toMatchObject({ status: 404 });
  }
  await expect(show(stranger, id)).rejects.toMatchObject({ status: 404 });
  const changed = await update(owner, id, { lock_reason: 'because' });
  expect(changed).toMatchObject({ lock_reason: 'because' });
  expect(changed.updated_at).not.toBeNull();
  expect(await update(admin(), id, {})).toMatchObject({
    lock_reason: 'because',
    updated_at: changed.updated_at,
  });
  expect(await update(owner, id, { lock_reason: null, resource_action: null })).toMatchObject({
    lock_reason: null,
    resource_action: 'delete',
  });
  await lift(admin(), id);
  for (const ctx of [owner, admin()]) await expect(lift(ctx, id)).rejects.toMatchObject({ status: 404 });
});

test.each([
  ['no type', { resource_type: null }, 400],
  ['a share against sight', { resource_action: 'show' }, 400],
  ['a share that isn’t there', { resource_id: randomUUID() }, 400],
  ['a rule that isn’t there', { resource_id: randomUUID(), resource_type: 'access_rule' }, 400],
] as [string, Body, number][])('%s is not locked', async (_what, body, status) => {
  const { place, listed } = await given();
  await expect(place(body)).rejects.toMatchObject({ status });
  expect(await listed()).toEqual([]);
});

test('whoever may not change the share places no lock on it, be it public', async () => {
  const { share, place } = await given();
  await world.db.run`UPDATE shares SET is_public = 1 WHERE id = ${share.id}`;
  await expect(place({}, world.caller())).rejects.toMatchObject({ status: 403 });
  const reader = world.caller({ projectId: share.projectId, roles: ['reader'] });
  await expect(place({}, reader)).rejects.toMatchObject({ status: 403 });
});

test.each(['deleting', 'error_deleting'])('a share that is %s is not locked', async (status) => {
  const { share, place } = await given();
  await world.db.run`UPDATE share_instances SET status = ${status} WHERE share_id = ${share.id}`;
  await expect(place()).rejects.toMatchObject({ status: 409 });
});

test('a share in the recycle bin is not locked', async () => {
  const { share, place } = await given();
  await world.db.run`UPDATE shares SET is_soft_deleted = 1 WHERE id = ${share.id}`;
  await expect(place()).rejects.toMatchObject({ status: 409 });
});

test('of a lock and a deletion at once, one wins', async () => {
  for (let i = 0; i < 5; i++) {
    const { owner, place, remove } = await given();
    const results = await Promise.allSettled([place(), remove(owner)]);
    const statuses = results.map((each) => (each.status === 'rejected' ? each.reason.status : 'done'));
    expect([
      ['done', 403],
      [409, 'done'],
    ]).toContainEqual(statuses);
  }
});

describe('locks on access rules', () => {
  const on = (rule: string, action?: string) => ({
    resource_id: rule,
    resource_type: 'access_rule',
    ...(action ? { resource_action: action } : {}),
  });

  test('keep a rule from being denied', async () => {
    const { share, owner, place, allow } = await given();
    const rule = await allow('10.0.0.1');
    const { id } = await place(on(rule));
    const deny = () =>
      shareAccess.denyShareAccess({
        ctx: owner,
        query: {} as never,
        path: { id: share.id },
        body: { access_id: rule },
      });
    await expect(deny()).rejects.toMatchObject({ status: 403 });
    await lift(owner, id);
    await deny();
    await expect(place(on(rule))).rejects.toMatchObject({ status: 409 });
    await world.work(share.id);
  });

  test('hide a rule once only, whether placed or changed to', async () => {
    const { owner, place, allow } = await given();
    const rule = await allow('10.0.0.1');
    const deletion = await place(on(rule, 'delete'));
    const sight = await place(on(rule, 'show'));
    await expect(place(on(rule, 'show'))).rejects.toMatchObject({ status: 409 });
    await expect(update(owner, deletion.id, { resource_action: 'show' })).rejects.toMatchObject({
      status: 400,
    });
    expect(await update(owner, sight.id, { resource_action: 'show' })).toMatchObject({ id: sight.id });
    expect(await update(owner, sight.id, { resource_action: 'delete' })).toMatchObject({
      resource_action: 'delete',
    });
    expect(await update(owner, deletion.id, { resource_action: 'show' })).toMatchObject({
      resource_action: 'show',
    });
  });

  test.each(['lifted', 'changed to another'])('that came with a rule free the share when %s', async (how) => {
    const { owner, allow, listed, remove } = await given();
    const rule = await allow('10.0.0.1', { lock_deletion: true });
    const other = await allow('10.0.0.2', { lock_deletion: true });
    const [lock] = await listed({ resource_id: rule });
    await expect(remove(owner)).rejects.toMatchObject({ status: 403 });
    if (how === 'lifted') await lift(owner, lock!.id);
    else await update(owner, lock!.id, { resource_action: 'show' });
    await expect(remove(owner)).rejects.toMatchObject({ status: 403 });
    const [second] = await listed({ resource_id: other });
    await lift(owner, second!.id);
    expect(await listed({ resource_type: 'share' })).toEqual([]);
  });
});

describe('a list', () => {
  let owner: Ctx;
  let shareId: string;
  const named = async (ctx: Ctx, query: Record<string, string>) => {
    const { resource_locks, ...around } = await resourceLocks.listResourceLocks({ ...none, ctx, query });
    return { reasons: resource_locks.map((lock) => lock.lock_reason), ...around };
  };
  beforeAll(async () => {
    const world1 = await given();
    owner = world1.owner;
    shareId = world1.share.id;
    await world1.place({ lock_reason: 'one' });
    await world1.place({ lock_reason: 'two' }, world.caller({ projectId: owner.projectId, userId: 'v' }));
    await world1.place({ lock_reason: 'three' }, admin());
  });

  test.each([
    [{}, ['two', 'one']],
    [{ sort_dir: 'asc' }, ['one', 'two']],
    [{ sort_key: 'lock_reason', sort_dir: 'asc' }, ['one', 'two']],
    [{ limit: '1', offset: '1' }, ['one']],
    [{ user_id: 'v' }, ['two']],
    [{ lock_reason: 'one' }, ['one']],
    [{ lock_context: 'admin' }, []],
    [{ resource_type: 'access_rule' }, []],
    [{ resource_action: 'delete' }, ['two', 'one']],
    [{ created_since: '2020-01-01' }, ['two', 'one']],
    [{ created_before: '2020-01-01' }, []],
    [{ all_projects: 'true' }, ['two', 'one']],
  ] as [Record<string, string>, string[]][])('by %j', async (query, reasons) => {
    expect((await named(owner, query)).reasons).toEqual(reasons);
  });

  test('is counted whole; none are not counted', async () => {
    expect(await named(owner, { with_count: 'true', limit: '1' })).toMatchObject({
      count: 2,
      reasons: ['two'],
    });
    expect(await named(owner, { with_count: 'true', user_id: 'nobody' })).toEqual({ reasons: [] });
  });

  test('is of other projects for admins only', async () => {
    const ctx = admin();
    expect((await named(ctx, { resource_id: shareId })).reasons).toEqual([]);
    expect((await named(ctx, { resource_id: shareId, all_projects: '1' })).reasons).toEqual([
      'three',
      'two',
      'one',
    ]);
    expect((await named(ctx, { project_id: owner.projectId })).reasons).toEqual(['two', 'one']);
    await expect(named(owner, { project_id: ctx.projectId })).rejects.toMatchObject({ status: 403 });
  });

  test.each([{ sort_key: 'nonsense' }, { created_since: 'yesterday' }, { limit: '-1' }])(
    'by %j is refused',
    async (query) => {
      await expect(named(owner, query as never)).rejects.toMatchObject({ status: 400 });
    },
  );
});
