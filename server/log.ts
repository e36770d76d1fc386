/** Logs: one JSON object a line, on standard error. Never a token, a password or an access key. */
import pino from 'pino';
import type { Log } from '#jobs/job.ts';

/** A logger for a process; `name` tells which part it is. */
export function createLog(name: string, level: string): Log & { flush(): void } {
  const logger = pino(
    { name, level, base: { name }, timestamp: pino.stdTimeFunctions.isoTime, redact: ['token', 'password', 'access_key', 'auth_key'] },
    pino.destination({ dest: 2, sync: false, minLength: 0 }),
  );
  const log = (lineLevel: 'debug' | 'info' | 'warn' | 'error', message: string, detail: Record<string, unknown> = {}) =>
    logger[lineLevel](detail, message);
  return Object.assign(log, { flush: () => logger.flush() });
}
