import { Redis } from 'ioredis';
import { connect } from '#db/connection.ts';
import { requireCurrentSchema } from '#db/sync.ts';
import { startTestDatabase, startTestRedis } from './services.ts';

test('every test database has the schema and is its own', async () => {
  const [first, second, empty] = await Promise.all([
    startTestDatabase(),
    startTestDatabase(),
    startTestDatabase({ empty: true }),
  ]);
  await requireCurrentSchema(first.address);
  const db = connect(first.address);
  await db.run`INSERT INTO quota_classes (class_name, resource, hard_limit) VALUES ('default', 'shares', 7)`;
  await db.close();
  const other = connect(second.address);
  expect(await other.rows`SELECT * FROM quota_classes`).toEqual([]);
  await other.close();
  await expect(requireCurrentSchema(empty.address)).rejects.toThrow('no schema');
  await Promise.all([first.stop(), second.stop(), empty.stop()]);
  const gone = connect(first.address);
  await expect(gone.rows`SELECT 1`).rejects.toThrow(/unknown database|ECONNREFUSED/i);
  await gone.close();
});

test('every test Redis is empty and its own', async () => {
  const [first, second] = await Promise.all([startTestRedis(), startTestRedis()]);
  const one = new Redis(first.url);
  await one.set('fish', 'herring');
  const two = new Redis(second.url);
  expect(await two.keys('*')).toEqual([]);
  one.disconnect();
  two.disconnect();
  await Promise.all([first.stop(), second.stop()]);
});
