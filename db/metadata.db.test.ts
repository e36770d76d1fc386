import { randomUUID } from 'node:crypto';
import { startTestDatabase, type TestDatabase } from '#server/local/testing/services.ts';
import { connect, type Db } from './connection.ts';
import {
  keysAmong,
  type MetadataTable,
  mergeMetadata,
  metadataItem,
  metadataOf,
  removeMetadataItem,
  replaceMetadata,
  shareMetadata,
  snapshotMetadata,
} from './metadata.ts';

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

const share = async (): Promise<string> => {
  const id = randomUUID();
  await db.run`INSERT INTO shares (id, project_id, size, deleted) VALUES (${id}, 'p', 1, 'False')`;
  return id;
};
const snapshot = async (): Promise<string> => {
  const id = randomUUID();
  await db.run`INSERT INTO share_snapshots (id, share_id, size, deleted) VALUES (${id}, ${await share()}, 1, 'False')`;
  return id;
};

describe.each([
  ['shares', shareMetadata, share],
  ['snapshots', snapshotMetadata, snapshot],
] as [string, MetadataTable, () => Promise<string>][])('metadata of %s', (_name, table, make) => {
  const given = async (pairs: Record<string, string>): Promise<string> => {
    const id = await make();
    await db.transaction((tx) => mergeMetadata(tx, table, id, pairs));
    return id;
  };
  const now = (id: string) => metadataOf(db, table, id);

  test('may have as many pairs as fit into a request', async () => {
    const many = Object.fromEntries(Array.from({ length: 8_000 }, (_, n) => [`k${n}`, 'v']));
    const started = performance.now();
    const id = await given(many);
    await db.transaction((tx) => mergeMetadata(tx, table, id, { ...many, k7: 'w' }));
    await db.transaction((tx) => replaceMetadata(tx, table, id, { ...many, k8: 'x' }));
    expect(performance.now() - started).toBeLessThan(15_000);
    const { k7, k8, ...rest } = await now(id);
    expect([k7, k8, Object.keys(rest).length]).toEqual(['v', 'x', 7_998]);
  });

  test('is merged pair by pair, in the order it came', async () => {
    const id = await given({ z: '1', a: '2', 'ü /:': 'ß "quoted" \\ \n' });
    expect(Object.entries(await now(id))).toEqual([
      ['z', '1'],
      ['a', '2'],
      ['ü /:', 'ß "quoted" \\ \n'],
    ]);
    await db.transaction((tx) => mergeMetadata(tx, table, id, { a: '3', b: '4' }));
    await db.transaction((tx) => mergeMetadata(tx, table, id, {}));
    expect(await now(id)).toEqual({ z: '1', a: '3', b: '4', 'ü /:': 'ß "quoted" \\ \n' });
  });

  test('knows a key in any case and keeps its first spelling', async () => {
    const id = await given({ Colour: 'red' });
    await db.transaction((tx) => mergeMetadata(tx, table, id, { COLOUR: 'blue', new: '1', NEW: '2' }));
    const pairs = await now(id);
    expect(pairs.Colour).toBe('blue');
    expect(Object.keys(pairs)).toHaveLength(2);
    expect(await metadataItem(db, table, id, 'colour')).toEqual({ key: 'Colour', value: 'blue' });
    expect(await metadataItem(db, table, id, 'shade')).toBeUndefined();
  });

  test('is replaced, all but what is kept', async () => {
    const id = await given({ a: '1', b: '2', held: 'h' });
    await db.transaction((tx) => replaceMetadata(tx, table, id, { b: '3', c: '4' }, ['held', 'absent']));
    expect(await now(id)).toEqual({ b: '3', held: 'h', c: '4' });
    await db.transaction((tx) => replaceMetadata(tx, table, id, {}, ['held']));
    expect(await now(id)).toEqual({ held: 'h' });
    await db.transaction((tx) => replaceMetadata(tx, table, id, {}));
    expect(await now(id)).toEqual({});
  });

  test('loses one pair at a time, and takes it again', async () => {
    const id = await given({ a: '1', b: '2' });
    expect(await db.transaction((tx) => removeMetadataItem(tx, table, id, 'A'))).toBe(true);
    expect(await db.transaction((tx) => removeMetadataItem(tx, table, id, 'a'))).toBe(false);
    await db.transaction((tx) => mergeMetadata(tx, table, id, { a: 'again' }));
    expect(await now(id)).toEqual({ b: '2', a: 'again' });
  });

  test('takes texts as long as the columns are, and thousands of pairs', async () => {
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`k${i}`, `v${i}`]));
    const id = await given({ ['k'.repeat(255)]: 'v'.repeat(1023), ...many });
    const pairs = await now(id);
    expect(pairs['k'.repeat(255)]).toHaveLength(1023);
    expect(Object.keys(pairs)).toHaveLength(3001);
  });
});

test('reserved keys are found in any spelling that the database takes for the same', async () => {
  const reserved = ['__affinity_same_host', 'other'];
  expect(await keysAmong(db, ['a', '__AFFINITY_same_host', '__affinity_sáme_host'], reserved)).toEqual([
    '__AFFINITY_same_host',
    '__affinity_sáme_host',
  ]);
  expect(await keysAmong(db, [], reserved)).toEqual([]);
});
