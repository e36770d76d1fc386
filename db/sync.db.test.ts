import { startTestDatabase, type TestDatabase } from '../server/local/testing/services.ts';
import { connect } from './connection.ts';
import { requireCurrentSchema, SchemaError, schemaState, sync } from './sync.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await startTestDatabase({ empty: true });
});
afterEach(() => database.stop());

async function run(statement: string): Promise<void> {
  const db = connect(database.address);
  await db.query({ text: statement, values: [] } as never);
  await db.close();
}

test('an empty database is refused with the command to run, which makes it fit', async () => {
  await expect(requireCurrentSchema(database.address)).rejects.toThrow(/shoal-manage db sync/);
  expect(await sync(database.address)).toEqual(['0001-baseline', '0002-outbox', '0003-project-indexes']);
  await expect(requireCurrentSchema(database.address)).resolves.toBeUndefined();
  expect(await sync(database.address)).toEqual([]);
  expect(await schemaState(database.address)).toMatchObject({ revision: 'afc3b5e1f406' });
});

test('a database that Manila itself migrated is taken over, its rows kept', async () => {
  await sync(database.address);
  await run('DROP TABLE shoal_outbox');
  await run('DROP TABLE shoal_migrations');
  await run("INSERT INTO share_types (id, name, deleted) VALUES ('t', 'kept', 'False')");
  await expect(requireCurrentSchema(database.address)).rejects.toThrow(SchemaError);
  await sync(database.address);
  const db = connect(database.address);
  expect(await db.rows`SELECT name FROM share_types`).toEqual([{ name: 'kept' }]);
  await db.close();
});

test('a database of another revision is refused, and left as it is', async () => {
  await sync(database.address);
  await run("UPDATE alembic_version SET version_num = '0123456789ab'");
  await expect(requireCurrentSchema(database.address)).rejects.toThrow(/0123456789ab.*afc3b5e1f406/);
  await expect(sync(database.address)).rejects.toThrow(/manila-manage db sync/);
});

test('a database of a newer release is refused', async () => {
  await sync(database.address);
  await run("INSERT INTO shoal_migrations (name, batch) VALUES ('9999-later', 9)");
  await expect(requireCurrentSchema(database.address)).rejects.toThrow(/newer release.*9999-later/);
});

test('a sync that was cut short is gone on with', async () => {
  await run('CREATE TABLE alembic_version (version_num varchar(32) NOT NULL, PRIMARY KEY (version_num))');
  await run('CREATE TABLE async_operation_data (entity_uuid varchar(36) NOT NULL)');
  await sync(database.address);
  await expect(requireCurrentSchema(database.address)).resolves.toBeUndefined();
});
