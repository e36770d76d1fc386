/**
 * A MariaDB server of one's own: data under a directory, on the loopback address alone, small and quick to start.
 * The account that the service uses has a new random password at every start; it stands in the URL answered and in
 * a file that only its owner can read.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import mysql from 'mysql2/promise';
import { Part, type PartOptions } from './part.ts';
import { onPort } from './ports.ts';

export interface MariaDbOptions extends Pick<PartOptions, 'onDeath' | 'onStart' | 'signal'> {
  /** where its data, log and start-up statements are kept; made when missing */
  directory: string;
  /** a free one by default */
  port?: number;
  /** whether a commit survives a crash of the machine; without, only of the server */
  durable: boolean;
}

export interface MariaDb {
  host: '127.0.0.1';
  port: number;
  user: string;
  password: string;
  database: string;
  /** `mysql+pymysql://…`, as [database] connection takes it */
  url: string;
  stop(): Promise<void>;
}

const account = 'shoal';
const database = 'shoal';
const smallLog = '--innodb-log-file-size=16M';

/** Starts the server, on the data that is there or on none, and waits until it answers. */
export async function startMariaDb(options: MariaDbOptions): Promise<MariaDb> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const data = join(options.directory, 'data');
  // Its own: a server that starts removes the temporary tables that lie there, those of its neighbours too.
  const temporary = join(options.directory, 'tmp');
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  if (!existsSync(data)) await install(data, temporary);
  const password = randomBytes(24).toString('base64url');
  const startStatements = join(options.directory, 'start.sql');
  rmSync(startStatements, { force: true });
  writeFileSync(startStatements, statements(password), { mode: 0o600 });
  return onPort(options.port, async (port) => {
    const part = await Part.start({
      name: 'mariadb',
      command: ['mariadbd', ...serverArguments(data, temporary, port, startStatements, options.durable)],
      logFile: join(options.directory, 'mariadb.log'),
      isReady: () => answers(port, password),
      onDeath: options.onDeath,
      onStart: options.onStart,
      signal: options.signal,
    });
    return {
      host: '127.0.0.1',
      port,
      user: account,
      password,
      database,
      url: `mysql+pymysql://${account}:${password}@127.0.0.1:${port}/${database}`,
      stop: () => part.stop(),
    };
  });
}

/** Makes the system tables beside their place and moves them there whole: a half-made one is never taken for real. */
async function install(data: string, temporary: string): Promise<void> {
  const unfinished = `${data}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  const { username } = userInfo();
  const args = [
    '--no-defaults',
    // Without it the machine's own name has to be resolvable.
    '--force',
    '--auth-root-authentication-method=socket',
    `--auth-root-socket-user=${username}`,
    '--skip-name-resolve',
    '--skip-test-db',
    `--user=${username}`,
    `--datadir=${unfinished}`,
    `--tmpdir=${temporary}`,
    smallLog,
    '--innodb-flush-log-at-trx-commit=0',
  ];
  try {
    await promisify(execFile)('mariadb-install-db', args, { timeout: 120_000 });
  } catch (error) {
    const { stdout, stderr, message } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`mariadb-install-db failed: ${stderr?.trim() || stdout?.trim() || message}`);
  }
  renameSync(unfinished, data);
}

function statements(password: string): string {
  return [
    `CREATE DATABASE IF NOT EXISTS ${database} CHARACTER SET utf8mb3;`,
    `CREATE OR REPLACE USER ${account}@'127.0.0.1' IDENTIFIED BY '${password}';`,
    `GRANT ALL ON *.* TO ${account}@'127.0.0.1';`,
    '',
  ].join('\n');
}

function serverArguments(
  data: string,
  temporary: string,
  port: number,
  startStatements: string,
  durable: boolean,
): string[] {
  return [
    '--no-defaults',
    `--user=${userInfo().username}`,
    `--datadir=${data}`,
    `--tmpdir=${temporary}`,
    // Relative to the data: the path of a socket may not be longer than 107 bytes.
    '--socket=mariadb.sock',
    '--pid-file=mariadb.pid',
    '--bind-address=127.0.0.1',
    `--port=${port}`,
    `--init-file=${startStatements}`,
    '--skip-name-resolve',
    '--performance-schema=OFF',
    '--max-connections=200',
    '--innodb-buffer-pool-size=128M',
    smallLog,
    `--innodb-flush-log-at-trx-commit=${durable ? 1 : 2}`,
    ...(durable ? [] : ['--innodb-doublewrite=0']),
  ];
}

async function answers(port: number, password: string): Promise<boolean> {
  const connection = await mysql.createConnection({
    host: '127.0.0.1',
    port,
    user: account,
    password,
    database,
    connectTimeout: 2_000,
  });
  await connection.end();
  return true;
}
