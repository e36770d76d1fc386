import { isUp } from '#domain/services.ts';
import { startTestDatabase, type TestDatabase } from '#server/local/testing/services.ts';
import { connect, type Db } from './connection.ts';
import { heartbeat, listServices, registerService, setServiceDisabled, shareServices } from './services.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await startTestDatabase();
  db = connect(database.address);
});
afterAll(async () => {
  await db.close();
  await database.stop();
});

test('services are listed, those that hold shares apart', async () => {
  const share = { host: 'h@alpha', binary: 'manila-share', topic: 'manila-share', zone: 'nova' };
  const id = await registerService(db, share);
  await registerService(db, { ...share, host: 'h', binary: 'manila-scheduler' });
  expect(await registerService(db, share)).toBe(id);
  expect((await listServices(db)).map(({ host, binary }) => [host, binary])).toEqual([
    ['h@alpha', 'manila-share'],
    ['h', 'manila-scheduler'],
  ]);
  expect((await shareServices(db)).map((row) => row.id)).toEqual([id]);
});

test('disabling says nothing of whether a service is up', async () => {
  const service = { host: 'h@beta', binary: 'manila-share' };
  const id = await registerService(db, { ...service, topic: 'manila-share', zone: 'nova' });
  await db.run`UPDATE services SET updated_at = UTC_TIMESTAMP(6) - INTERVAL 1 HOUR WHERE id = ${id}`;
  const now = async () => (await listServices(db)).find((row) => row.id === id)!;

  expect(await setServiceDisabled(db, service, true, 'new disks')).toBe(true);
  expect(await now()).toMatchObject({ disabled: true, disabled_reason: 'new disks' });
  expect(isUp(await now(), 60)).toBe(false);
  await heartbeat(db, [id]);
  expect(isUp(await now(), 60)).toBe(true);
  expect(await now()).toMatchObject({ disabled: true });
  expect(await setServiceDisabled(db, service, false, null)).toBe(true);
  expect(await setServiceDisabled(db, service, false, null)).toBe(true);
  expect(await now()).toMatchObject({ disabled: false, disabled_reason: null });
  expect(await setServiceDisabled(db, { ...service, binary: 'manila-data' }, true, null)).toBe(false);
});
