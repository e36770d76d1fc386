/**
 * A share's whole life by `openstack share`, against the service that `make run` starts, with its data looked at
 * over NFS at every step.
 */
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allocate, describeHere } from '../../drivers/ganesha/workbench.ts';
import { mountNfs, type NfsMount } from '../../server/local/nfs/client.ts';
import { poll } from '../../server/local/poll.ts';
import { local } from '../../server/local/profiles/local.ts';
import { type Stack, startStack } from '../../server/local/stack.ts';
import { clientEnvironment, OpenStackClient } from './openstack.ts';

interface Share {
  id: string;
  status: string;
  size: number;
}

interface Location {
  path: string;
  properties: { port: string };
}

const project = 'c11e47';
const say = (line: string) => void process.stderr.write(`${line}\n`);

describeHere('openstack share', () => {
  let state: string;
  let stack: Stack;
  let member: OpenStackClient;
  let admin: OpenStackClient;
  /** the share of all these tests, mounted since it could be */
  let mine: Share;
  let mount: NfsMount;
  const locations = new Map<string, Location>();

  beforeAll(async () => {
    const environment = await clientEnvironment(say);
    state = await mkdtemp(join(tmpdir(), 'shoal-clients-'));
    stack = await startStack({ profile: local, port: 0, stateDirectory: state, say: () => {} });
    member = new OpenStackClient(environment, stack.url, {
      name: 'ann',
      project,
      roles: ['member', 'reader'],
    });
    admin = new OpenStackClient(environment, stack.url, {
      name: 'root',
      project,
      roles: ['admin', 'member', 'reader'],
    });
  }, 960_000);

  afterAll(async () => {
    mount?.kill();
    await stack?.stop();
    if (state) await rm(state, { recursive: true, force: true });
  }, 60_000);

  const step = (name: string, work: () => Promise<void>) => test(name, work, 180_000);

  step('an admin makes the default share type', async () => {
    await admin.run(
      ...['share', 'type', 'create', 'default', 'false'],
      ...['--snapshot-support', 'true', '--create-share-from-snapshot-support', 'true'],
      ...['--revert-to-snapshot-support', 'true'],
    );
    const [type] = await member.json<Record<string, unknown>[]>('share', 'type', 'list');
    expect(type).toMatchObject({ Name: 'default', 'Is Default': true });
  });

  step('a share is created, and nobody may mount it yet', async () => {
    mine = await member.json<Share>('share', 'create', 'NFS', '1', '--name', 'mine', '--wait');
    expect(mine).toMatchObject({ status: 'available', size: 1 });
    await expect(mountOf('mine')).rejects.toThrow(/NFS (EACCES|ENOENT|EPERM)/);
  });

  step('an address gets access: the share is written and read', async () => {
    const rule = await member.json<{ state: string }>(
      ...['share', 'access', 'create', 'mine', 'ip', '127.0.0.1', '--wait'],
    );
    expect(rule.state).toBe('active');
    mount = await mountOf('mine');
    await mount.write('/letter', 'first words');
    expect(await mount.read('/letter')).toBe('first words');
  });

  step('it grows under the open mount', async () => {
    await member.run('share', 'resize', 'mine', '3', '--wait');
    expect(await shown('mine')).toMatchObject({ status: 'available', size: 3 });
    expect(await mount.read('/letter')).toBe('first words');
  });

  step('a snapshot keeps what there was', async () => {
    await member.run('share', 'snapshot', 'create', 'mine', '--name', 'before', '--wait');
    await mount.write('/letter', 'second thoughts');
    await mount.write('/later', 'more');
    expect(await mount.list()).toEqual(expect.arrayContaining(['letter', 'later']));
  });

  step('a clone has the data of the snapshot and is apart from its source', async () => {
    const from = ['--snapshot-id', 'before', '--name', 'clone', '--wait'];
    const clone = await member.json<Share>('share', 'create', 'NFS', '3', ...from);
    expect(clone).toMatchObject({ status: 'available', size: 3 });
    await member.run('share', 'access', 'create', 'clone', 'ip', '127.0.0.1', '--wait');
    const cloned = await mountOf('clone');
    try {
      expect(await cloned.read('/letter')).toBe('first words');
      expect(await cloned.list()).not.toContain('later');
      await cloned.write('/letter', 'of the clone');
    } finally {
      cloned.kill();
    }
    expect(await mount.read('/letter')).toBe('second thoughts');
  });

  step('reverted, the share is as it was', async () => {
    await member.run('share', 'revert', 'before', '--wait');
    await mountAgain();
    expect(await mount.read('/letter')).toBe('first words');
    expect(await mount.list()).not.toContain('later');
    await mount.write('/letter', 'third time');
    expect(await mount.read('/letter')).toBe('third time');
  });

  step('with a snapshot it can’t be deleted; without, clone and all, the data stays', async () => {
    expect(await member.refusal('share', 'delete', 'mine')).toContain('HTTP 403');
    await member.run('share', 'delete', 'clone', '--wait');
    await member.run('share', 'snapshot', 'delete', 'before', '--wait');
    expect(await member.json('share', 'snapshot', 'list')).toEqual([]);
    await mountAgain();
    expect(await mount.read('/letter')).toBe('third time');
  });

  step('a shrink below what is used touches nothing and says why', async () => {
    const instance = (await locationOf('mine')).path.split('/').at(-1)!;
    // Behind the server's back, as a GiB over NFS in user space takes minutes.
    const kept = ['volumes/shares', 'data/plain/shares'].map((path) =>
      join(state, 'state/ganesha', path, instance),
    );
    await allocate(join(kept.find(existsSync)!, 'filling'), 1200 * 2 ** 20);
    await member.run('share', 'resize', 'mine', '1'); // with --wait, the client would wait for ever
    const shrunk = async () => {
      const share = await shown('mine');
      return share.status !== 'shrinking' && share;
    };
    expect(await poll(shrunk, { what: 'the shrink', withinMs: 60_000 })).toMatchObject({
      status: 'shrinking_possible_data_loss_error',
      size: 3,
    });
    await mountAgain();
    expect(await mount.read('/letter')).toBe('third time');
    const messages = await member.json<object[]>('share', 'message', 'list', '--resource-id', mine.id);
    expect(messages).toMatchObject([{ 'Resource Type': 'SHARE', 'Resource ID': mine.id }]);
  });

  step('it shrinks once there is room', async () => {
    await mountAgain();
    await mount.call('unlink', '/filling');
    await admin.run('share', 'set', mine.id, '--status', 'available');
    await member.run('share', 'resize', 'mine', '1', '--wait');
    expect(await shown('mine')).toMatchObject({ status: 'available', size: 1 });
    expect(await mount.read('/letter')).toBe('third time');
  });

  step('a backup brings back what was lost', async () => {
    await mountAgain();
    const options = ['--backup-options', 'any=thing'];
    await member.run('share', 'backup', 'create', 'mine', '--name', 'safe', ...options);
    expect(await backedUp('safe')).toMatchObject({ status: 'available', progress: '100', size: 1 });
    await mountAgain();
    await mount.write('/letter', 'spoiled');
    await mount.write('/later', 'to go');
    await member.run('share', 'backup', 'restore', 'safe', '--wait');
    expect(await shown('mine')).toMatchObject({ status: 'available' });
    await mountAgain();
    expect(await mount.read('/letter')).toBe('third time');
    expect(await mount.list()).not.toContain('later');
  });

  step('and brings it to another share, until it is deleted', async () => {
    await member.run('share', 'create', 'NFS', '1', '--name', 'other', '--wait');
    await member.run('share', 'access', 'create', 'other', 'ip', '127.0.0.1', '--wait');
    await member.run('share', 'backup', 'restore', 'safe', '--target-share', 'other', '--wait');
    const other = await mountOf('other');
    try {
      expect(await other.read('/letter')).toBe('third time');
    } finally {
      other.kill();
    }
    await member.run('share', 'delete', 'other', '--wait');
    expect(await member.refusal('share', 'delete', 'mine')).toContain('HTTP 403');
    await member.run('share', 'backup', 'delete', 'safe', '--wait');
    expect(await member.json('share', 'backup', 'list')).toEqual([]);
    expect(readdirSync(join(state, 'backups'))).toEqual([]);
  });

  step('access ends for those who had it', async () => {
    await mountAgain();
    const [rule] = await member.json<{ ID: string }[]>('share', 'access', 'list', 'mine');
    await member.run('share', 'access', 'delete', 'mine', rule!.ID, '--wait');
    expect(await member.json('share', 'access', 'list', 'mine')).toEqual([]);
    await expect(mount.read('/letter')).rejects.toThrow('NFS');
    await expect(mountOf('mine')).rejects.toThrow(/NFS (EACCES|ENOENT|EPERM)/);
  });

  step('manilaclient lists what there is', async () => {
    expect(await admin.script('lists.py')).toMatchObject({
      pools: ['localhost@ganesha#ganesha'],
      services: ['manila-data', 'manila-scheduler', 'manila-share'],
      zones: ['nova'],
      types: { default: { driver_handles_share_servers: 'False', snapshot_support: 'True' } },
      shares: ['mine'],
      instances: 1,
      snapshots: [],
      messages: ['SHARE'],
      quota: 50,
      limits: { totalSharesUsed: 1, totalShareGigabytesUsed: 1, totalShareSnapshotsUsed: 0 },
    });
  });

  step('deleted, it is gone', async () => {
    await member.run('share', 'delete', 'mine', '--wait');
    expect(await member.json('share', 'list')).toEqual([]);
    expect(await member.refusal('share', 'show', 'mine')).toContain("No share with a name or ID of 'mine'");
    const limits = await member.json<{ Name: string; Value: number }[]>(
      'share',
      'limits',
      'show',
      '--absolute',
    );
    expect(limits).toContainEqual({ Name: 'totalShareGigabytesUsed', Value: 0 });
  });

  async function shown(name: string): Promise<Share> {
    return member.json<Share>('share', 'show', name);
  }

  /** A backup, once it has ended. */
  async function backedUp(name: string): Promise<{ status: string }> {
    const ended = async () => {
      const backup = await member.json<{ status: string }>('share', 'backup', 'show', name);
      return backup.status !== 'creating' && backup;
    };
    return poll(ended, { what: 'the backup', withinMs: 60_000 });
  }

  /** Where a share is mounted from; asked for once. */
  async function locationOf(name: string): Promise<Location> {
    const known = locations.get(name);
    if (known) return known;
    const of = ['share', 'export', 'location'];
    const [first] = await member.json<{ ID: string }[]>(...of, 'list', name);
    const location = await member.json<Location>(...of, 'show', name, first!.ID);
    locations.set(name, location);
    return location;
  }

  async function mountOf(name: string): Promise<NfsMount> {
    const { path, properties } = await locationOf(name);
    return mountNfs(path, { port: Number(properties.port) });
  }

  /** A new mount: after a revert, or when the old one was left alone for longer than its lease. */
  async function mountAgain(): Promise<void> {
    mount.kill();
    mount = await mountOf('mine');
  }
});
