/** Logs: one JSON object a line, on standard error. Never a token, a password or an access key. */
import pino from 'pino';
import type { Log } from '#jobs/job.ts';

/** A logger for a process; `name` tells which part it is. */
export function createLog(name: string, level: string): Log & { flush(): void } {
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
  return Object.assign(log, { flush: () => destination.flushSync() });
}
