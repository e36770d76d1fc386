/** Parts of a running stack, killed at random; its state directory knows their processes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';

/** `flush`: Redis stays and forgets everything. */
export type Victim = 'api' | 'scheduler' | 'share' | 'data' | 'redis' | 'mariadb' | 'flush';

/** Kills parts in rounds, each in an order drawn anew, until told to stop; the first round is always finished. */
export async function killAtRandom(
  state: string,
  victims: readonly Victim[],
  everyMs: number,
  until: AbortSignal,
): Promise<Record<string, number>> {
  const killed: Record<string, number> = Object.fromEntries(victims.map((victim) => [victim, 0]));
  let round: Victim[] = [];
  while (!until.aborted || Object.values(killed).includes(0)) {
    await sleep(everyMs);
    if (round.length === 0) round = shuffled(victims);
    const victim = round.pop()!;
    if (await kill(state, victim)) killed[victim]!++;
    else round.unshift(victim); // away already: later in this round
  }
  return killed;
}

function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

async function kill(state: string, victim: Victim): Promise<boolean> {
  if (victim === 'flush') return flush(state);
  const pids = JSON.parse(readFileSync(join(state, 'pids.json'), 'utf8')) as Record<string, number>;
  try {
    process.kill(pids[victim]!, 'SIGKILL');
    return true;
  } catch {
    return false; // still away from the last time
  }
}

async function flush(state: string): Promise<boolean> {
  const url = /^\s*url\s*=\s*(redis:\S+)/m.exec(readFileSync(join(state, 'shoal.conf'), 'utf8'))![1]!;
  const redis = new Redis(url, { maxRetriesPerRequest: 0, retryStrategy: () => null, lazyConnect: true });
  redis.on('error', () => {});
  try {
    await redis.connect();
    await redis.flushall();
    return true;
  } catch {
    return false;
  } finally {
    redis.disconnect();
  }
}
