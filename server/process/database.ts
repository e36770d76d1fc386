/** Where the database is, and why it can't be reached, told without the password. */
import { connect, type DatabaseAddress } from '#db/connection.ts';
import type { Config } from '../config/config.ts';
import { StartError } from './startError.ts';

export function databaseAddress(config: Config): DatabaseAddress {
  const { host, port, user, password, database, socketPath } = config.database.connection;
  return { host, port, user, password, database, ...(socketPath ? { socketPath } : {}) };
}

const away: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut',
  PROTOCOL_CONNECTION_LOST: 'the connection was cut',
  ENOTFOUND: 'the host has no address',
  EAI_AGAIN: 'the name of the host could not be looked up',
  ETIMEDOUT: 'no answer in time',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network',
  ENOENT: 'there is no such socket',
  EACCES: 'the socket may not be opened',
  ER_CON_COUNT_ERROR: 'it has too many connections',
  ER_HOST_NOT_PRIVILEGED: 'it refuses this machine',
};

/** Runs what needs the database. Throws StartError, with the place and the reason, when it can't be used. */
export async function reaching<T>(address: DatabaseAddress, work: () => Promise<T>): Promise<T> {
  try {
    await knock(address);
    return await work();
  } catch (error) {
    throw databaseFailure(error, address);
  }
}

/** Connects and leaves again: what reads and changes the schema would print a failure to connect by itself. */
async function knock(address: DatabaseAddress): Promise<void> {
  const db = connect({ ...address, poolSize: 1 });
  try {
    await db.session(async () => {});
  } finally {
    await db.close();
  }
}

/** A failure to use the database, as the operator needs it; any other error as it is. */
export function databaseFailure(error: unknown, address: DatabaseAddress): unknown {
  const reason = reasonOf((error as { code?: string }).code ?? '', address);
  if (reason === undefined) return error;
  const { host, port, database, socketPath } = address;
  const at = socketPath ?? `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new StartError(`The database ${at}/${database} can't be used: ${reason} ([database] connection)`);
}

function reasonOf(code: string, { user, database }: DatabaseAddress): string | undefined {
  if (code === 'ER_ACCESS_DENIED_ERROR') return `it refuses the user ${user} or the password`;
  if (code === 'ER_DBACCESS_DENIED_ERROR') return `it doesn't let the user ${user} into ${database}`;
  if (code === 'ER_BAD_DB_ERROR') return `it has no database ${database}`;
  return Object.hasOwn(away, code) ? away[code] : undefined;
}
