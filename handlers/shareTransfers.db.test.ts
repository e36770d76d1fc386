import { randomUUID } from 'node:crypto';
import type { NewShare } from '#db/shares.ts';
import { insertShareType } from '#db/shareTypes.ts';
import { endExpiredTransfers } from '#jobs/shareTransfers.ts';
import { startWorld, type World } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { resourceLocks } from './resourceLocks.ts';
import { shareAccess } from './shareAccess.ts';
import { shares } from './shares.ts';
import { shareTransfers } from './shareTransfers.ts';
import { snapshots } from './snapshots.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };
const admin = () => world.caller({ userId: 'a', roles: ['admin', 'member', 'reader'] });

/** A share, its owner, and the offer of it. */
async function given(over: Partial<NewShare> = {}) {
  const share = await world.share(over);
  const owner = world.caller({ projectId: share.projectId });
  const offer = async (ctx: Ctx = owner, name?: string) =>
    (
      await shareTransfers.createShareTransfer({
        ...none,
        ctx,
        body: { share_id: share.id, ...(name === undefined ? {} : { name }) },
      })
    ).transfer;
  const status = async (ctx: Ctx = owner) =>
    (await shares.getShare({ ...none, ctx, path: { id: share.id } })).share.status;
  const allow = async (to: string) =>
    (
      await shareAccess.allowShareAccess({
        ctx: owner,
        query: {} as never,
        path: { id: share.id },
        body: { access_type: 'ip', access_to: to, lock_deletion: true },
      })
    ).access.id;
  return { share, owner, offer, status, allow };
}
const accept = (ctx: Ctx, id: string, body: { auth_key: string; clear_access_rules?: boolean }) =>
  shareTransfers.acceptShareTransfer({ ...none, ctx, path: { id }, body });
const show = async (ctx: Ctx, id: string) =>
  (await shareTransfers.getShareTransfer({ ...none, ctx, path: { id } })).transfer;
const remove = (ctx: Ctx, id: string) => shareTransfers.deleteShareTransfer({ ...none, ctx, path: { id } });

test('an accepted share is the other project’s, with its snapshots and all that they count', async () => {
  const { share, owner, offer, status } = await given({ size: 3 });
  const { snapshot } = await snapshots.createSnapshot({ ...none, ctx: owner, body: { share_id: share.id } });
  await world.work(share.id);
  const transfer = await offer(owner, ' gift ');
  expect(transfer).toMatchObject({
    name: 'gift',
    resource_type: 'share',
    resource_id: share.id,
    source_project_id: share.projectId,
    destination_project_id: null,
    accepted: false,
  });
  expect(await status()).toBe('awaiting_transfer');
  const taker = world.caller({ userId: 'v' });
  await accept(taker, transfer.id, transfer);
  expect(await status(taker)).toBe('available');
  await expect(status()).rejects.toMatchObject({ status: 404 });
  const { snapshot: moved } = await snapshots.getSnapshot({ ...none, ctx: taker, path: { id: snapshot.id } });
  expect(moved).toMatchObject({ project_id: taker.projectId, user_id: 'v' });
  expect(await world.usage(taker.projectId)).toMatchObject({
    shares: [1, 0],
    gigabytes: [3, 0],
    snapshots: [1, 0],
    snapshot_gigabytes: [3, 0],
  });
  expect(await world.usage(share.projectId)).toMatchObject({
    shares: [0, 0],
    gigabytes: [0, 0],
    snapshots: [0, 0],
    snapshot_gigabytes: [0, 0],
  });
  for (const ctx of [owner, taker, admin()])
    await expect(show(ctx, transfer.id)).rejects.toMatchObject({ status: 404 });
  await expect(accept(taker, transfer.id, transfer)).rejects.toMatchObject({ status: 400 });
  await snapshots.deleteSnapshot({ ...none, ctx: taker, path: { id: snapshot.id } });
  await world.work(share.id);
  expect(await world.usage(taker.projectId)).toMatchObject({ snapshots: [0, 0] });
});

test('the key is shown once, kept only as a hash, and must be right', async () => {
  const { owner, offer, status } = await given();
  const { id, auth_key } = await offer();
  expect(await show(owner, id)).not.toHaveProperty('auth_key');
  const kept = await world.db.row<{ all: string }>`
    SELECT CONCAT_WS(' ', salt, crypt_hash, display_name) AS \`all\` FROM transfers WHERE id = ${id}`;
  expect(kept!.all).not.toContain(auth_key);
  const taker = world.caller();
  for (const wrong of ['', 'x', `${auth_key}0`, auth_key.toUpperCase().replace(/[0-9]/, 'g')])
    await expect(accept(taker, id, { auth_key: wrong })).rejects.toMatchObject({ status: 400 });
  expect(await status()).toBe('awaiting_transfer');
  await accept(taker, id, { auth_key });
});

test('an offer is taken back by its project, and is unknown to others', async () => {
  const { share, owner, offer, status } = await given();
  const { id, auth_key } = await offer();
  const reader = world.caller({ projectId: share.projectId, roles: ['reader'] });
  expect(await show(reader, id)).toMatchObject({ id });
  await expect(show(world.caller(), id)).rejects.toMatchObject({ status: 404 });
  await expect(remove(world.caller(), id)).rejects.toMatchObject({ status: 404 });
  await expect(remove(reader, id)).rejects.toMatchObject({ status: 403 });
  await expect(show(owner, randomUUID())).rejects.toMatchObject({ status: 404 });
  await remove(owner, id);
  expect(await status()).toBe('available');
  await expect(remove(owner, id)).rejects.toMatchObject({ status: 404 });
  await expect(accept(world.caller(), id, { auth_key })).rejects.toMatchObject({ status: 400 });
});

test('an offer whose share is not waiting any more is neither accepted nor taken back', async () => {
  const { share, owner, offer } = await given();
  const { id, auth_key } = await offer();
  await world.db.run`UPDATE share_instances SET status = 'error' WHERE share_id = ${share.id}`;
  await expect(accept(world.caller(), id, { auth_key })).rejects.toMatchObject({ status: 400 });
  await expect(remove(owner, id)).rejects.toMatchObject({ status: 400 });
});

describe('not offered', () => {
  test.each([
    [
      'in a state of its own',
      async (id: string) =>
        void (await world.db.run`UPDATE share_instances SET status = 'extending' WHERE share_id = ${id}`),
      400,
    ],
    [
      'that is being migrated',
      async (id: string) =>
        void (await world.db.run`UPDATE shares SET task_state = 'migration_starting' WHERE id = ${id}`),
      400,
    ],
    [
      'in the recycle bin',
      async (id: string) => void (await world.db.run`UPDATE shares SET is_soft_deleted = 1 WHERE id = ${id}`),
      403,
    ],
    [
      'with replicas',
      async (id: string) => {
        await world.db.run`UPDATE share_instances SET replica_state = 'active' WHERE share_id = ${id}`;
        await world.db.run`
          INSERT INTO share_instances (created_at, deleted, id, share_id, status, access_rules_status, cast_rules_to_readonly, replica_state)
          VALUES (UTC_TIMESTAMP(6), 'False', ${randomUUID()}, ${id}, 'available', 'active', 1, 'in_sync')`;
      },
      400,
    ],
    [
      'with a snapshot being taken',
      async (id: string, owner: Ctx) =>
        void (await snapshots.createSnapshot({ ...none, ctx: owner, body: { share_id: id } })),
      400,
    ],
  ] as [string, (id: string, owner: Ctx) => Promise<void>, number][])(
    'is a share %s',
    async (_what, change, status) => {
      const { share, owner, offer } = await given();
      await change(share.id, owner);
      await expect(offer()).rejects.toMatchObject({ status });
      expect((await shareTransfers.listShareTransfers({ ...none, ctx: owner, query: {} })).transfers).toEqual(
        [],
      );
    },
  );

  test('is another project’s share, nor one by readers', async () => {
    const { share, offer } = await given();
    await expect(offer(world.caller())).rejects.toMatchObject({ status: 400 });
    await expect(
      offer(world.caller({ projectId: share.projectId, roles: ['reader'] })),
    ).rejects.toMatchObject({ status: 403 });
    await world.db.run`UPDATE shares SET is_public = 1 WHERE id = ${share.id}`;
    await expect(offer(world.caller())).rejects.toMatchObject({ status: 403 });
  });

  test('is a share twice at once', async () => {
    const { offer } = await given();
    const results = await Promise.allSettled([offer(), offer(), offer()]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

test('a project without the quota, or without the type, does not get the share; the offer stands', async () => {
  const typeId = randomUUID();
  await world.db.transaction((tx) =>
    insertShareType(tx, {
      id: typeId,
      name: typeId,
      description: null,
      isPublic: false,
      specs: {},
    }),
  );
  const { share, offer, status } = await given({ shareTypeId: typeId });
  const { id, auth_key } = await offer();
  const taker = world.caller();
  await expect(accept(taker, id, { auth_key })).rejects.toMatchObject({ status: 404 });
  await world.db.run`UPDATE share_types SET is_public = 1 WHERE id = ${typeId}`;
  await world.setQuota(taker.projectId, 'shares', 0);
  await expect(accept(taker, id, { auth_key })).rejects.toMatchObject({ status: 413 });
  expect(await status()).toBe('awaiting_transfer');
  expect(await world.usage(share.projectId)).toMatchObject({ shares: [1, 0] });
  expect((await world.usage(taker.projectId)).shares ?? [0, 0]).toEqual([0, 0]);
  const other = world.caller();
  await accept(other, id, { auth_key });
  expect(await status(other)).toBe('available');
});

test('of many who accept at once, one gets the share', async () => {
  const { share, offer } = await given();
  const { id, auth_key } = await offer();
  const takers = Array.from({ length: 5 }, () => world.caller());
  const results = await Promise.allSettled(takers.map((ctx) => accept(ctx, id, { auth_key })));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  const usages = await Promise.all(
    takers.map(async (ctx) => (await world.usage(ctx.projectId)).shares?.[0] ?? 0),
  );
  expect(usages.reduce((sum, n) => sum + n, 0)).toBe(1);
  expect(await world.usage(share.projectId)).toMatchObject({ shares: [0, 0] });
});

test.each([false, true])(
  'rules go when that is asked for (%s), the old project’s locks in any case',
  async (clears) => {
    const { share, owner, offer, allow } = await given();
    await allow('10.0.0.1');
    await resourceLocks.createResourceLock({
      ...none,
      ctx: owner,
      body: { resource_id: share.id, resource_type: 'share' },
    });
    await world.work(share.id);
    const { id, auth_key } = await offer();
    const taker = world.caller();
    await accept(taker, id, { auth_key, clear_access_rules: clears });
    await world.work(share.id);
    const { access_list } = await shareAccess.listShareAccess({
      ...none,
      ctx: taker,
      path: { id: share.id },
    });
    expect(access_list).toHaveLength(clears ? 0 : 1);
    expect(
      (await resourceLocks.listResourceLocks({ ...none, ctx: owner, query: {} })).resource_locks,
    ).toEqual([]);
    await shares.deleteShare({ ...none, ctx: taker, path: { id: share.id } });
  },
);

test('an offer that nobody accepted in time ends; nothing else does', async () => {
  const { owner, offer, status } = await given();
  const kept = await given();
  const { id, auth_key } = await offer();
  const other = await kept.offer();
  await world.db.run`UPDATE transfers SET expires_at = UTC_TIMESTAMP() - INTERVAL 1 SECOND WHERE id = ${id}`;
  await expect(accept(world.caller(), id, { auth_key })).rejects.toMatchObject({ status: 400 });
  const tools = { db: world.db, log: () => {} } as never;
  await Promise.all([endExpiredTransfers(tools), endExpiredTransfers(tools)]);
  expect(await status()).toBe('available');
  await expect(show(owner, id)).rejects.toMatchObject({ status: 404 });
  expect(await kept.status()).toBe('awaiting_transfer');
  expect(await show(kept.owner, other.id)).toMatchObject({ accepted: false });
});

describe('a list', () => {
  let owner: Ctx;
  let shareId: string;
  const named = async (ctx: Ctx, query: Record<string, string>) =>
    (await shareTransfers.listShareTransfersDetail({ ...none, ctx, query })).transfers.map(
      ({ name }) => name,
    );
  beforeAll(async () => {
    const first = await given();
    owner = first.owner;
    shareId = first.share.id;
    await first.offer(owner, 'one');
    await (await given({ projectId: first.share.projectId })).offer(owner, 'two');
  });

  test.each([
    [{}, ['two', 'one']],
    [{ sort_dir: 'asc' }, ['one', 'two']],
    [{ sort_key: 'name', sort_dir: 'asc' }, ['one', 'two']],
    [{ limit: '1', offset: '1' }, ['one']],
    [{ limit: '0' }, []],
    [{ name: 'one' }, ['one']],
    [{ 'name~': 'w' }, ['two']],
    [{ resource_type: 'nonsense' }, []],
    [{ all_tenants: '1' }, ['two', 'one']],
    [{ source_project_id: 'another' }, ['two', 'one']],
  ] as [Record<string, string>, string[]][])('by %j', async (query, names) => {
    expect(await named(owner, query)).toEqual(names);
  });

  test('is of all projects for admins who ask', async () => {
    expect(await named(admin(), { resource_id: shareId })).toEqual([]);
    expect(await named(admin(), { resource_id: shareId, all_tenants: '1' })).toEqual(['one']);
    expect(await named(admin(), { all_tenants: '1', source_project_id: owner.projectId })).toEqual([
      'two',
      'one',
    ]);
    expect(await named(world.caller(), { all_tenants: '1' })).toEqual([]);
  });

  test.each([{ sort_key: 'nonsense' }, { sort_key: 'salt' }, { limit: 'x' }])(
    'by %j is refused',
    async (query) => {
      await expect(named(owner, query as never)).rejects.toMatchObject({ status: 400 });
    },
  );
});
