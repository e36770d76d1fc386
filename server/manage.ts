/** shoal-manage: what an operator does to the service itself. */
import { Command } from 'commander';
import { schemaState, sync } from '#db/sync.ts';
import { databaseAddress, loadOrExit } from './process/start.ts';

const program = new Command('shoal-manage')
  .description('Manages the Shoal service: its database and what hangs on it.')
  .option('--config-file <file>', 'configuration file; may be given more than once', more, [])
  .option('--config-dir <dir>', 'directory of configuration files; may be given more than once', more, [])
  .option('--format <format>', 'text or json', 'text');

const db = program.command('db').description('the database');
db.command('sync')
  .description('brings the database to the schema of this release')
  .action(async () => {
    const ran = await sync(address());
    print({ migrations: ran }, ran.length === 0 ? 'The database is up to date.' : `Ran ${ran.join(', ')}.`);
  });
db.command('version')
  .description('shows which schema the database has')
  .action(async () => {
    const state = await schemaState(address());
    print(
      state,
      `${state.revision ?? 'no schema'}${state.migrations.length > 0 ? ` (${state.migrations.join(', ')})` : ''}`,
    );
  });

program.parseAsync().catch((error: Error) => {
  console.error(error.message);
  process.exit(1);
});

/** Collects an option that is given more than once; each takes one value, so that none swallows the command. */
function more(value: string, before: string[]): string[] {
  return [...before, value];
}

function address() {
  const options = program.opts<{ configFile: string[]; configDir: string[] }>();
  return databaseAddress(
    loadOrExit({ configFiles: options.configFile, configDirs: options.configDir, roles: [] }),
  );
}

function print(data: unknown, text: string): void {
  console.log(program.opts<{ format: string }>().format === 'json' ? JSON.stringify(data, null, 2) : text);
}
