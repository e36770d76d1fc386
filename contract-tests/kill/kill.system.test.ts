/**
 * Parts of the service are killed at random while clients use it. Afterwards nothing is stuck, nothing is lost,
 * and no quota is left behind.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Stack, startStack } from '../stack.ts';
import { PatientClient } from './client.ts';
import { liveOnce, remove } from './lifecycle.ts';
import { removeReplicas, replicateOnce } from './replication.ts';
import { killAtRandom, type Victim } from './victims.ts';

const LIVES = 200;
const CLIENTS = 16;
const KILL_EVERY_MS = 2_500;
const VICTIMS: readonly Victim[] = ['api', 'scheduler', 'share', 'redis', 'mariadb', 'flush'];

const state = mkdtempSync(join(tmpdir(), 'shoal-kill-'));
const projectId = 'd1e5';
let stack: Stack;

beforeAll(async () => {
  const delays =
    'fake_driver_delays=create_share:0.1,delete_share:0.1,create_snapshot:0.1,extend_share:0.1,create_replica:0.1,promote_replica:0.1';
  stack = await startStack('recorded', {
    state,
    set: ['alpha', 'beta']
      .map((backend) => `${backend}.${delays}`)
      .concat('quota.shares=1000', 'quota.gigabytes=5000'),
  });
  const admin = new PatientClient(stack.base, projectId, 'admin,member,reader');
  for (const [name, more] of [
    ['default', { snapshot_support: 'True' }],
    ['replicated', { replication_type: 'readable' }],
  ] as const) {
    const extra_specs = { driver_handles_share_servers: 'False', ...more };
    await admin.ask('POST', '/types', {
      share_type: { name, 'share_type_access:is_public': true, extra_specs },
    });
  }
}, 90_000);

afterAll(async () => {
  await stack?.stop();
  rmSync(state, { recursive: true, force: true });
}, 60_000);

test(`${LIVES} shares live and die whole while parts of the service are killed`, async () => {
  const client = new PatientClient(stack.base, projectId);
  const over = new AbortController();
  const killing = killAtRandom(state, VICTIMS, KILL_EVERY_MS, over.signal);
  let next = 0;
  const lives = async () => {
    while (next < LIVES) {
      const life = next++;
      await (life % 4 === 0 ? replicateOnce : liveOnce)(client, `life-${life}`);
    }
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
    await removeReplicas(client, id);
    await remove(client, `/shares/${id}`);
  }
  const quota = await client.ask('GET', `/quota-sets/${projectId}/detail`);
  for (const resource of [
    'shares',
    'gigabytes',
    'snapshots',
    'snapshot_gigabytes',
    'share_replicas',
    'replica_gigabytes',
  ]) {
    expect({ resource, ...quota.body.quota_set[resource] }).toMatchObject({
      resource,
      in_use: 0,
      reserved: 0,
    });
  }
}, 600_000);
