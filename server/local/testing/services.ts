/**
 * MariaDB and Redis for tests: real ones, started once for a whole run of jest and shared, with a database of its
 * own for whoever asks. A test file that runs outside such a run gets servers of its own.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import type { DatabaseAddress } from '#db/connection.ts';
import { sync } from '#db/sync.ts';
import { type MariaDb, startMariaDb } from '../mariadb.ts';
import { type Redis as RedisServer, startRedis } from '../redis.ts';

type SqlServer = Pick<MariaDb, 'host' | 'port' | 'user' | 'password'>;

/** Where the shared servers are; workers of jest inherit it from the process that started them. */
const variable = 'SHOAL_TEST_SERVICES';

interface Shared {
  mariadb: SqlServer;
  redisUrl: string;
}

interface Stoppable {
  stop(): Promise<void>;
}

export interface TestDatabase extends Stoppable {
  address: DatabaseAddress;
  /** the same as [database] connection takes it */
  url: string;
}

/** A fresh database with today's schema (or none, `empty`), gone after `stop()`. */
export async function startTestDatabase({ empty = false } = {}): Promise<TestDatabase> {
  const shared = sharedServices();
  const own = shared
    ? null
    : await inTemporaryDirectory((directory) => startMariaDb({ directory, durable: false }));
  const server = shared?.mariadb ?? own!.service;
  const database = `test_${randomBytes(6).toString('hex')}`;
  await asServerAccount(server, `CREATE DATABASE ${database} CHARACTER SET utf8mb3`);
  const { host, port, user, password } = server;
  const address = { host, port, user, password, database };
  if (!empty) await sync(address);
  return {
    address,
    url: `mysql+pymysql://${user}:${password}@${host}:${port}/${database}`,
    stop: () => own?.stop() ?? asServerAccount(server, `DROP DATABASE ${database}`),
  };
}

export interface TestRedis extends Stoppable {
  /** as [redis] url takes it; the numbered database in it is nobody else's */
  url: string;
}

/** An empty Redis database. */
export async function startTestRedis(): Promise<TestRedis> {
  const shared = sharedServices();
  if (!shared) {
    const own = await inTemporaryDirectory((directory) => startRedis({ directory }));
    return { url: own.service.url, stop: own.stop };
  }
  const number = await withRedis(shared.redisUrl, (redis) => redis.incr('databases taken'));
  const url = shared.redisUrl.replace(/\/0$/, `/${number}`);
  return {
    url,
    async stop() {
      await withRedis(url, (redis) => redis.flushdb());
    },
  };
}

/** Starts the servers that the workers of this run of jest will share. */
export async function startSharedServices(): Promise<Stoppable> {
  const [mariadb, redis] = await Promise.all([
    inTemporaryDirectory((directory) => startMariaDb({ directory, durable: false })),
    inTemporaryDirectory((directory) => startRedis({ directory, databases: 10_000 })),
  ]);
  const { host, port, user, password } = mariadb.service;
  const shared: Shared = { mariadb: { host, port, user, password }, redisUrl: redis.service.url };
  process.env[variable] = JSON.stringify(shared);
  return {
    async stop() {
      delete process.env[variable];
      await Promise.all([mariadb.stop(), redis.stop()]);
    },
  };
}

function sharedServices(): Shared | null {
  const text = process.env[variable];
  return text === undefined ? null : (JSON.parse(text) as Shared);
}

async function inTemporaryDirectory<T extends MariaDb | RedisServer>(
  start: (directory: string) => Promise<T>,
): Promise<Stoppable & { service: T }> {
  const directory = mkdtempSync(join(tmpdir(), 'shoal-test-'));
  const service = await start(directory);
  return {
    service,
    async stop() {
      await service.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function asServerAccount({ host, port, user, password }: SqlServer, statement: string): Promise<void> {
  const connection = await mysql.createConnection({ host, port, user, password, connectTimeout: 5_000 });
  try {
    await connection.query(statement);
  } finally {
    await connection.end();
  }
}

async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { maxRetriesPerRequest: 2 });
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
