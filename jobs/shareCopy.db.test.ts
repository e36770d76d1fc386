import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { heldRules } from '#db/heldRules.ts';
import { instancesOf } from '#db/shareInstances.ts';
import { findShare } from '#db/shares.ts';
import { shareAccess } from '#handlers/shareAccess.ts';
import { shareMigration } from '#handlers/shareMigration.ts';
import { snapshots } from '#handlers/snapshots.ts';
import { HOST, startWorld, type World } from '#server/local/testing/world.ts';
import { differences } from './data/copy.ts';

let world: World;
let root: string;
const pools = { fake_driver_pools: 'one:1000:1000,two:1000:1000' };
const HERE = `${HOST}#one`;
const THERE = `${HOST}#two`;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'shoal-migration-'));
  await world.rebuild(pools);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const wishes = {
  host: THERE,
  force_host_assisted_migration: true,
  preserve_metadata: false,
  preserve_snapshots: false,
  nondisruptive: false,
  writable: false,
} as const;

/** A share with a rule and files in it. */
async function given() {
  const share = await world.share({ host: HERE });
  const files = join(root, share.instanceId);
  mkdirSync(join(files, 'd'), { recursive: true });
  mkdirSync(join(files, 'lost+found'));
  writeFileSync(join(files, 'd/file'), 'kept', { mode: 0o640 });
  symlinkSync('d/file', join(files, 'link'));
  const admin = world.caller({ roles: ['admin', 'member', 'reader'] });
  const owner = world.caller({ projectId: share.projectId });
  const asked = { ctx: admin, path: { id: share.id }, query: {}, body: null as never };
  const rule = { access_type: 'ip', access_to: '10.0.0.1', access_level: 'rw' } as const;
  await shareAccess.allowShareAccess({ ...asked, ctx: owner, body: rule });
  await world.work(share.id);
  return {
    share,
    owner,
    files,
    start: (body: object = {}) =>
      shareMigration.startShareMigration({ ...asked, body: { ...wishes, ...body } as never }),
    complete: () => shareMigration.completeShareMigration(asked),
    cancel: () => shareMigration.cancelShareMigration(asked),
    progress: () => shareMigration.getShareMigrationProgress(asked),
    work: (workers?: number) => world.work(share.id, workers),
    async state() {
      const row = await findShare(world.db, share.id);
      return [row?.status, row?.task_state, row?.host];
    },
    /** what the rules of each instance let their clients do */
    async levels() {
      const instances = await instancesOf(world.db, share.id);
      return Promise.all(
        instances.map(async ({ id, status }) => [
          status,
          (await heldRules(world.db, id)).map(({ accessLevel }) => accessLevel),
        ]),
      );
    },
    rules: async () =>
      (await shareAccess.listShareAccess({ ...asked, ctx: owner })).access_list.map(
        ({ access_level, state }) => [access_level, state],
      ),
  };
}

const everyJob = [
  'share.migrate',
  'share.migrationBegin',
  'share.migrationProvision',
  'share.migrationAttach',
  'share.migrationCopy',
  'share.detach',
  'share.detach',
];

test('a back end that opens no shares can’t be copied from: the share is as it was', async () => {
  const { share, start, work, state, levels } = await given();
  await start();
  expect(await work()).toEqual([...everyJob.slice(0, 3), 'share.migrationDiscard', 'share.migrationRestore']);
  expect(await state()).toEqual(['available', 'migration_error', HERE]);
  expect(await levels()).toEqual([['available', ['rw']]]);
  expect(await world.messages(share.id)).toEqual([['005', '001']]);
});

describe('shares that are open to the data worker', () => {
  beforeEach(() => world.openShares(root, {}));

  test.each([1, 2])('are copied and switched over with %i worker(s)', async (workers) => {
    const { share, files, start, complete, progress, work, state, levels, rules } = await given();
    await start();
    expect(await work(workers)).toEqual(everyJob);
    expect(await state()).toEqual(['migrating', 'data_copying_completed', HERE]);
    expect(await progress()).toMatchObject({ total_progress: 100 });
    expect(await levels()).toEqual([
      ['migrating', ['ro']],
      ['migrating_to', []],
    ]);
    await complete();
    expect(await work(workers)).toEqual(['share.migrationHandOver', 'share.delete']);
    expect(await state()).toEqual(['available', 'migration_success', THERE]);
    expect(await levels()).toEqual([['available', ['rw']]]);
    expect(await rules()).toEqual([['rw', 'active']]);
    const [instance] = await instancesOf(world.db, share.id);
    expect(instance!.exportLocations).toHaveLength(3);
    const moved = join(root, instance!.id);
    expect(existsSync(join(moved, 'lost+found'))).toBe(false);
    const options = { signal: AbortSignal.timeout(20_000), exclude: ['lost+found'] };
    expect(await differences(files, moved, options)).toEqual([]);
    expect(await world.usage(share.projectId)).toMatchObject({ shares: [1, 0], gigabytes: [1, 0] });
  });

  test('are copied too when their back end can’t move them and nothing more was wished', async () => {
    await world.rebuild({ ...pools, fake_driver_failures: 'migration_check:unsupported' });
    const { start, work, state } = await given();
    await start({ force_host_assisted_migration: false });
    await work();
    expect(await state()).toEqual(['migrating', 'data_copying_completed', HERE]);
  });

  test.each([0, 1, 2, 3, 4, 5, 7])('can be given up when %i jobs are done', async (done) => {
    const { share, files, start, cancel, complete, work, state, levels } = await given();
    await start();
    for (let i = 0; i < done; i++) await world.step(share.id);
    await cancel();
    await expect(complete()).rejects.toMatchObject({ status: 400 });
    await expect(cancel()).rejects.toMatchObject({ status: 400 });
    await work(2);
    expect(await state()).toEqual(['available', 'migration_cancelled', HERE]);
    expect(await levels()).toEqual([['available', ['rw']]]);
    expect(readFileSync(join(files, 'd/file'), 'utf8')).toBe('kept');
    await start();
    await work();
    await complete();
    await work();
    expect(await state()).toEqual(['available', 'migration_success', THERE]);
  });

  test('can be given up while they are copied, which ends at once', async () => {
    const { files, start, cancel, progress, work, state, levels } = await given();
    writeFileSync(join(files, 'holes'), '');
    truncateSync(join(files, 'holes'), 200 * 2 ** 30);
    await start();
    const working = work();
    const copying = async () => (await progress()).task_state === 'data_copying_in_progress';
    for (let i = 0; i < 200 && !(await copying()); i++) await new Promise((r) => setTimeout(r, 50));
    expect(await copying()).toBe(true);
    await cancel();
    expect((await working).slice(-3)).toEqual([
      'share.migrationCancel',
      'share.migrationDiscard',
      'share.migrationRestore',
    ]);
    expect(await state()).toEqual(['available', 'migration_cancelled', HERE]);
    expect(await levels()).toEqual([['available', ['rw']]]);
  }, 60_000);

  test.each([
    ['create_share', ['share.migrationProvision']],
    ['update_access', ['share.migrationAttach']],
  ])('that can’t be prepared, at %s, are as they were', async (call, [last]) => {
    const { share, start, work, state, levels } = await given();
    await world.rebuild({ ...pools, fake_driver_failures: `${call}:once` });
    await start();
    const done = await work();
    expect(done.slice(-3)).toEqual([last, 'share.migrationDiscard', 'share.migrationRestore']);
    expect(await state()).toEqual(['available', 'migration_error', HERE]);
    expect(await levels()).toEqual([['available', ['rw']]]);
    expect(await world.messages(share.id)).toEqual([['005', '001']]);
  });

  test('whose copy fails are as they were', async () => {
    const { share, files, start, work, state, levels } = await given();
    await start();
    for (let i = 0; i < 4; i++) await world.step(share.id);
    const [, destination] = await instancesOf(world.db, share.id);
    // A directory that can't be put where a file is kept by rsync's own rules: the source isn't there to be read.
    rmSync(files, { recursive: true });
    rmSync(join(root, destination!.id), { recursive: true });
    writeFileSync(join(root, destination!.id), 'no directory');
    expect((await work()).slice(-2)).toEqual(['share.migrationDiscard', 'share.migrationRestore']);
    expect(await state()).toEqual(['available', 'migration_error', HERE]);
    expect(await levels()).toEqual([['available', ['rw']]]);
  });

  test('whose clients can’t be let in at the destination are as they were', async () => {
    const { start, complete, work, state, levels } = await given();
    await start();
    await work();
    await world.rebuild({ ...pools, fake_driver_failures: 'update_access:once' });
    await complete();
    expect(await work()).toEqual([
      'share.migrationHandOver',
      'share.migrationDiscard',
      'share.migrationRestore',
    ]);
    expect(await state()).toEqual(['available', 'migration_error', HERE]);
    expect(await levels()).toEqual([['available', ['rw']]]);
  });

  test('leave what can’t be removed visible, and are whole all the same', async () => {
    const { share, start, cancel, work, state } = await given();
    await start();
    await work();
    await world.rebuild({ ...pools, fake_driver_failures: 'delete_share:once' });
    await cancel();
    await work();
    expect(await state()).toEqual(['available', 'migration_cancelled', HERE]);
    const instances = await instancesOf(world.db, share.id);
    expect(instances.map(({ status }) => status)).toEqual(['available', 'error_deleting']);
  });

  test('whose access can’t be given back say so', async () => {
    const { share, start, cancel, work, state, rules } = await given();
    await start();
    await work();
    await world.rebuild({ ...pools, fake_driver_failures: 'update_access:always' });
    await cancel();
    await work();
    expect(await state()).toEqual(['available', 'migration_cancelled', HERE]);
    expect(await world.messages(share.id)).toEqual([['010', '001']]);
    expect(await rules()).toEqual([['rw', 'active']]);
  });

  test('with snapshots are not copied', async () => {
    const { share, owner, start, work, state } = await given();
    await snapshots.createSnapshot({ ctx: owner, path: {}, query: {}, body: { share_id: share.id } });
    await work();
    await expect(start()).rejects.toMatchObject({ status: 409 });
    expect(await state()).toEqual(['available', null, HERE]);
  });
});
