import { randomUUID } from 'node:crypto';
import { registerService } from '#db/services.ts';
import { findShare } from '#db/shares.ts';
import { insertShareType } from '#db/shareTypes.ts';
import { findSnapshot } from '#db/snapshots.ts';
import { HOST, startWorld, type World } from '#server/local/testing/world.ts';
import { exportLocations } from './exportLocations.ts';
import { managing } from './managing.ts';
import { snapshots } from './snapshots.ts';

let world: World;
let typeId: string;
let serverType: string;
beforeAll(async () => {
  world = await startWorld();
  [typeId, serverType] = [await type('False'), await type('True')];
});
afterAll(() => world.close());
afterEach(() => world.rebuild());

async function type(servers: string): Promise<string> {
  const id = randomUUID();
  await world.db.transaction((tx) =>
    insertShareType(tx, {
      id,
      name: `type ${servers}`,
      description: null,
      isPublic: true,
      specs: { driver_handles_share_servers: servers, snapshot_support: 'True' },
    }),
  );
  return id;
}

const POOL = `${HOST}#pool`;
const admin = (projectId: string = randomUUID(), version?: number) =>
  world.caller({ projectId, roles: ['admin', 'member', 'reader'], ...(version ? { version } : {}) });
/** a path that the fake back end knows as one of its own */
const somePath = () => `10.0.0.10:/path/to/fake/share/share_${randomUUID().replaceAll('-', '_')}`;
const someLocation = () => `/path/to/fake/snapshot/snapshot_${randomUUID().replaceAll('-', '_')}`;

type Body = Parameters<typeof managing.manageShare>[0]['body'];
const wanted = (over: Body = {}): Body => ({
  service_host: POOL,
  export_path: somePath(),
  protocol: 'nfs',
  share_type: typeId,
  driver_options: {},
  ...over,
});
const manage = (over: Body = {}, ctx = admin()) =>
  managing.manageShare({ ctx, path: {}, query: {}, body: wanted(over) }).then(({ share }) => share);
const unmanage = (id: string, ctx = admin()) =>
  managing.unmanageShare({ ctx, path: { id }, query: {}, body: null as never });
const manageSnapshot = (body: Parameters<typeof managing.manageSnapshot>[0]['body'], ctx = admin()) =>
  managing.manageSnapshot({ ctx, path: {}, query: {}, body }).then(({ snapshot }) => snapshot);
const unmanageSnapshot = (id: string, ctx = admin()) =>
  managing.unmanageSnapshot({ ctx, path: { id }, query: {}, body: null as never });
const setStatus = (id: string, status: string) =>
  world.db.run`UPDATE share_instances SET status = ${status} WHERE share_id = ${id}`;

describe('a share that the back end has', () => {
  test('comes under management: size, place, zone and time are told, and it counts once', async () => {
    const ctx = admin();
    const { id, ...begun } = await manage({ name: 'found', is_public: true }, ctx);
    expect(begun).toMatchObject({
      status: 'manage_starting',
      size: null,
      share_proto: 'NFS',
      host: POOL,
      snapshot_support: true,
      is_public: true,
    });
    expect(await world.work(id, 2)).toEqual(['share.manage']);
    expect(await findShare(world.db, id)).toMatchObject({
      status: 'available',
      size: 1,
      availability_zone: 'nova',
      progress: null,
      metadata: { __managed_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}$/) },
    });
    const request = { ctx, path: { share_id: id }, query: {}, body: null as never };
    const { export_locations: found } = await exportLocations.listShareExportLocations(request);
    // also of the one that was told, and kept
    expect(found.map(({ preferred }) => preferred)).toEqual([true, false, false]);
    expect(await world.usage(ctx.projectId)).toMatchObject({ shares: [1, 0], gigabytes: [1, 0] });
  });

  test('that it doesn’t know ends in manage_error with a message; such a one can be let go', async () => {
    const ctx = admin();
    const { id } = await manage({ export_path: '10.0.0.10:/elsewhere' }, ctx);
    await world.work(id);
    expect(await findShare(world.db, id)).toMatchObject({ status: 'manage_error', size: 0 });
    expect(await world.messages(id)).toEqual([['002', '001']]);
    expect(await world.usage(ctx.projectId)).toMatchObject({ shares: [1, 0], gigabytes: [0, 0] });
    await unmanage(id, ctx);
    await world.work(id, 2);
    expect(await findShare(world.db, id)).toBeUndefined();
    expect(await world.usage(ctx.projectId)).toMatchObject({ shares: [0, 0], gigabytes: [0, 0] });
  });

  test('that is more than the quota admits ends in manage_error', async () => {
    const ctx = admin();
    await world.setQuota(ctx.projectId, 'gigabytes', 0);
    const { id } = await manage({}, ctx);
    await world.work(id);
    expect(await findShare(world.db, id)).toMatchObject({ status: 'manage_error', size: 0 });
    expect(await world.usage(ctx.projectId)).toMatchObject({ shares: [1, 0], gigabytes: [0, 0] });
  });

  test('is asked of a back end only once for each path', async () => {
    const export_path = somePath();
    const both = await Promise.allSettled([manage({ export_path }), manage({ export_path })]);
    expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(manage({ export_path })).rejects.toMatchObject({ status: 409 });
  });

  test.each<[string, Body, number]>([
    ['no protocol', { protocol: undefined }, 422],
    ['an empty path', { export_path: '' }, 422],
    ['a path that is no text', { export_path: 5 }, 422],
    ['no host', { service_host: null }, 422],
    ['a host without pool', { service_host: HOST }, 400],
    ['an unknown service', { service_host: 'nowhere@fake#pool' }, 404],
    ['an unknown type', { share_type: randomUUID() }, 404],
    ['no type, when there is no default', { share_type: null }, 404],
    ['driver options that are no texts', { driver_options: { a: [1] } }, 400],
    ['a share server where the type takes none', { share_server_id: randomUUID() }, 400],
    ['is_public that is no boolean', { is_public: 'perhaps' as never }, 400],
  ])('%s is refused', async (_what, over, status) => {
    await expect(manage(over)).rejects.toMatchObject({ status });
  });

  test('on a share server must say which, and it must be there', async () => {
    await expect(manage({ share_type: serverType })).rejects.toMatchObject({ status: 400 });
    const body = { share_type: serverType, share_server_id: randomUUID() };
    await expect(manage(body)).rejects.toMatchObject({ status: 400 });
  });

  test('of a service that is down is refused', async () => {
    const host = 'sleepy@fake';
    const at = { host, binary: 'manila-share', topic: 'manila-share', zone: 'here' };
    await registerService(world.db, at);
    await world.db.run`UPDATE services SET updated_at = '2020-01-01' WHERE host = ${host}`;
    await expect(manage({ service_host: `${host}#pool` })).rejects.toMatchObject({ status: 400 });
  });
});

describe('letting a share go', () => {
  test('forgets it, leaves its data, and gives back its quota once', async () => {
    const share = await world.share();
    await world.rebuild({ fake_driver_failures: 'delete_share:always,update_access:always' });
    await unmanage(share.id);
    expect(await findShare(world.db, share.id)).toMatchObject({ status: 'unmanage_starting' });
    await expect(unmanage(share.id)).rejects.toMatchObject({ status: 403 });
    expect(await world.work(share.id, 2)).toEqual(['share.unmanage']);
    expect(await findShare(world.db, share.id)).toBeUndefined();
    expect(await world.usage(share.projectId)).toMatchObject({ shares: [0, 0], gigabytes: [0, 0] });
  });

  test('shuts its clients out first where the operators want that', async () => {
    const share = await world.share();
    world.backendOptions.unmanage_remove_access_rules = true;
    await world.rebuild({ fake_driver_failures: 'update_access:once' });
    await unmanage(share.id);
    await world.work(share.id);
    expect(await findShare(world.db, share.id)).toMatchObject({ status: 'unmanage_error' });
    expect(await world.messages(share.id)).toEqual([['007', '001']]);
    await unmanage(share.id);
    await world.work(share.id);
    world.backendOptions.unmanage_remove_access_rules = false;
    expect(await findShare(world.db, share.id)).toBeUndefined();
  });

  test('works at the old path too', async () => {
    const share = await world.share();
    const request = { ctx: admin(undefined, 6), path: { id: share.id }, query: {}, body: null as never };
    await managing.unmanageShareByPath(request);
    await world.work(share.id);
    expect(await findShare(world.db, share.id)).toBeUndefined();
  });

  test('is refused while something hangs on it or is going on with it', async () => {
    const share = await world.share();
    const refused = (status: number, ctx = admin()) =>
      expect(unmanage(share.id, ctx)).rejects.toMatchObject({ status });
    await refused(403, world.caller({ projectId: share.projectId }));
    await refused(404, world.caller());
    for (const status of ['creating', 'migrating', 'manage_starting', 'awaiting_transfer']) {
      await setStatus(share.id, status);
      await refused(403);
    }
    await setStatus(share.id, 'available');
    await world.db.run`UPDATE shares SET task_state = 'migration_in_progress' WHERE id = ${share.id}`;
    await refused(400);
    await world.db.run`UPDATE shares SET task_state = NULL, is_soft_deleted = 1 WHERE id = ${share.id}`;
    await refused(403);
    await world.db.run`UPDATE shares SET is_soft_deleted = 0 WHERE id = ${share.id}`;
    const body = { share_id: share.id };
    await snapshots.createSnapshot({ ctx: admin(share.projectId), body, path: {}, query: {} });
    await refused(403);
    await expect(unmanage(randomUUID())).rejects.toMatchObject({ status: 404 });
  });
});

describe('a snapshot that the back end has', () => {
  test('comes under management, counts once, and is let go', async () => {
    const ctx = admin();
    const share = await world.share({ size: 3 });
    const location = someLocation();
    const given = { share_id: share.id, provider_location: location, name: 'found', metadata: { a: 'b' } };
    const { id, ...begun } = await manageSnapshot(given, ctx);
    expect(begun).toMatchObject({ status: 'manage_starting', size: null, share_size: 3, name: 'found' });
    await expect(manageSnapshot(given, ctx)).rejects.toMatchObject({ status: 409 });
    expect(await world.usage(ctx.projectId)).toMatchObject({ snapshots: [1, 0], snapshot_gigabytes: [3, 0] });
    expect(await world.work(share.id, 2)).toEqual(['snapshot.manage']);
    expect(await findSnapshot(world.db, id)).toMatchObject({
      status: 'available',
      size: 1,
      provider_location: location,
      metadata: { a: 'b', __managed_at: expect.any(String) },
    });
    expect(await world.usage(ctx.projectId)).toMatchObject({ snapshots: [1, 0], snapshot_gigabytes: [1, 0] });
    await world.rebuild({ fake_driver_failures: 'delete_snapshot:always' });
    await unmanageSnapshot(id, ctx);
    expect(await world.work(share.id, 2)).toEqual(['snapshot.unmanage']);
    expect(await findSnapshot(world.db, id)).toBeUndefined();
    expect(await world.usage(ctx.projectId)).toMatchObject({ snapshots: [0, 0], snapshot_gigabytes: [0, 0] });
  });

  test('that it doesn’t know, or that the quota doesn’t admit, ends in manage_error as large as its share', async () => {
    const ctx = admin();
    const share = await world.share({ size: 2 });
    const unknown = await manageSnapshot({ share_id: share.id, provider_location: '/none' }, ctx);
    await world.work(share.id);
    expect(await findSnapshot(world.db, unknown.id)).toMatchObject({ status: 'manage_error', size: 2 });
    expect(await world.messages(unknown.id)).toEqual([['002', '001']]);
    await world.setQuota(ctx.projectId, 'snapshots', 1);
    const beyond = await manageSnapshot({ share_id: share.id, provider_location: someLocation() }, ctx);
    await world.work(share.id);
    expect(await findSnapshot(world.db, beyond.id)).toMatchObject({ status: 'manage_error' });
    for (const { id } of [unknown, beyond]) await unmanageSnapshot(id, ctx);
    await world.work(share.id);
    expect(await world.usage(ctx.projectId)).toMatchObject({ snapshots: [0, 0], snapshot_gigabytes: [0, 0] });
  });

  test('can’t be let go when the back end fails, but later', async () => {
    const ctx = admin();
    const share = await world.share();
    const { id } = await manageSnapshot({ share_id: share.id, provider_location: someLocation() }, ctx);
    await world.work(share.id);
    await world.rebuild({ fake_driver_failures: 'unmanage_snapshot:once' });
    await unmanageSnapshot(id, ctx);
    await expect(unmanageSnapshot(id, ctx)).rejects.toMatchObject({ status: 403 });
    await world.work(share.id);
    expect(await findSnapshot(world.db, id)).toMatchObject({ status: 'unmanage_error' });
    await unmanageSnapshot(id, ctx);
    await world.work(share.id);
    expect(await findSnapshot(world.db, id)).toBeUndefined();
  });

  test('requests that make no sense are refused', async () => {
    const share = await world.share();
    const refused = (body: object, status: number, ctx = admin()) =>
      expect(manageSnapshot(body, ctx)).rejects.toMatchObject({ status });
    const fine = { share_id: share.id, provider_location: someLocation() };
    await refused({ ...fine, share_id: 5 }, 422);
    await refused({ ...fine, provider_location: '' }, 422);
    await refused({ share_id: share.id }, 422);
    await refused({ ...fine, share_id: randomUUID() }, 404);
    await refused({ ...fine, driver_options: { a: {} } }, 400);
    await refused(fine, 403, world.caller({ projectId: share.projectId }));
    await refused(fine, 404, world.caller());
    await expect(unmanageSnapshot(randomUUID())).rejects.toMatchObject({ status: 404 });
    await world.db.run`UPDATE shares SET is_soft_deleted = 1 WHERE id = ${share.id}`;
    await refused(fine, 403);
  });
});
