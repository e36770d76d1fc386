import { randomUUID } from 'node:crypto';
import { startTestDatabase, type TestDatabase } from '#server/local/testing/services.ts';
import { connect, type Db } from './connection.ts';
import { metadataOf, shareMetadata } from './metadata.ts';
import { insertShareMetadata } from './shares.ts';

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

test('a share is made with as much metadata as a request has room for, and others are served meanwhile', async () => {
  const id = randomUUID();
  await db.run`INSERT INTO shares (id, project_id, size, deleted) VALUES (${id}, 'p', 1, 'False')`;
  const many = Object.fromEntries(Array.from({ length: 9_000 }, (_, n) => [`k${n}`, `v${n}`]));
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 10);
  await db.transaction((tx) => insertShareMetadata(tx, id, many));
  clearInterval(timer);
  longest = Math.max(longest, performance.now() - last);
  expect(await metadataOf(db, shareMetadata, id)).toEqual(many);
  expect(longest).toBeLessThan(2_000);
});
