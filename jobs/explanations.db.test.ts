import { Redis } from 'ioredis';
import { startTestRedis, type TestRedis } from '#server/local/testing/services.ts';
import { readExplanation, storeExplanation } from './explanations.ts';

let service: TestRedis;
let redis: Redis;
beforeAll(async () => {
  service = await startTestRedis();
  redis = new Redis(service.url);
});
afterAll(async () => {
  redis.disconnect();
  await service.stop();
});

test('the last outcome of a share is kept for a while', async () => {
  expect(await readExplanation(redis, 'share')).toBeNull();
  const refusal = {
    pool: 'h@a#p',
    passed: false,
    filter: 'CapacityFilter',
    reason: 'too full',
    numbers: { free: 1, size: 2 },
  };
  await storeExplanation(redis, 'share', {
    refused: true,
    detail: 'filterCapacity',
    filter: 'CapacityFilter',
    explanation: [refusal],
    warnings: [],
  });
  expect(await readExplanation(redis, 'share')).toEqual({
    at: expect.stringMatching(/^\d{4}-/),
    host: null,
    detail: 'filterCapacity',
    pools: [
      {
        name: 'h@a#p',
        accepted: false,
        filter: 'CapacityFilter',
        reason: 'too full',
        numbers: { free: 1, size: 2 },
        weight: null,
        weights: {},
      },
    ],
  });
  await storeExplanation(redis, 'share', {
    refused: false,
    host: 'h@b#p',
    weight: 1.5,
    explanation: [
      { pool: 'h@b#p', passed: true, weight: 1.5, weights: { CapacityWeigher: 9, GoodnessWeigher: null } },
    ],
    warnings: [],
  });
  expect(await readExplanation(redis, 'share')).toMatchObject({
    host: 'h@b#p',
    detail: null,
    pools: [
      { accepted: true, filter: null, weight: 1.5, weights: { CapacityWeigher: 9, GoodnessWeigher: null } },
    ],
  });
  expect(await readExplanation(redis, 'another')).toBeNull();
  expect(await redis.ttl('shoal:explanation:share')).toBeGreaterThan(3600);
});
