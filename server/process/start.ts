/** What every process does first: configuration, log, database; and how it ends. */
import { connect, type Db } from '#db/connection.ts';
import { requireCurrentSchema, SchemaError } from '#db/sync.ts';
import type { Log } from '#jobs/job.ts';
import { type Config, ConfigError, loadConfig, usualFiles } from '../config/config.ts';
import { createLog, type ProcessLog } from '../log.ts';
import { PolicyFileError } from '../policyFile.ts';
import type { ConfigSources } from './arguments.ts';
import { databaseAddress, reaching } from './database.ts';
import { StartError } from './startError.ts';

export interface Foundation {
  log: ProcessLog;
  db: Db;
}

/** Loads the configuration; warnings go to standard error. Throws ConfigError with all that is wrong with it. */
export function loadSources({ configFiles, configDirs }: ConfigSources): Config {
  return loadConfig(configFiles.length > 0 ? configFiles : usualFiles, {
    dirs: configDirs,
    warn: (message) => console.error(message),
  });
}

/** Ready to serve: the database answers and has this release's schema. */
export async function startFoundation(name: string, config: Config, poolSize: number): Promise<Foundation> {
  const { debug, log_level } = config.DEFAULT;
  const log = createLog(name, debug && log_level !== 'trace' ? 'debug' : log_level);
  const address = { ...databaseAddress(config), poolSize };
  await reaching(address, () => requireCurrentSchema(address));
  return { log, db: connect(address) };
}

/**
 * On SIGTERM or SIGINT, stops in order and ends; a second signal, or a stop that takes longer than
 * `timeoutSeconds`, ends at once. 0 waits without an end.
 */
export function endOnSignal(log: Log, timeoutSeconds: number, stop: () => Promise<void>): void {
  let ending = false;
  const end = (signal: string) => {
    if (ending) process.exit(1);
    ending = true;
    log('info', 'stopping', { signal });
    const cut = () => {
      log('error', 'stopping took too long', { graceful_shutdown_timeout: timeoutSeconds });
      process.exit(1);
    };
    if (timeoutSeconds > 0) setTimeout(cut, timeoutSeconds * 1000).unref();
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

/** Runs a process's main; what keeps it from starting is printed and ends the process. */
export function run(main: () => Promise<unknown>): void {
  main().catch((error: unknown) => {
    const { text, code } = ending(error);
    console.error(text);
    process.exit(code);
  });
}

/** What is told of an error at start: of one that its operator can mend the message alone, of others the stack. */
export function ending(error: unknown): { text: string; code: number } {
  if (error instanceof ConfigError || error instanceof PolicyFileError)
    return { text: error.message, code: 2 };
  if (error instanceof StartError || error instanceof SchemaError) return { text: error.message, code: 1 };
  return { text: String((error as Error)?.stack ?? error), code: 1 };
}
