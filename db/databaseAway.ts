/** What goes wrong with a database rather than with a statement. */

/** The database can't be reached, or went away meanwhile: asking again may help. `code` is the driver's. */
export class DatabaseAway extends Error {
  readonly code: string;
  constructor(message: string, code: string, options?: { cause: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Codes of connections that could not be made or were lost. */
const AWAY = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ETIMEDOUT',
  'EPIPE',
  'PROTOCOL_CONNECTION_LOST',
]);
/** The server is shutting down, or ended the connection. */
const SHUTDOWN = new Set([1053, 1927]);

/** The error itself, or DatabaseAway where it says that. */
export function away(error: Error): Error {
  const { code = '', errno = 0 } = error as { code?: string; errno?: number };
  if (!AWAY.has(code) && !SHUTDOWN.has(errno)) return error;
  return new DatabaseAway(error.message, AWAY.has(code) ? code : 'PROTOCOL_CONNECTION_LOST', {
    cause: error,
  });
}

const DEADLOCK = new Set([1213, 1205, 1020]);

/** Two transactions stood in each other's way, or one waited too long for a lock. */
export function isDeadlock(error: unknown): boolean {
  return DEADLOCK.has((error as { errno?: number }).errno ?? 0);
}
