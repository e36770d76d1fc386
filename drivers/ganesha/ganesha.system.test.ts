/** The gateway as its clients see it: real NFS over a real server. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NfsError } from '#server/local/nfs/client.ts';
import { anyone, failure, someRule, someShare, someSnapshot, soon } from '../conformance.ts';
import type { AccessRule, BackendShare, Driver } from '../driver.ts';
import { allocate, describeHere, type GaneshaBench, ganeshaBench, runAndKill, until } from './workbench.ts';

const here = (to: string, level: 'rw' | 'ro' = 'rw'): AccessRule => someRule('ip', to, level);

/** The code of the NfsError that it fails with; 'ok' when it doesn't. */
async function outcome(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'ok';
  } catch (error) {
    if (error instanceof NfsError) return error.code;
    throw error;
  }
}

/** The running server or bus, by its configuration. */
function findPid(stateDirectory: string, file: string): number {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    if (!existsSync(`/proc/${pid}/cmdline`)) continue;
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    if (line.includes(join(stateDirectory, file))) return Number(pid);
  }
  throw new Error(`nothing runs with ${file}`);
}

describeHere('the gateway', () => {
  let bench: GaneshaBench;
  let driver: Driver;

  beforeAll(async () => {
    bench = await ganeshaBench();
    driver = bench.driver;
    await driver.start(soon());
  }, 60_000);

  afterAll(async () => {
    await driver.stop();
    await bench.close();
  }, 60_000);

  async function share(rules: AccessRule[] = [anyone], size = 1): Promise<BackendShare> {
    const made = someShare('ganesha', { size });
    const exportLocations = await driver.shares.create(made, soon());
    await driver.access.sync(made, rules, soon());
    return { ...made, exportLocations };
  }

  const pidOf = (file: string): number => findPid(bench.stateDirectory, file);

  test('opens a share to nobody at first', async () => {
    const closed = await share([]);
    expect(await outcome(bench.mount(closed))).not.toBe('ok');
  });

  test('changes access at once, without a restart, for those who have it mounted', async () => {
    const before = pidOf('ganesha.conf');
    const one = await share();
    const nfs = await bench.mount(one);
    await nfs.write('/file', 'text');
    const handle = await nfs.open('/file');

    await driver.access.sync(one, [here('127.0.0.1', 'ro')], soon());
    expect(await outcome(nfs.write('/other', 'x'))).toBe('EROFS');
    expect(await outcome(nfs.pwrite(handle, 0, 'x'))).toBe('EROFS');
    expect(await nfs.pread(handle, 0, 4)).toBe('text');

    await driver.access.sync(one, [here('192.0.2.0/24')], soon());
    expect(await outcome(nfs.pread(handle, 0, 4))).toBe('EACCES');
    expect(await outcome(bench.mount(one))).not.toBe('ok');

    await driver.access.sync(one, [here('127.0.0.1')], soon());
    await nfs.pwrite(handle, 0, 'TEXT');
    expect(await (await bench.mount(one)).read('/file')).toBe('TEXT');
    expect(pidOf('ganesha.conf')).toBe(before);
  });

  test.each([
    [[here('127.0.0.0/8'), here('127.0.0.1', 'ro')], 'EROFS'],
    [[here('127.0.0.0/8', 'ro'), here('127.0.0.1')], 'ok'],
    [[here('127.0.0.1/32', 'ro'), here('127.0.0.1')], 'EROFS'],
    [[here('0.0.0.0/0', 'ro'), here('127.0.0.0/8')], 'ok'],
    [[here('0.0.0.0/0')], 'ok'],
    [[here('127.0.0.1'), here('::/0', 'ro'), here('fd00::/64', 'ro')], 'ok'],
    [[here('0.0.0.0')], 'no mount'],
    [[here('::/0')], 'no mount'],
    [[here('fd00::/64'), here('::1')], 'no mount'],
  ])('the more specific rule holds (%#)', async (rules, expected) => {
    const one = await share(rules);
    const nfs = await bench.mount(one).catch(() => null);
    expect(nfs === null ? 'no mount' : await outcome(nfs.write('/file', 'x'))).toBe(expected);
    await driver.shares.delete(one, soon());
  });

  test('holds a share to its size, and lets go when it is extended', async () => {
    const one = await share();
    const MiB = 1024 ** 2;
    await allocate(join(bench.inside(one), 'filling'), 1023 * MiB);
    const nfs = await bench.mount(one);
    const handle = await nfs.create('/more');
    expect(['EDQUOT', 'ENOSPC']).toContain(await outcome(fill(3)));
    await driver.shares.extend(one, 2, soon());
    expect(await outcome(fill(3))).toBe('ok');
    expect(await failure(driver.shares.shrink!({ ...one, size: 2 }, 1, soon()))).toBe('possibleDataLoss');
    expect(await outcome(fill(6))).toBe('ok');
    // a full share can be emptied
    await nfs.call('unlink', '/filling');
    await driver.shares.shrink!({ ...one, size: 2 }, 1, soon());
    await driver.shares.delete(one, soon());

    async function fill(megabytes: number): Promise<void> {
      for (let done = 0; done < megabytes; done++) await nfs.pwrite(handle, done * MiB, Buffer.alloc(MiB, 1));
    }
  });

  test('refuses what it has no room for', async () => {
    const { pools } = await driver.stats(soon());
    const room = Math.ceil(pools[0]!.free_capacity_gb as number);
    expect(await failure(driver.shares.create(someShare('ganesha', { size: room + 1 }), soon()))).toBe(
      'noSpace',
    );
    const one = await share([], 5);
    const after = (await driver.stats(soon())).pools[0]!;
    expect(after.free_capacity_gb as number).toBeLessThan(room - 4);
    expect(after.provisioned_capacity_gb).toBeGreaterThanOrEqual(5);
    expect(await failure(driver.shares.extend(one, room + 5, soon()))).toBe('noSpace');
    await driver.shares.delete(one, soon());
  });

  test('one share changes and goes while a file of another stays open', async () => {
    const [a, b] = [await share(), await share()];
    const [nfsA, nfsB] = [await bench.mount(a), await bench.mount(b)];
    await nfsA.write('/file', 'mine');
    await nfsB.write('/file', 'theirs');
    const [openA, openB] = [await nfsA.open('/file'), await nfsB.open('/file')];
    await driver.access.sync(b, [here('192.0.2.1')], soon());
    expect(await nfsA.pread(openA, 0, 4)).toBe('mine');
    await driver.access.sync(b, [anyone], soon());
    expect(await nfsB.pread(openB, 0, 6)).toBe('theirs');
    await driver.shares.delete(b, soon());
    await nfsA.pwrite(openA, 0, 'MINE');
    expect(await nfsA.pread(openA, 0, 4)).toBe('MINE');
    expect(await outcome(nfsB.pread(openB, 0, 6))).not.toBe('ok');
    expect(existsSync(bench.inside(b))).toBe(false);
  });

  test.each(['ganesha.conf', 'bus.conf'])(
    'comes back when the process of %s is killed, with the same handles',
    async (file) => {
      const one = await share();
      const nfs = await bench.mount(one, { deadline: 20_000 });
      await nfs.write('/file', 'text');
      const handle = await nfs.open('/file');
      const pid = pidOf(file);
      process.kill(pid, 'SIGKILL');
      // a change asked for meanwhile waits for the server
      await driver.access.sync(one, [here('127.0.0.1'), here('192.0.2.0/24')], soon());
      await until(async () => expect(pidOf(file)).not.toBe(pid));
      await until(async () => expect(await nfs.pread(handle, 0, 4)).toBe('text'));
      await nfs.pwrite(handle, 0, 'TEXT');
      expect(await (await bench.mount(one)).read('/file')).toBe('TEXT');
    },
  );

  test('goes on with the same handles after an orderly restart, on another loop device', async () => {
    const one = await share();
    const nfs = await bench.mount(one, { deadline: 30_000 });
    await nfs.write('/file', 'text');
    const handle = await nfs.open('/file');
    await driver.stop();
    const image = join(bench.stateDirectory, 'other');
    await allocate(image, 1024 ** 2);
    const device = execFileSync('losetup', ['--find', '--show', image], { encoding: 'utf8' }).trim();
    try {
      driver = await bench.again();
      await driver.start(soon());
      await until(async () => expect(await nfs.pread(handle, 0, 4)).toBe('text'));
    } finally {
      execFileSync('losetup', ['--detach', device]);
    }
  });

  test('exports a snapshot to some, for reading only', async () => {
    const one = await share();
    await (await bench.mount(one)).write('/file', 'before');
    const snapshot = someSnapshot(one);
    const { exportLocations } = await driver.snapshots!.create(snapshot, soon());
    await (await bench.mount(one)).write('/file', 'after');
    expect(await outcome(bench.mount({ exportLocations }))).not.toBe('ok');
    await driver.snapshots!.syncAccess!(snapshot, [here('127.0.0.1', 'rw')], soon());
    const nfs = await bench.mount({ exportLocations });
    expect(await nfs.read('/file')).toBe('before');
    expect(await outcome(nfs.write('/file', 'x'))).toBe('EROFS');
    await driver.snapshots!.syncAccess!(snapshot, [], soon());
    expect(await outcome(bench.mount({ exportLocations }))).not.toBe('ok');
    await driver.snapshots!.delete(snapshot, soon());
  });

  test('reverts under the feet of clients: the mount and open files go on', async () => {
    const one = await share();
    const nfs = await bench.mount(one);
    await nfs.write('/file', 'before');
    await nfs.call('mkdir', '/dir');
    await nfs.write('/dir/gone', 'here');
    const handle = await nfs.open('/file');
    const snapshot = someSnapshot(one);
    await driver.snapshots!.create(snapshot, soon());
    await nfs.pwrite(handle, 0, 'AFTER and longer');
    await nfs.call('unlink', '/dir/gone');
    await nfs.write('/added', 'x');
    // to its brim, so that there is no room left for a copy
    await allocate(join(bench.inside(one), 'filling'), 1023 * 1024 ** 2);

    await driver.revert!.toSnapshot(one, snapshot, [anyone], soon());
    expect(await nfs.list('/')).toEqual(['dir', 'file']);
    expect(await nfs.list('/dir')).toEqual(['gone']);
    expect(await nfs.pread(handle, 0, 100)).toBe('before');
    await nfs.pwrite(handle, 0, 'BEFORE');
    expect(await nfs.read('/file')).toBe('BEFORE');
    await driver.shares.shrink!({ ...one, size: 2 }, 1, soon());
  });

  test('no id leads out of its place', async () => {
    for (const id of [
      '../../etc',
      'a/b',
      '',
      '.',
      'x"\n}',
      `${someShare('p').id}\n`,
      someShare('p').id.toUpperCase(),
    ]) {
      const bad = { ...someShare('ganesha'), id };
      expect(await failure(driver.shares.create(bad, soon()))).toBe('invalid');
      expect(await failure(driver.shares.delete(bad, soon()))).toBe('invalid');
      expect(await failure(driver.access.sync(bad, [], soon()))).toBe('invalid');
      expect(await failure(driver.snapshots!.create({ ...someSnapshot(bad) }, soon()))).toBe('invalid');
      expect(await failure(driver.snapshots!.delete({ ...someSnapshot(bad), id }, soon()))).toBe('invalid');
    }
  });

  test('a share that is nowhere is missing, not made', async () => {
    const never = someShare('ganesha');
    expect(await failure(driver.shares.ensure(never, [anyone], soon()))).toBe('notFound');
    expect(await failure(driver.access.sync(never, [anyone], soon()))).toBe('notFound');
    expect(await failure(driver.shares.extend(never, 2, soon()))).toBe('notFound');
    expect(await failure(driver.snapshots!.create(someSnapshot(never), soon()))).toBe('notFound');
    expect(await failure(driver.shares.createFromSnapshot!(never, someSnapshot(never), soon()))).toBe(
      'notFound',
    );
    expect(await failure(driver.shares.create(someShare('ganesha', { protocol: 'CIFS' }), soon()))).toBe(
      'unsupported',
    );
  });

  test('a second worker is kept from the same directory', async () => {
    const second = await bench.again();
    await expect(second.start(AbortSignal.timeout(300))).rejects.toThrow('another worker');
    expect(pidOf('ganesha.conf')).toBeGreaterThan(0);
  });
});

describeHere('a gateway whose worker is killed', () => {
  test('is taken over running, and what was half done can be done again', async () => {
    const bench = await ganeshaBench();
    const shares = Array.from({ length: 3 }, () => someShare('ganesha'));
    const servers = new Set<number>();
    for (const patience of [0, 30, 80, 150, 230]) {
      await runAndKill(bench.stateDirectory, shares, patience);
      servers.add(findPid(bench.stateDirectory, 'ganesha.conf'));
    }
    const driver = await bench.again();
    await driver.start(soon());
    servers.add(findPid(bench.stateDirectory, 'ganesha.conf'));
    expect(servers.size).toBe(1);
    for (const share of shares) {
      const snapshot = { ...someSnapshot(share), id: share.shareId };
      await driver.snapshots!.delete(snapshot, soon());
      await driver.shares.delete(share, soon());
      const exportLocations = await driver.shares.create(share, soon());
      await driver.access.sync(share, [anyone], soon());
      const nfs = await bench.mount({ exportLocations });
      expect(await nfs.list('/')).toEqual([]);
      await nfs.write('/file', 'text');
      await nfs.unmount();
    }
    await driver.stop();
    expect(() => findPid(bench.stateDirectory, 'ganesha.conf')).toThrow('nothing runs');
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(bench.stateDirectory);
    await bench.close();
  }, 120_000);
});
