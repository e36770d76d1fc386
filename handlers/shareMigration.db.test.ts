import { randomUUID } from 'node:crypto';
import { registerService } from '#db/services.ts';
import { shareIs } from '#db/shareConditions.ts';
import { listShareInstances } from '#db/shareInstanceLists.ts';
import { findShare, type NewShare } from '#db/shares.ts';
import { insertShareType } from '#db/shareTypes.ts';
import { HOST, startWorld, type World } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { shareAccess } from './shareAccess.ts';
import { shareMigration } from './shareMigration.ts';
import { shareState } from './shareState.ts';
import { shares } from './shares.ts';
import { snapshots } from './snapshots.ts';

let world: World;
const pools = { fake_driver_pools: 'one:1000:1000,two:1000:1000' };
const HERE = `${HOST}#one`;
const THERE = `${HOST}#two`;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => world.rebuild(pools));

type Body = Parameters<typeof shareMigration.startShareMigration>[0]['body'];
const wishes: Body = {
  host: THERE,
  force_host_assisted_migration: false,
  preserve_metadata: true,
  preserve_snapshots: true,
  nondisruptive: false,
  writable: true,
};

/** A share in the first pool, and what an administrator may ask of it. */
async function given(over: Partial<NewShare> = {}) {
  const share = await world.share({ host: HERE, ...over });
  const admin = world.caller({ roles: ['admin', 'member', 'reader'] });
  const owner = world.caller({ projectId: share.projectId });
  const asked = (ctx: Ctx) => ({ ctx, path: { id: share.id }, query: {}, body: null as never });
  return {
    share,
    owner,
    start: (body: Partial<Body> = {}, ctx = admin) =>
      shareMigration.startShareMigration({ ...asked(ctx), body: { ...wishes, ...body } as Body }),
    complete: (ctx = admin) => shareMigration.completeShareMigration(asked(ctx)),
    cancel: (ctx = admin) => shareMigration.cancelShareMigration(asked(ctx)),
    progress: (ctx = admin) => shareMigration.getShareMigrationProgress(asked(ctx)),
    work: (workers?: number) => world.work(share.id, workers),
    /** status, task state and pool of the share */
    async state() {
      const row = await findShare(world.db, share.id);
      return [row?.status, row?.task_state, row?.host];
    },
    instances: async () =>
      (
        await listShareInstances(world.db, {
          where: [shareIs.withId(share.id)],
          page: { limit: null, offset: 0 },
          withPaths: true,
        })
      ).map(({ status, host, export_locations }) => [status, host, export_locations?.length]),
    reset: (task_state: string | null) =>
      shareState.resetShareTaskState({ ...asked(admin), body: { task_state } as never }),
  };
}

const phase1 = ['share.migrate', 'share.migrationBegin', 'share.migrationContinue'];

test('a share moves in two phases, each done twice as once, and keeps its rules, snapshots and id', async () => {
  const { share, owner, start, complete, progress, work, state, instances } = await given();
  const rule = { access_type: 'ip', access_to: '10.0.0.1', access_level: 'rw' } as const;
  await shareAccess.allowShareAccess({ ctx: owner, path: { id: share.id }, query: {}, body: rule });
  await snapshots.createSnapshot({ ctx: owner, path: {}, query: {}, body: { share_id: share.id } });
  await work();

  await start();
  expect(await state()).toEqual(['migrating', 'migration_starting', HERE]);
  expect(await progress()).toEqual({ total_progress: 0, task_state: 'migration_starting', details: {} });
  expect(await work(2)).toEqual(phase1);
  expect(await state()).toEqual(['migrating', 'migration_driver_phase1_done', HERE]);
  expect(await progress()).toMatchObject({ total_progress: 100 });
  expect(await instances()).toEqual([
    ['migrating', HERE, 0],
    ['migrating_to', THERE, 0],
  ]);
  await complete();
  expect(await state()).toEqual(['migrating', 'migration_completing', HERE]);
  expect(await work(2)).toEqual(['share.migrationSwitch', 'share.delete']);
  expect(await state()).toEqual(['available', 'migration_success', THERE]);
  expect(await instances()).toEqual([['available', THERE, 3]]);

  const access = { ctx: owner, path: { id: share.id }, query: {}, body: null as never };
  const { access_list: rules } = await shareAccess.listShareAccess(access);
  expect(rules).toMatchObject([{ access_to: '10.0.0.1', state: 'active' }]);
  const listed = await snapshots.listSnapshotsDetail({
    ctx: owner,
    path: {},
    query: {},
    body: null as never,
  });
  expect(listed.snapshots).toMatchObject([{ status: 'available', share_id: share.id }]);
  expect(await world.usage(share.projectId)).toMatchObject({ shares: [1, 0], gigabytes: [1, 0] });
});

test('a long first phase tells how far it is, and can be given up', async () => {
  await world.rebuild({ ...pools, fake_driver_migration_steps: '1000' });
  const { start, cancel, complete, progress, work, state, instances } = await given();
  await start();
  const working = work();
  const until = async (check: () => Promise<boolean>) => {
    for (let i = 0; i < 400 && !(await check()); i++) await new Promise((r) => setTimeout(r, 25));
  };
  await until(async () => (await progress()).total_progress > 0);
  expect((await progress()).total_progress).toBeGreaterThan(0);
  expect((await progress()).total_progress).toBeLessThan(100);
  await expect(complete()).rejects.toMatchObject({ status: 400 });
  await cancel();
  await expect(cancel()).rejects.toMatchObject({ status: 400 });
  expect((await working).at(-1)).toBe('share.migrationCancel');
  expect(await state()).toEqual(['available', 'migration_cancelled', HERE]);
  expect(await instances()).toEqual([['available', HERE, 0]]);
});

test.each([0, 1, 2, 3])('it can be given up when %i of its jobs are done', async (done) => {
  const { share, start, cancel, complete, work, state, instances } = await given();
  await start();
  for (let i = 0; i < done; i++) await world.step(share.id);
  await cancel();
  await expect(complete()).rejects.toMatchObject({ status: 400 });
  expect((await work(2)).at(-1)).toBe(done === 1 ? 'share.migrationRestore' : 'share.migrationCancel');
  expect(await state()).toEqual(['available', 'migration_cancelled', HERE]);
  expect(await instances()).toEqual([['available', HERE, 0]]);
  await start();
  await work();
  await complete();
  await work();
  expect(await state()).toEqual(['available', 'migration_success', THERE]);
});

test.each(['migration_check', 'migration_start', 'migration_continue'])(
  'a back end that fails at %s leaves the share where it was, with a message',
  async (call) => {
    await world.rebuild({ ...pools, fake_driver_failures: `${call}:once` });
    const { share, start, work, state, instances } = await given();
    await start();
    await work();
    expect(await state()).toEqual(['available', 'migration_error', HERE]);
    expect(await instances()).toEqual([['available', HERE, 0]]);
    expect(await world.messages(share.id)).toEqual([['005', '001']]);
  },
);

test('when the switch fails both sides stay, in error, and go with the share', async () => {
  await world.rebuild({ ...pools, fake_driver_failures: 'migration_complete:once' });
  const { share, owner, start, complete, work, state, instances } = await given();
  await start();
  await work();
  await complete();
  await work();
  expect(await state()).toEqual(['error', 'migration_error', HERE]);
  expect(await instances()).toEqual([
    ['error', HERE, 0],
    ['error', THERE, 0],
  ]);
  await shares.deleteShare({ ctx: owner, path: { id: share.id }, query: {}, body: null as never });
  await work();
  expect(await findShare(world.db, share.id)).toBeUndefined();
  expect(await world.usage(share.projectId)).toMatchObject({ shares: [0, 0], gigabytes: [0, 0] });
});

test('a pool that doesn’t suit the share ends it at once, with the filter in the message', async () => {
  await world.rebuild({ fake_driver_pools: 'one:1000:1000,two:1000:0' });
  const { share, start, work, state } = await given();
  await start();
  await work();
  expect(await state()).toEqual(['available', 'migration_error', HERE]);
  expect(await world.messages(share.id)).toEqual([['001', '009']]);
});

test('wishes that neither the back end nor a copy can meet end it', async () => {
  const { start, work, state } = await given();
  await start({ nondisruptive: true });
  await work();
  expect(await state()).toEqual(['available', 'migration_error', HERE]);
});

test('a share gets another type on the way, and counts as one of it', async () => {
  const types = [randomUUID(), randomUUID()];
  for (const id of types) {
    const specs: Record<string, string> = { driver_handles_share_servers: 'False' };
    if (id === types[0]) specs.snapshot_support = 'True';
    const type = { id, name: id, description: null, isPublic: true, specs };
    await world.db.transaction((tx) => insertShareType(tx, type));
  }
  const { share, start, complete, work } = await given({ shareTypeId: types[0]! });
  await start({ new_share_type_id: types[1]!, host: HERE });
  await work();
  await complete();
  await work(2);
  const row = await findShare(world.db, share.id);
  expect(row).toMatchObject({ host: HERE, share_type: types[1], snapshot_support: false });
  const counted = await world.db.rows`
    SELECT share_type_id AS type, in_use FROM quota_usages
    WHERE project_id = ${share.projectId} AND resource = 'gigabytes' AND share_type_id IS NOT NULL ORDER BY in_use`;
  expect(counted).toEqual([
    { type: types[0], in_use: 0 },
    { type: types[1], in_use: 1 },
  ]);
  expect(await world.usage(share.projectId)).toMatchObject({ shares: [1, 0], gigabytes: [1, 0] });
});

test('a share that is where it should be stays there', async () => {
  const { start, state } = await given();
  const ctx = world.caller({ roles: ['admin'] });
  await start({ host: HERE }, ctx);
  expect(await state()).toEqual(['available', null, HERE]);
});

test('nothing else is done to a share that moves', async () => {
  const { share, owner, start, work } = await given();
  await start();
  await work();
  const request = { ctx: owner, path: { id: share.id }, query: {}, body: null as never };
  await expect(shares.deleteShare(request)).rejects.toMatchObject({ status: 403 });
});

test.each<[string, Partial<Body>, number]>([
  ['an unknown service', { host: 'nowhere@fake#pool' }, 404],
  ['a type that isn’t there', { new_share_type_id: randomUUID() }, 400],
  ['a network that isn’t there', { new_share_network_id: randomUUID() }, 400],
  ['a copy that should do what it can’t', { force_host_assisted_migration: true }, 400],
])('%s is refused', async (_what, body, status) => {
  const { start, state } = await given();
  await expect(start(body)).rejects.toMatchObject({ status });
  expect(await state()).toEqual(['available', null, HERE]);
});

test('only administrators migrate, what is there, and in a state for it', async () => {
  const { share, owner, start, complete, cancel, progress, reset } = await given();
  const stranger = world.caller();
  await expect(start({}, owner)).rejects.toMatchObject({ status: 403 });
  await expect(start({}, stranger)).rejects.toMatchObject({ status: 404 });
  for (const ask of [complete, cancel, progress]) {
    await expect(ask(owner)).rejects.toMatchObject({ status: 403 });
    await expect(ask(stranger)).rejects.toMatchObject({ status: 404 });
    await expect(ask()).rejects.toMatchObject({ status: 400 });
  }
  for (const state of ['migration_success', 'migration_cancelled', 'migration_error']) {
    await reset(state);
    for (const ask of [complete, cancel]) await expect(ask()).rejects.toMatchObject({ status: 400 });
    expect(await progress()).toMatchObject({ total_progress: 100, task_state: state });
  }
  await reset('migration_in_progress');
  await expect(start()).rejects.toMatchObject({ status: 400 });
  await reset(null);
  await world.db.run`UPDATE share_instances SET status = 'error' WHERE id = ${share.instanceId}`;
  await expect(start()).rejects.toMatchObject({ status: 400 });
  await world.db
    .run`UPDATE share_instances SET status = 'available', access_rules_status = 'error' WHERE id = ${share.instanceId}`;
  await expect(start()).rejects.toMatchObject({ status: 400 });
});

test('a service that is down is no destination', async () => {
  const host = 'sleepy@fake';
  await registerService(world.db, { host, binary: 'manila-share', topic: 'manila-share', zone: 'nova' });
  await world.db.run`UPDATE services SET updated_at = '2020-01-01' WHERE host = ${host}`;
  const { start } = await given();
  await expect(start({ host: `${host}#pool` })).rejects.toMatchObject({ status: 400 });
});
