/** What every process does first: configuration, log, database; and how it ends. */
import { connect, type Db } from '#db/connection.ts';
import { requireCurrentSchema } from '#db/sync.ts';
import type { Log } from '#jobs/job.ts';
import { type Config, ConfigError, loadConfig, usualFiles } from '../config/config.ts';
import { createLog } from '../log.ts';
import type { ProcessArguments } from './arguments.ts';

export interface Foundation {
  config: Config;
  log: Log;
  db: Db;
}

/** Loads the configuration or ends the process with what is wrong with it. */
export function loadOrExit({ configFiles, configDirs }: ProcessArguments): Config {
  try {
    return loadConfig(configFiles.length > 0 ? configFiles : usualFiles, {
      dirs: configDirs,
      warn: (message) => console.error(message),
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.error(error.message);
    process.exit(2);
  }
}

/** Ready to serve: the database answers and has this release's schema. */
export async function startFoundation(
  name: string,
  args: ProcessArguments,
  poolSize: number,
): Promise<Foundation> {
  const config = loadOrExit(args);
  const log = createLog(name, config.DEFAULT.log_level);
  const address = { ...databaseAddress(config), poolSize };
  await requireCurrentSchema(address);
  return { config, log, db: connect(address) };
}

export function databaseAddress(config: Config) {
  const { host, port, user, password, database, socketPath } = config.database.connection;
  return { host, port, user, password, database, ...(socketPath ? { socketPath } : {}) };
}

const STOP_DEADLINE_MS = 20_000;

/** On SIGTERM or SIGINT, stops in order and ends; a second signal or a stop that hangs ends at once. */
export function endOnSignal(log: Log, stop: () => Promise<void>): void {
  let ending = false;
  const end = (signal: string) => {
    if (ending) process.exit(1);
    ending = true;
    log('info', 'stopping', { signal });
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
    stop().then(
      () => process.exit(0),
      (error: Error) => {
        log('error', 'stopping failed', { error: error.message });
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', end);
  process.on('SIGINT', end);
  process.on('unhandledRejection', (error) =>
    log('error', 'unhandled rejection', { error: String((error as Error)?.stack ?? error) }),
  );
}

/** Runs a process's main, printing what kept it from starting. */
export function run(main: () => Promise<void>): void {
  main().catch((error: Error) => {
    console.error(
      error.name === 'SchemaError' || error.name === 'PolicyFileError'
        ? error.message
        : (error.stack ?? error.message),
    );
    process.exit(1);
  });
}
