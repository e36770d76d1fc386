/** Capability reports: workers put them in Redis, the scheduler and the API read them there. */
import type { Redis } from 'ioredis';
import type { BackendReport } from '#domain/services.ts';
import { now } from '#domain/time.ts';
import type { Driver } from '#drivers/driver.ts';
import type { Log } from './job.ts';
import { REPORTS_KEY } from './queues.ts';

const STATS_DEADLINE_MS = 30_000;

/** Asks the back end and puts its report where all can see it. */
export async function publishReport(redis: Redis, host: string, driver: Driver): Promise<void> {
  // Stamped before it is asked: what is placed meanwhile may be missing from the answer.
  const at = now();
  const stats = await driver.stats(AbortSignal.timeout(STATS_DEADLINE_MS));
  const report: BackendReport = { host, at, stats };
  await redis.hset(REPORTS_KEY, host, JSON.stringify(report));
}

/** How long a report that Redis no longer has still counts: it may come back empty, and is told anew soon. */
const REMEMBERED_MS = 60_000;

/** Reads all reports; those that did not change are not parsed again, those that Redis lost are remembered a while. */
export function reportReader(redis: Redis): () => Promise<BackendReport[]> {
  let known = new Map<string, { text: string; report: BackendReport }>();
  return async () => {
    const texts = Object.entries(await redis.hgetall(REPORTS_KEY));
    const next = new Map(
      [...known].filter(([, { report }]) => Date.now() - Date.parse(`${report.at}Z`) < REMEMBERED_MS),
    );
    for (const [host, text] of texts) {
      const before = known.get(host);
      next.set(host, before?.text === text ? before : { text, report: JSON.parse(text) as BackendReport });
    }
    known = next;
    return [...known.values()].map(({ report }) => report).sort((a, b) => a.host.localeCompare(b.host));
  };
}

/** Reports every `intervalMs` until stopped; a report that fails is logged, the last one stays. */
export function reportRegularly(
  redis: Redis,
  backends: ReadonlyMap<string, Driver>,
  intervalMs: number,
  log: Log,
): { stop(): void; now(): Promise<void> } {
  const all = async () => {
    await Promise.all(
      [...backends].map(([host, driver]) =>
        publishReport(redis, host, driver).catch((error: Error) =>
          log('warn', 'a back end could not be reported', { host, error: error.message }),
        ),
      ),
    );
  };
  const timer = setInterval(() => void all(), intervalMs);
  // Redis may come back empty: what it forgot is told again at once.
  redis.on('ready', () => void all());
  return { stop: () => clearInterval(timer), now: all };
}
