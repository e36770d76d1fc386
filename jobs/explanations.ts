/**
 * Explanations of the scheduler's decisions, in Redis: the last one of each share, for a while. Losing them costs
 * an administrator the reason, nobody a share.
 */
import type { Redis } from 'ioredis';
import type { Explanation, PoolJudgement } from '#domain/explanations.ts';
import { now } from '#domain/time.ts';
import type { Outcome, PoolExplanation } from './scheduler/schedule.ts';

const KEPT_SECONDS = 7 * 24 * 3600;

function key(shareId: string): string {
  return `shoal:explanation:${shareId}`;
}

/** Keeps the outcome as the share's last explanation, for a week. */
export async function storeExplanation(redis: Redis, shareId: string, outcome: Outcome): Promise<void> {
  const explanation: Explanation = {
    at: now(),
    host: outcome.refused ? null : outcome.host,
    detail: outcome.refused ? outcome.detail : null,
    pools: outcome.explanation.map(judgement),
  };
  await redis.set(key(shareId), JSON.stringify(explanation), 'EX', KEPT_SECONDS);
}

/** The share's last explanation; null when there is none, or none any more. */
export async function readExplanation(redis: Redis, shareId: string): Promise<Explanation | null> {
  const text = await redis.get(key(shareId));
  return text === null ? null : (JSON.parse(text) as Explanation);
}

function judgement(of: PoolExplanation): PoolJudgement {
  return {
    name: of.pool,
    accepted: of.passed,
    filter: of.filter ?? null,
    reason: of.reason ?? null,
    numbers: { ...of.numbers },
    weight: of.weight ?? null,
    weights: { ...of.weights },
  };
}
