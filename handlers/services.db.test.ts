import { HOST, startWorld, type World } from '#server/local/testing/world.ts';
import { services } from './services.ts';
import { shares } from './shares.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
afterEach(() => world.rebuild());

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };
const admin = () => world.caller({ roles: ['admin', 'member', 'reader'] });
const ensure = (host = HOST) => services.ensureShares({ ...none, ctx: admin(), body: { host } });
const service = async () =>
  (await services.listServices({ ...none, ctx: admin(), query: { host: HOST } })).services[0]!;
const work = async () => world.work(`service-${(await service()).id}`);
const status = async (id: string) =>
  (await shares.getShare({ ...none, ctx: admin(), path: { id } })).share.status;

test('a back end renews the exports of its shares, and says that it is at it until all are done', async () => {
  const [one, two] = [await world.share(), await world.share()];
  const gone = await world.share({ status: 'deleting' });
  await ensure();
  expect(await service()).toMatchObject({ ensuring: true });
  await expect(ensure()).rejects.toMatchObject({ status: 409 });
  expect(await work()).toEqual(['service.ensure']);
  expect(await world.work(gone.id)).toEqual([]);
  expect(await world.work(one.id, 3)).toEqual(['share.ensure']);
  expect(await service()).toMatchObject({ ensuring: true });
  expect(await world.work(two.id)).toEqual(['share.ensure']);
  expect(await service()).toMatchObject({ ensuring: false });
  const found = await world.db.rows`
    SELECT path FROM share_instance_export_locations WHERE share_instance_id = ${one.instanceId} AND deleted = 0`;
  expect(found.length).toBeGreaterThan(0);
  expect(await status(one.id)).toBe('available');
  await world.db.run`UPDATE share_instances SET deleted = id`;
});

test('a back end without shares is done at once', async () => {
  await ensure();
  await work();
  expect(await service()).toMatchObject({ ensuring: false });
});

test('a share that can’t be ensured is in error, with a message; one that is busy or gone changes nothing', async () => {
  const [bad, busy, gone] = [await world.share(), await world.share(), await world.share()];
  await ensure();
  await work();
  await world.db.run`UPDATE share_instances SET status = 'extending' WHERE share_id = ${busy.id}`;
  await world.db.run`UPDATE share_instances SET deleted = id WHERE share_id = ${gone.id}`;
  await world.rebuild({ fake_driver_failures: 'ensure_share:always' });
  await world.work(bad.id);
  expect(await status(bad.id)).toBe('error');
  expect(await world.messages(bad.id)).toEqual([['005', '001']]);
  await world.work(busy.id);
  expect(await status(busy.id)).toBe('extending');
  await world.work(gone.id);
  expect(await service()).toMatchObject({ ensuring: false });
});

test('shares of a host that isn’t known, or that is down, are not ensured', async () => {
  await expect(ensure('nope@fake')).rejects.toMatchObject({ status: 404 });
  await expect(ensure(`${HOST}#pool`)).rejects.toMatchObject({ status: 404 });
  await world.db.run`UPDATE services SET updated_at = UTC_TIMESTAMP() - INTERVAL 3 DAY WHERE host = ${HOST}`;
  await expect(ensure()).rejects.toMatchObject({ status: 409 });
  expect(await service()).toMatchObject({ ensuring: false, state: 'down' });
});
