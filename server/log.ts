/** Logs: one JSON object a line, on standard error. Never a token, a password or an access key. */
import pino from 'pino';
import type { Log } from '#jobs/job.ts';

export interface ProcessLog extends Log {
  /** One line of level info for a request. Written by hand: a request costs little more than pino's line of it. */
  request(entry: object): void;
  flush(): void;
}

/** A logger for a process; `name` tells which part it is. */
export function createLog(name: string, level: string): ProcessLog {
  // Lines are written together, a page at a time or twice a second: one by one they cost more than most requests.
  const destination = pino.destination({ dest: 2, sync: false, minLength: 4096, periodicFlush: 500 });
  const logger = pino(
    {
      name,
      level,
      base: { name },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: ['token', 'password', 'access_key', 'auth_key'],
    },
    destination,
  );
  const log = (
    lineLevel: 'debug' | 'info' | 'warn' | 'error',
    message: string,
    detail: Record<string, unknown> = {},
  ) => {
    logger[lineLevel](detail, message);
    if (lineLevel === 'error') destination.flush();
  };
  const request = (entry: object) => {
    if (!logger.isLevelEnabled('info')) return;
    const line = { level: 30, time: new Date().toISOString(), name, ...entry, msg: 'request' };
    destination.write(`${JSON.stringify(line)}\n`);
  };
  return Object.assign(log, { request, flush: () => destination.flushSync() });
}
