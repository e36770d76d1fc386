/**
 * A share is moved between two gateways, there and back again, by copying, while the parts that do it are killed. Its
 * files are compared over NFS after every move, and after every one that was given up.
 */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describeHere } from '../../drivers/ganesha/workbench.ts';
import { mountNfs, type NfsMount } from '../../server/local/nfs/client.ts';
import { poll } from '../../server/local/poll.ts';
import { type Stack, startStack } from '../stack.ts';
import { PatientClient } from './client.ts';
import { remove } from './lifecycle.ts';
import { killAtRandom, type Victim } from './victims.ts';

const projectId = 'd1e6';
const MOVES = 9;
const KILL_EVERY_MS = 3_000;
const VICTIMS: readonly Victim[] = ['share', 'data', 'scheduler', 'data', 'flush', 'share', 'api'];
const hosts = ['localhost@ganesha#ganesha', 'localhost@second#ganesha'] as const;
const second = {
  share_driver: 'ganesha',
  share_backend_name: 'second',
  driver_handles_share_servers: 'false',
};

describeHere('a share that moves between gateways', () => {
  let state: string;
  let stack: Stack;
  let admin: PatientClient;
  let id: string;
  const sums = new Map<string, string>();

  beforeAll(async () => {
    state = mkdtempSync(join(tmpdir(), 'shoal-moves-'));
    stack = await startStack('local', {
      state,
      set: [
        'DEFAULT.enabled_share_backends=ganesha,second',
        'DEFAULT.check_hash=true',
        ...Object.entries(second).map(([name, value]) => `second.${name}=${value}`),
      ],
    });
    admin = new PatientClient(stack.base, projectId, 'admin,member,reader');
    const extra_specs = { driver_handles_share_servers: 'False' };
    await admin.ask('POST', '/types', { share_type: { name: 'default', extra_specs } });
    const share = { share_proto: 'NFS', size: 1, scheduler_hints: { only_host: hosts[0] } };
    id = (await admin.ask('POST', '/shares', { share })).body.share.id;
    await shareIs('available');
    const allow_access = { access_type: 'ip', access_to: '127.0.0.1', access_level: 'rw' };
    await act({ allow_access });
    const rules = `/share-access-rules?share_id=${id}`;
    await admin.until(rules, ({ body }) => body.access_list[0]?.state === 'active', 'open');
    await withMount(async (mount) => {
      for (let i = 0; i < 30; i++) {
        const data = randomBytes(200 * 1024 + i).toString('base64');
        await mount.write(`/file${i}`, data);
        sums.set(`/file${i}`, sum(data));
      }
    });
  }, 180_000);

  afterAll(async () => {
    await stack?.stop();
    if (state) rmSync(state, { recursive: true, force: true });
  }, 60_000);

  const sum = (data: string) => createHash('sha256').update(data).digest('hex');
  const act = (action: object) => admin.ask('POST', `/shares/${id}/action`, action);
  const share = async () => (await admin.ask('GET', `/shares/${id}`)).body.share;

  /** Waits for status and task state; a migration that fails is told at once. */
  async function shareIs(status: string, phase: string | null = null): Promise<void> {
    await admin.until(
      `/shares/${id}`,
      ({ body }) => {
        if (body.share.task_state === 'migration_error' && phase !== null)
          throw new Error('the migration failed');
        return body.share.status === status && body.share.task_state === phase;
      },
      `${status} and ${phase}`,
    );
  }

  async function withMount<T>(use: (mount: NfsMount) => Promise<T>): Promise<T> {
    const { body } = await admin.ask('GET', `/shares/${id}/export_locations`);
    const [{ path, metadata }] = body.export_locations;
    const mount = await mountNfs(path, { port: Number(metadata.port) });
    try {
      return await use(mount);
    } finally {
      mount.kill();
    }
  }

  /** The files are what they were, as soon as the gateway serves again. */
  async function compare(): Promise<void> {
    const found = () =>
      withMount(async (mount) => {
        const now = new Map<string, string>();
        for (const file of sums.keys()) now.set(file, sum(await mount.read(file)));
        return now;
      });
    const now = await poll(found, { what: 'the files', withinMs: 60_000 });
    expect([...now]).toEqual([...sums]);
  }

  const start = (host: string) =>
    act({
      migration_start: {
        host,
        force_host_assisted_migration: true,
        preserve_metadata: false,
        preserve_snapshots: false,
        nondisruptive: false,
        writable: false,
      },
    });

  test('takes no writing while it is copied, and does again at the other end', async () => {
    await start(hosts[1]);
    await shareIs('migrating', 'data_copying_completed');
    await expect(withMount((mount) => mount.write('/late', 'x'))).rejects.toThrow(/NFS (EROFS|EACCES|EPERM)/);
    await act({ migration_complete: null });
    await shareIs('available', 'migration_success');
    expect((await share()).host).toBe(hosts[1]);
    await compare();
    await withMount((mount) => mount.write('/late', 'written since'));
    sums.set('/late', sum('written since'));
    const instances = ({ body }: { body: { share_instances: unknown[] } }) =>
      body.share_instances.length === 1;
    await admin.until(`/shares/${id}/instances`, instances, 'without its source');
  }, 120_000);

  test(`keeps its files through ${MOVES} moves while parts are killed`, async () => {
    const over = new AbortController();
    const killing = killAtRandom(state, VICTIMS, KILL_EVERY_MS, over.signal);
    try {
      for (let i = 0; i < MOVES; i++) await move(i % 3 === 2);
    } finally {
      over.abort();
    }
    console.log(`killed: ${JSON.stringify(await killing)}`);
    await remove(admin, `/shares/${id}`);
    const quota = await admin.ask('GET', `/quota-sets/${projectId}/detail`);
    for (const resource of ['shares', 'gigabytes'])
      expect(quota.body.quota_set[resource]).toMatchObject({ in_use: 0, reserved: 0 });
  }, 600_000);

  async function move(isGivenUp: boolean): Promise<void> {
    const { host } = await share();
    const to = host === hosts[0] ? hosts[1] : hosts[0];
    await start(to);
    if (isGivenUp) {
      await sleep(Math.random() * 1_500);
      await act({ migration_cancel: null });
      await shareIs('available', 'migration_cancelled');
    } else {
      await shareIs('migrating', 'data_copying_completed');
      await act({ migration_complete: null });
      await shareIs('available', 'migration_success');
    }
    expect((await share()).host).toBe(isGivenUp ? host : to);
    await compare();
  }
});
