/**
 * Parts of the service are killed at random while clients use it. Afterwards nothing is stuck, nothing is lost,
 * and no quota is left behind.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type Stack, startStack } from '../stack.ts';
import { PatientClient } from './client.ts';
import { liveOnce, remove } from './lifecycle.ts';

const LIVES = 200;
const CLIENTS = 16;
const KILL_EVERY_MS = 2_500;
const VICTIMS = ['api', 'scheduler', 'share', 'redis', 'mariadb', 'flush'] as const;
type Victim = (typeof VICTIMS)[number];

const state = mkdtempSync(join(tmpdir(), 'shoal-kill-'));
const projectId = 'd1e5';
let stack: Stack;

beforeAll(async () => {
  const delays = 'fake_driver_delays=create_share:0.1,delete_share:0.1,create_snapshot:0.1,extend_share:0.1';
  stack = await startStack('recorded', {
    state,
    set: ['alpha', 'beta']
      .map((backend) => `${backend}.${delays}`)
      .concat('quota.shares=1000', 'quota.gigabytes=5000'),
  });
  const admin = new PatientClient(stack.base, projectId, 'admin,member,reader');
  await admin.ask('POST', '/types', {
    share_type: {
      name: 'default',
      'share_type_access:is_public': true,
      extra_specs: { driver_handles_share_servers: 'False', snapshot_support: 'True' },
    },
  });
}, 90_000);

afterAll(async () => {
  await stack?.stop();
  rmSync(state, { recursive: true, force: true });
}, 60_000);

test(`${LIVES} shares live and die whole while parts of the service are killed`, async () => {
  const client = new PatientClient(stack.base, projectId);
  const over = new AbortController();
  const killing = killAtRandom(over.signal);
  let next = 0;
  const lives = async () => {
    while (next < LIVES) await liveOnce(client, `life-${next++}`);
  };
  const living = Promise.all(Array.from({ length: CLIENTS }, lives)).finally(() => over.abort());
  const [killed] = await Promise.all([killing, living]);
  console.log(`killed: ${VICTIMS.map((victim) => `${victim} ${killed[victim]}`).join(', ')}`);
  expect(Object.values(killed)).not.toContain(0);

  // What was created twice, since an answer got lost, is there to be deleted like any other.
  const left = await client.ask('GET', '/shares/detail');
  for (const { id } of left.body.shares as { id: string }[]) {
    await client.until(
      `/shares/${id}`,
      (a) => a.status === 404 || ['available', 'error'].includes(a.body.share.status),
      'settled',
    );
    const snapshots = await client.ask('GET', `/snapshots?share_id=${id}`);
    for (const snapshot of snapshots.body.snapshots as { id: string }[])
      await remove(client, `/snapshots/${snapshot.id}`);
    await remove(client, `/shares/${id}`);
  }
  const quota = await client.ask('GET', `/quota-sets/${projectId}/detail`);
  for (const resource of ['shares', 'gigabytes', 'snapshots', 'snapshot_gigabytes']) {
    expect({ resource, ...quota.body.quota_set[resource] }).toMatchObject({
      resource,
      in_use: 0,
      reserved: 0,
    });
  }
}, 600_000);

/** Kills parts in rounds, each in an order drawn anew, until told to stop; the first round is always finished. */
async function killAtRandom(until: AbortSignal): Promise<Record<Victim, number>> {
  const killed = Object.fromEntries(VICTIMS.map((victim) => [victim, 0])) as Record<Victim, number>;
  let round: Victim[] = [];
  while (!until.aborted || Object.values(killed).includes(0)) {
    await sleep(KILL_EVERY_MS);
    if (round.length === 0) round = shuffled(VICTIMS);
    const victim = round.pop()!;
    if (await kill(victim)) killed[victim]++;
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

async function kill(victim: Victim): Promise<boolean> {
  if (victim === 'flush') return flush();
  const pids = JSON.parse(readFileSync(join(state, 'pids.json'), 'utf8')) as Record<string, number>;
  try {
    process.kill(pids[victim]!, 'SIGKILL');
    return true;
  } catch {
    return false; // still away from the last time
  }
}

async function flush(): Promise<boolean> {
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
