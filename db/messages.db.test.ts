import { randomUUID } from 'node:crypto';
import { startTestDatabase, type TestDatabase } from '#server/local/testing/services.ts';
import { connect, type Db } from './connection.ts';
import {
  deleteMessage,
  expireMessages,
  findMessage,
  insertMessage,
  listMessages,
  type MessageQuery,
  messageSortKeys,
} from './messages.ts';

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

const narrowest: MessageQuery = {
  projectId: null,
  equal: {},
  order: { key: 'created_at', direction: 'desc' },
  page: { limit: null, offset: 0 },
};

/** Messages of a project of their own, a second apart, the oldest first; their ids. */
async function given(projectId: string, count: number): Promise<string[]> {
  for (let i = 0; i < count; i++) {
    await insertMessage(
      db,
      {
        projectId,
        requestId: `req-${i}`,
        resourceType: 'SHARE',
        resourceId: randomUUID(),
        action: 'create',
        detail: 'unknownError',
      },
      3600,
    );
  }
  const rows = await db.rows<{
    id: string;
  }>`SELECT id FROM messages WHERE project_id = ${projectId} ORDER BY request_id`;
  for (const [i, { id }] of rows.entries()) {
    await db.run`UPDATE messages SET created_at = ${`2026-01-01T00:00:0${i}.500000`} WHERE id = ${id}`;
  }
  return rows.map(({ id }) => id);
}

test('a list is of one project or of all, newest first, and in pages', async () => {
  const [project, other] = [randomUUID(), randomUUID()];
  const ids = await given(project, 4);
  const [foreign] = await given(other, 1);
  const list = async (over: Partial<MessageQuery>) =>
    (await listMessages(db, { ...narrowest, projectId: project, ...over })).map(({ id }) => id);
  expect(await list({})).toEqual([...ids].reverse());
  expect(await list({ order: { key: 'created_at', direction: 'asc' } })).toEqual(ids);
  expect(await list({ page: { limit: 2, offset: 1 } })).toEqual([ids[2], ids[1]]);
  expect(await list({ page: { limit: 0, offset: 0 } })).toEqual([]);
  expect(await list({ page: { limit: null, offset: 3 } })).toEqual([ids[0]]);
  expect(await list({ projectId: null })).toEqual(expect.arrayContaining([...ids, foreign]));
  expect(await list({ since: '2026-01-01T00:00:01.500000' })).toEqual([ids[3], ids[2], ids[1]]);
  expect(await list({ before: '2026-01-01T00:00:01.500000' })).toEqual([ids[1], ids[0]]);
  expect(await list({ since: '2026-01-01T00:00:01.500001', before: '2026-01-01T00:00:02.500000' })).toEqual([
    ids[2],
  ]);
  expect(await list({ equal: { request_id: 'req-2' } })).toEqual([ids[2]]);
  expect(
    await list({
      equal: { action_id: '002', resource_type: 'SHARE', detail_id: '001', message_level: 'ERROR' },
    }),
  ).toHaveLength(4);
  expect(await list({ equal: { action_id: '001' } })).toEqual([]);
  for (const key of messageSortKeys) expect(await list({ order: { key, direction: 'asc' } })).toHaveLength(4);
});

test('a message that was deleted, or outlived its time, is gone', async () => {
  const project = randomUUID();
  const [first, second, third] = await given(project, 3);
  expect(await findMessage(db, first!)).toMatchObject({
    id: first,
    project_id: project,
    expires_at: expect.stringMatching(/\.000000$/),
  });
  expect(await deleteMessage(db, first!)).toBe(true);
  expect(await deleteMessage(db, first!)).toBe(false);
  expect(await findMessage(db, first!)).toBeUndefined();
  await db.run`UPDATE messages SET expires_at = UTC_TIMESTAMP() - INTERVAL 1 MINUTE WHERE id = ${second!}`;
  expect(await expireMessages(db)).toBe(1);
  expect((await listMessages(db, { ...narrowest, projectId: project })).map(({ id }) => id)).toEqual([third]);
});
