/** Brings a database to the schema of this release, or says what stands in the way. */
import knex, { type Knex } from 'knex';
import type { DatabaseAddress } from './connection.ts';
import { BASELINE_REVISION, type Migration, migrations } from './migrations/index.ts';

const BOOKS = 'shoal_migrations';

/** A database that this release can't serve; the message says what to do. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';
}

/** Runs the migrations that are missing, one process at a time; answers the names of those it ran. */
export async function sync(address: DatabaseAddress): Promise<string[]> {
  return withKnex(address, async (books) => {
    const found = await revision(books);
    if (found !== null && found !== BASELINE_REVISION) throw otherRevision(found);
    const [, ran] = (await books.migrate.latest({
      tableName: BOOKS,
      disableTransactions: true,
      migrationSource: {
        getMigrations: async () => [...migrations],
        getMigrationName: (migration: Migration) => migration.name,
        getMigration: async (migration: Migration) => ({ up: migration.up, down: async () => {} }),
      },
    } satisfies Knex.MigratorConfig)) as [number, string[]];
    return ran;
  });
}

export interface SchemaState {
  revision: string | null;
  migrations: string[];
}

/** Where the database stands: Manila's revision and Shoal's migrations. */
export async function schemaState(address: DatabaseAddress): Promise<SchemaState> {
  return withKnex(address, async (books) => ({
    revision: await revision(books),
    migrations: (await books.schema.hasTable(BOOKS))
      ? ((await books(BOOKS).orderBy('id').pluck('name')) as string[])
      : [],
  }));
}

/** Throws SchemaError unless the database is at exactly this release's schema. */
export async function requireCurrentSchema(address: DatabaseAddress): Promise<void> {
  const state = await schemaState(address);
  if (state.revision === null)
    throw new SchemaError('The database has no schema yet. Run: shoal-manage db sync');
  if (state.revision !== BASELINE_REVISION) throw otherRevision(state.revision);
  const missing = migrations.map(({ name }) => name).filter((name) => !state.migrations.includes(name));
  if (missing.length > 0)
    throw new SchemaError(`The database lacks ${missing.join(', ')}. Run: shoal-manage db sync`);
  const unknown = state.migrations.filter((name) => !migrations.some((migration) => migration.name === name));
  if (unknown.length > 0)
    throw new SchemaError(
      `The database was migrated by a newer release (${unknown.join(', ')}). Install that release, or restore the database from before.`,
    );
}

function otherRevision(found: string): SchemaError {
  return new SchemaError(
    `The database is at revision ${found}; this release serves ${BASELINE_REVISION}. Migrate it to the 2025.2 release of Manila with manila-manage db sync, then run: shoal-manage db sync`,
  );
}

async function revision(books: Knex): Promise<string | null> {
  if (!(await books.schema.hasTable('alembic_version'))) return null;
  const row = (await books('alembic_version').first('version_num')) as { version_num: string } | undefined;
  return row?.version_num ?? null;
}

async function withKnex<T>(address: DatabaseAddress, work: (books: Knex) => Promise<T>): Promise<T> {
  const { host, port, user, password, database, socketPath } = address;
  const books = knex({
    client: 'mysql2',
    connection: {
      ...(socketPath ? { socketPath } : { host, port }),
      user,
      password,
      database,
      connectTimeout: 5_000,
    },
    pool: { min: 0, max: 1 },
  });
  try {
    return await work(books);
  } finally {
    await books.destroy();
  }
}
