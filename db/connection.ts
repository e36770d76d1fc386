/** The database: a pool of MariaDB connections, statements as templates, transactions that retry on deadlock. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createPool, type Pool, type PoolConnection, type ResultSetHeader } from 'mysql2';
import { fault } from '#domain/faults.ts';
import { away, DatabaseAway, isDeadlock } from './databaseAway.ts';
import { type Sql, type SqlValue, sql } from './sql.ts';

/** Where statements can be run: the pool, or a transaction. */
export interface Queries {
  /** Every row of a SELECT. Datetimes are ISO texts without a zone, tinyint(1) are booleans. */
  rows<T>(strings: TemplateStringsArray, ...parts: (SqlValue | Sql)[]): Promise<T[]>;
  /** The first row, or undefined. */
  row<T>(strings: TemplateStringsArray, ...parts: (SqlValue | Sql)[]): Promise<T | undefined>;
  /** An INSERT, UPDATE or DELETE: how many rows it touched, and the id it made. */
  run(
    strings: TemplateStringsArray,
    ...parts: (SqlValue | Sql)[]
  ): Promise<{ affected: number; insertId: number }>;
  /** A statement made beforehand. */
  query<T>(statement: Sql): Promise<T[]>;
}

export interface Tx extends Queries {
  /** Runs once the transaction is committed, never when it is rolled back. */
  afterCommit(action: () => void): void;
}

export interface Db extends Queries {
  /**
   * Runs `work` in one transaction (READ COMMITTED) and commits it; throwing rolls back. A deadlock or lock
   * time-out runs it again, so `work` changes nothing outside the database.
   */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Runs `work` on one connection without a transaction: for what lives in a session, such as named locks. */
  session<T>(work: (session: Queries) => Promise<T>): Promise<T>;
  /** A view of the same database that counts its own statements. */
  counting(): Db & { readonly statements: number };
  close(): Promise<void>;
}

export interface DatabaseAddress {
  host: string;
  port: number;
  user: string;
  password: string;
  database: string;
  socketPath?: string;
  /** most connections at once */
  poolSize?: number;
  /** what a statement may take, from its sending to its answer; 30 s by default */
  deadlineMs?: number;
}

const TRANSACTION_ATTEMPTS = 8;
const SESSION = [
  "SET NAMES utf8mb3, SESSION character_set_results = 'utf8mb4'",
  'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
  "SET SESSION sql_mode='STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', innodb_lock_wait_timeout=10",
];
/** A statement that runs longer than this is given up: nothing here takes near as long. */
const STATEMENT_DEADLINE_MS = 30_000;

/**
 * Statements that a connection keeps prepared, the least used going first. Filters and pages make ever new ones, and
 * the server has room for 16,382 over all connections: once full, it refuses every client.
 */
const PREPARED_PER_CONNECTION = 128;

/** Opens the pool; connects lazily. Errors name the server, never the password. */
export function connect(address: DatabaseAddress): Db {
  const pool = createPool({
    ...(address.socketPath ? { socketPath: address.socketPath } : { host: address.host, port: address.port }),
    user: address.user,
    password: address.password,
    database: address.database,
    connectionLimit: address.poolSize ?? 10,
    connectTimeout: 5_000,
    enableKeepAlive: true,
    maxPreparedStatements: PREPARED_PER_CONNECTION,
    charset: 'utf8mb4_general_ci',
    timezone: 'Z',
    dateStrings: true,
    jsonStrings: true,
    supportBigNumbers: true,
    typeCast: cast,
  });
  // Asked for on connect, before any statement of ours: the driver keeps them in order. The schema's texts are
  // utf8mb3, and a parameter of another character set could cost a comparison its index.
  pool.on('connection', (connection) => {
    for (const setting of SESSION)
      connection.query(setting, (error: unknown) => error && connection.destroy());
  });
  return new Database(pool, address.deadlineMs ?? STATEMENT_DEADLINE_MS);
}

interface Counter {
  statements: number;
  readonly deadlineMs: number;
}

/** Statements on the pool or on a transaction's connection. */
class Statements implements Queries {
  protected readonly on: Pool | PoolConnection;
  protected readonly counter: Counter;

  constructor(on: Pool | PoolConnection, counter: Counter) {
    this.on = on;
    this.counter = counter;
  }

  rows<T>(strings: TemplateStringsArray, ...parts: (SqlValue | Sql)[]): Promise<T[]> {
    return execute(this.on, sql(strings, ...parts), this.counter) as Promise<T[]>;
  }

  async row<T>(strings: TemplateStringsArray, ...parts: (SqlValue | Sql)[]): Promise<T | undefined> {
    return ((await execute(this.on, sql(strings, ...parts), this.counter)) as T[])[0];
  }

  async run(strings: TemplateStringsArray, ...parts: (SqlValue | Sql)[]) {
    const statement = sql(strings, ...parts);
    statement.values.forEach(refuseUnstorable);
    const result = (await execute(this.on, statement, this.counter)) as ResultSetHeader;
    return { affected: result.affectedRows, insertId: result.insertId };
  }

  query<T>(statement: Sql): Promise<T[]> {
    return execute(this.on, statement, this.counter) as Promise<T[]>;
  }
}

class Database extends Statements implements Db {
  readonly #pool: Pool;

  constructor(pool: Pool, deadlineMs: number) {
    super(pool, { statements: 0, deadlineMs });
    this.#pool = pool;
  }

  get statements(): number {
    return this.counter.statements;
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return retried(this.#pool, work, this.counter);
  }

  async session<T>(work: (session: Queries) => Promise<T>): Promise<T> {
    const connection = await take(this.#pool);
    try {
      const result = await work(new Statements(connection, this.counter));
      connection.release();
      return result;
    } catch (error) {
      // What the session still holds goes with it.
      connection.destroy();
      throw error;
    }
  }

  counting(): Database {
    return new Database(this.#pool, this.counter.deadlineMs);
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#pool.end(() => resolve()));
  }
}

class Transaction extends Statements implements Tx {
  readonly #after: (() => void)[] = [];

  afterCommit(action: () => void): void {
    this.#after.push(action);
  }

  committed(): void {
    for (const action of this.#after) action();
  }
}

/** utf8mb3 has no such characters; the driver would write two halves that other programs fail to read. */
function refuseUnstorable(value: SqlValue): void {
  if (typeof value !== 'string') return;
  const [character] = /[\ud800-\udfff]+/.exec(value) ?? [];
  if (character !== undefined)
    throw fault('invalidInput', {
      reason: `${character} can't be stored: it is outside the Basic Multilingual Plane`,
    });
}

async function execute(on: Pool | PoolConnection, { text, values }: Sql, counter: Counter): Promise<unknown> {
  counter.statements++;
  const connection = 'getConnection' in on ? await take(on) : on;
  try {
    return await answered(connection, counter, (done) => connection.execute(text, values as never, done));
  } finally {
    if (connection !== on) connection.release();
  }
}

/**
 * The answer to a statement, or ETIMEDOUT: then the connection is thrown away. The driver's own deadline leaves out
 * the preparation, and a server that hangs does so there.
 */
function answered<T>(
  connection: PoolConnection,
  { deadlineMs }: Counter,
  send: (done: (error: Error | null, result: T) => void) => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      connection.destroy();
      const text = `the database gave no answer within ${deadlineMs / 1000} s`;
      reject(new DatabaseAway(text, 'ETIMEDOUT'));
    }, deadlineMs);
    send((error, result) => {
      clearTimeout(timer);
      if (error) reject(away(error));
      else resolve(result);
    });
  });
}

async function retried<T>(pool: Pool, work: (tx: Tx) => Promise<T>, counter: Counter): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(pool, work, counter);
    } catch (error) {
      if (!isDeadlock(error) || attempt === TRANSACTION_ATTEMPTS) throw error;
      await sleep(Math.random() * 10 * 2 ** attempt);
    }
  }
}

function take(pool: Pool): Promise<PoolConnection> {
  return new Promise((resolve, reject) =>
    pool.getConnection((error, found) => (error ? reject(away(error)) : resolve(found))),
  );
}

async function once<T>(pool: Pool, work: (tx: Tx) => Promise<T>, counter: Counter): Promise<T> {
  const connection = await take(pool);
  const plain = (text: string) => {
    counter.statements++;
    return answered<unknown>(connection, counter, (done) => connection.query(text, done));
  };
  const transaction = new Transaction(connection, counter);
  try {
    await plain('BEGIN');
    const result = await work(transaction);
    await plain('COMMIT');
    connection.release();
    transaction.committed();
    return result;
  } catch (error) {
    // A connection whose roll-back fails may still hold the transaction: it is thrown away, which ends it.
    await plain('ROLLBACK').then(
      () => connection.release(),
      () => connection.destroy(),
    );
    throw error;
  }
}

/** Datetimes as the API writes them, tinyint(1) as booleans; everything else as the driver gives it. */
function cast(
  field: { type: string; length: number; string(encoding?: string): string | null },
  next: () => unknown,
): unknown {
  if (field.type === 'DATETIME') {
    const text = field.string();
    return text === null ? null : text.replace(' ', 'T').replace(/\.0+$/, '');
  }
  if (field.type === 'TINY' && field.length === 1) {
    const value = next();
    return value === null ? null : Number(value) === 1;
  }
  return next();
}
