import { startTestDatabase, type TestDatabase } from '#server/local/testing/services.ts';
import { connect, type Db } from './connection.ts';
import { int } from './sql.ts';

let database: TestDatabase;
let db: Db;
/** Looks at the server from beside. */
let watcher: Db;
beforeAll(async () => {
  database = await startTestDatabase();
  db = connect({ ...database.address, poolSize: 1 });
  watcher = connect({ ...database.address, poolSize: 1 });
});
afterAll(async () => {
  await Promise.all([db.close(), watcher.close()]);
  await database.stop();
});

async function prepared(): Promise<number> {
  const row = await watcher.row<{ Value: string }>`SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'`;
  return Number(row!.Value);
}

test('statements that differ in their texts do not pile up on the server', async () => {
  const before = await prepared();
  for (let offset = 1; offset <= 500; offset++) {
    const page = await db.rows`SELECT id FROM shares ORDER BY id LIMIT 1 OFFSET ${int(offset)}`;
    expect(page).toEqual([]);
  }
  expect((await prepared()) - before).toBeLessThan(200);
});

test('a statement that had to make room is prepared again', async () => {
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 150; n++) {
      expect(await db.row`SELECT ${int(n)} AS n, ${`text ${n}`} AS t`).toEqual({ n, t: `text ${n}` });
    }
  }
});
