import { randomUUID } from 'node:crypto';
import { startTestDatabase, type TestDatabase } from '#server/local/testing/services.ts';
import { connect, type Db } from './connection.ts';
import {
  addTypeProject,
  findShareType,
  findShareTypeByNameOrId,
  insertShareType,
  isShareTypeUsed,
  listShareTypes,
  listTypeProjects,
  lockShareType,
  type NewShareType,
  putSpecs,
  removeShareType,
  removeSpecs,
  removeTypeProject,
  updateShareType,
} from './shareTypes.ts';

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

async function given(over: Partial<NewShareType> = {}): Promise<NewShareType> {
  const type = {
    id: randomUUID(),
    name: randomUUID(),
    description: null,
    isPublic: true,
    specs: {},
    ...over,
  };
  expect(await db.transaction((tx) => insertShareType(tx, type))).toBe(true);
  return type;
}
const insert = (type: NewShareType) => db.transaction((tx) => insertShareType(tx, type));

test('a type is found as it was written, by id and by name', async () => {
  const specs = { driver_handles_share_servers: 'False', 'a:b': "it's", none: null };
  const { id, name } = await given({ specs, description: 'd' });
  const found = await findShareType(db, id, null);
  expect(found).toMatchObject({ id, name, description: 'd', is_public: true, extra_specs: specs });
  expect(await findShareTypeByNameOrId(db, name, null)).toEqual(found);
  expect(await findShareTypeByNameOrId(db, id, 'any')).toEqual(found);
  expect(await findShareType(db, name, null)).toBeUndefined();
});

test('of a type named like the id of another, the id wins', async () => {
  const first = await given();
  await given({ name: first.id });
  expect(await findShareTypeByNameOrId(db, first.id, null)).toMatchObject({ name: first.name });
});

test('a name is given once, whoever else asks at the same time', async () => {
  const name = randomUUID();
  const made = await Promise.all(
    Array.from({ length: 8 }, () =>
      insert({ id: randomUUID(), name, description: null, isPublic: true, specs: { a: 'b' } }),
    ),
  );
  expect(made.filter(Boolean)).toHaveLength(1);
  const other = await given();
  const rename = (to: string) => db.transaction((tx) => updateShareType(tx, other.id, { name: to }));
  expect(await rename(name)).toBe(false);
  expect(await findShareType(db, other.id, null)).toMatchObject({ name: other.name });
  expect(await rename(other.name)).toBe(true);
});

test('only what is said changes', async () => {
  const { id, name } = await given({ description: 'before' });
  await db.transaction((tx) => updateShareType(tx, id, { isPublic: false }));
  expect(await findShareType(db, id, null)).toMatchObject({ name, description: 'before', is_public: false });
  await db.transaction((tx) => updateShareType(tx, id, { description: null }));
  expect(await findShareType(db, id, null)).toMatchObject({ name, description: null, is_public: false });
});

test('a type that is not public is there for its projects only', async () => {
  const { id } = await given({ isPublic: false });
  const project = randomUUID();
  const add = () => db.transaction((tx) => addTypeProject(tx, id, project));
  const ids = async (scope: Parameters<typeof listShareTypes>[1]) =>
    (await listShareTypes(db, scope)).map((type) => type.id);
  expect(await findShareType(db, id, project)).toBeUndefined();
  expect(await ids({ usableBy: project })).not.toContain(id);
  expect(await ids('private')).toContain(id);
  expect(await ids('all')).toContain(id);

  expect(await add()).toBe(true);
  expect(await add()).toBe(false);
  expect(await listTypeProjects(db, id)).toEqual([{ share_type_id: id, project_id: project }]);
  expect(await findShareType(db, id, project)).toMatchObject({ id });
  expect(await ids({ usableBy: project })).toContain(id);
  expect(await ids({ usableBy: randomUUID() })).not.toContain(id);

  const remove = () => db.transaction((tx) => removeTypeProject(tx, id, project));
  expect(await remove()).toBe(true);
  expect(await remove()).toBe(false);
  expect(await findShareType(db, id, project)).toBeUndefined();
  expect(await add()).toBe(true);
});

test('specs are set, replaced and removed one by one', async () => {
  const { id } = await given({ specs: { a: '1', b: '2' } });
  const specs = async () => (await findShareType(db, id, null))!.extra_specs;
  await db.transaction((tx) => putSpecs(tx, id, { b: '3', c: '4' }));
  await db.transaction((tx) => putSpecs(tx, id, {}));
  expect(await specs()).toEqual({ a: '1', b: '3', c: '4' });
  expect(await db.transaction((tx) => removeSpecs(tx, id, ['b']))).toBe(1);
  expect(await db.transaction((tx) => removeSpecs(tx, id, ['b']))).toBe(0);
  expect(await specs()).toEqual({ a: '1', c: '4' });
});

test('a type is used while an instance has it, and by share group types', async () => {
  const { id } = await given();
  expect(await isShareTypeUsed(db, id)).toBe(false);
  const [share, instance] = [randomUUID(), randomUUID()];
  await db.run`INSERT INTO shares (id, project_id, size, deleted) VALUES (${share}, 'p', 1, 'False')`;
  await db.run`INSERT INTO share_instances (id, share_id, share_type_id, deleted, cast_rules_to_readonly) VALUES (${instance}, ${share}, ${id}, 'False', 0)`;
  expect(await isShareTypeUsed(db, id)).toBe(true);
  await db.run`UPDATE share_instances SET deleted = id WHERE id = ${instance}`;
  expect(await isShareTypeUsed(db, id)).toBe(false);
  const groupType = randomUUID();
  await db.run`INSERT INTO share_group_types (id, name, is_public, deleted) VALUES (${groupType}, ${groupType}, 1, 'False')`;
  await db.run`
    INSERT INTO share_group_type_share_type_mappings (id, share_group_type_id, share_type_id, deleted)
    VALUES (${randomUUID()}, ${groupType}, ${id}, 'False')`;
  expect(await isShareTypeUsed(db, id)).toBe(true);
});

test('what hangs on a type goes with it, and its name is free again', async () => {
  const type = await given({ isPublic: false, specs: { a: '1' } });
  const project = randomUUID();
  await db.transaction((tx) => addTypeProject(tx, type.id, project));
  await db.run`
    INSERT INTO project_share_type_quotas (project_id, share_type_id, resource, hard_limit, deleted)
    VALUES (${project}, ${type.id}, 'shares', 5, 0)`;
  await db.transaction((tx) => removeShareType(tx, type.id));
  expect(await findShareType(db, type.id, null)).toBeUndefined();
  expect(await db.transaction((tx) => lockShareType(tx, type.id))).toBe(false);
  expect(await listTypeProjects(db, type.id)).toEqual([]);
  const left = await db.row<{ n: number }>`
    SELECT (SELECT COUNT(*) FROM share_type_extra_specs WHERE share_type_id = ${type.id} AND deleted = 0)
      + (SELECT COUNT(*) FROM project_share_type_quotas WHERE share_type_id = ${type.id} AND deleted = 0) AS n`;
  expect(left!.n).toBe(0);
  await given({ name: type.name });
});
