import { once } from 'node:events';
import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
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

test('characters that the schema has no room for are refused where they would be written, and found nowhere', async () => {
  const write = (name: string) =>
    db.run`INSERT INTO shares (id, deleted, display_name) VALUES (UUID(), 'False', ${name})`;
  for (const name of ['a😀', '𝒳', '\ud83d'])
    await expect(write(name)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('Plane'),
    });
  await write('é€﹏ﾟ');
  const [first, none] = ['é€﹏ﾟ', 'a😀'];
  expect(await db.rows`SELECT display_name FROM shares WHERE display_name = ${first}`).toHaveLength(1);
  expect(await db.rows`SELECT display_name FROM shares WHERE display_name = ${none}`).toEqual([]);
});

/** The database behind a wire that can be made to carry nothing. */
async function wire(): Promise<{ port: number; freeze(): void; close(): void }> {
  const ends: Socket[] = [];
  const server = createServer((near) => {
    const far = dial(database.address.port, database.address.host);
    near.pipe(far).pipe(near);
    for (const end of [near, far]) {
      end.on('error', () => end.destroy());
      ends.push(end);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const frozen: Socket[] = [];
  return {
    port: (server.address() as AddressInfo).port,
    freeze() {
      for (const end of ends.splice(0)) frozen.push(end.unpipe().pause());
    },
    close() {
      server.close();
      for (const end of [...ends, ...frozen]) end.destroy();
    },
  };
}

describe('a database that gives no answer', () => {
  test.each([
    ['a statement that is prepared already', 1],
    ['a new statement', 2],
  ])('ends %s at its deadline, and the next one has a connection that works', async (_what, second) => {
    const { port, freeze, close } = await wire();
    const there = connect({ ...database.address, port, poolSize: 1, deadlineMs: 300 });
    const ask = (n: number) => there.row`SELECT ${int(n)} AS n`;
    await ask(1);
    freeze();
    const waiting = [ask(second), ask(3)];
    await expect(waiting[0]).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(await waiting[1]).toEqual({ n: 3 });
    await there.close();
    close();
  });

  test('ends a transaction, and gives its connection back', async () => {
    const { port, freeze, close } = await wire();
    const there = connect({ ...database.address, port, poolSize: 1, deadlineMs: 300 });
    const stuck = there.transaction(async (tx) => {
      await tx.row`SELECT 1 AS n`;
      freeze();
      await tx.row`SELECT 2 AS n`;
    });
    await expect(stuck).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect(await there.transaction((tx) => tx.row`SELECT 4 AS n`)).toEqual({ n: 4 });
    await there.close();
    close();
  });
});
