/** shoal-manage: what an operator does to the service itself. */
import { Command, Option } from 'commander';
import type { DatabaseAddress } from '#db/connection.ts';
import { schemaState, sync } from '#db/sync.ts';
import { databaseAddress, reaching } from './process/database.ts';
import { loadSources, run } from './process/start.ts';

const program = new Command('shoal-manage')
  .description('Manages the Shoal service: its database and what hangs on it.')
  .option('--config-file <file>', 'configuration file; may be given more than once', more, [])
  .option('--config-dir <dir>', 'directory of configuration files; may be given more than once', more, [])
  .addOption(
    new Option('--format <format>', 'how answers are written').choices(['text', 'json']).default('text'),
  );

const db = program.command('db').description('the database');
db.command('sync')
  .description('brings the database to the schema of this release')
  .action(async () => {
    const ran = await onDatabase(sync);
    print({ migrations: ran }, ran.length === 0 ? 'The database is up to date.' : `Ran ${ran.join(', ')}.`);
  });
db.command('version')
  .description('shows which schema the database has')
  .action(async () => {
    const state = await onDatabase(schemaState);
    print(
      state,
      `${state.revision ?? 'no schema'}${state.migrations.length > 0 ? ` (${state.migrations.join(', ')})` : ''}`,
    );
  });

run(() => program.parseAsync());

/** Collects an option that is given more than once; each takes one value, so that none swallows the command. */
function more(value: string, before: string[]): string[] {
  return [...before, value];
}

/** Runs it on the database that the configuration names. */
function onDatabase<T>(work: (address: DatabaseAddress) => Promise<T>): Promise<T> {
  const { configFile, configDir } = program.opts<{ configFile: string[]; configDir: string[] }>();
  const address = databaseAddress(loadSources({ configFiles: configFile, configDirs: configDir }));
  return reaching(address, () => work(address));
}

function print(data: unknown, text: string): void {
  console.log(program.opts<{ format: string }>().format === 'json' ? JSON.stringify(data, null, 2) : text);
}
