/** Connections to Redis. Commands wait for it to come back, but not for ever. */
import { Redis } from 'ioredis';
import type { Log } from '#jobs/job.ts';

/** For commands of our own: each fails after a few seconds without Redis. */
export function redisClient(url: string, log: Log): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: null,
    enableReadyCheck: true,
    connectTimeout: 3_000,
    retryStrategy: (times) => Math.min(times * 100, 2_000),
  });
  let told = 0;
  redis.on('error', (error: Error) => {
    if (Date.now() - told < 10_000) return;
    told = Date.now();
    log('warn', 'redis does not answer', { error: error.message });
  });
  return redis;
}

/** As `redisClient`, for request handling: a command fails rather than waits. */
export function impatientRedisClient(url: string, log: Log): Redis {
  const redis = new Redis(url, {
    maxRetriesPerRequest: 1,
    enableOfflineQueue: true,
    commandTimeout: 2_000,
    connectTimeout: 3_000,
    retryStrategy: (times) => Math.min(times * 100, 1_000),
  });
  redis.on('error', (error: Error) => log('debug', 'redis does not answer', { error: error.message }));
  return redis;
}
