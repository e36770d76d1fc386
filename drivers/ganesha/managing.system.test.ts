/** What the gateway has already and takes under management, what it lets go, and what things are called. */
import { chownSync, existsSync, mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { anyone, failure, someRule, someShare, someSnapshot, soon } from '../conformance.ts';
import type { AccessRule, BackendShare, Driver } from '../driver.ts';
import { allocate, describeHere, type GaneshaBench, ganeshaBench, until } from './workbench.ts';

describeHere('managing what a gateway has', () => {
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

  test('a share that is let go serves on, and is taken back without its clients noticing', async () => {
    const one = await share([someRule('ip', '127.0.0.1')], 3);
    const nfs = await bench.mount(one);
    await nfs.write('/file', 'text');
    const handle = await nfs.open('/file');
    await driver.manage!.unmanageShare(one, soon());
    expect(await nfs.pread(handle, 0, 4)).toBe('text');
    const taken = someShare('ganesha', { exportLocations: one.exportLocations! });
    const { size, exportLocations } = await driver.manage!.share(taken, {}, soon());
    expect({ size, exportLocations }).toEqual({ size: 3, exportLocations: one.exportLocations });
    await nfs.pwrite(handle, 0, 'TEXT');
    expect(await (await bench.mount(one)).read('/file')).toBe('TEXT');
    // another one, even of the first one's id, is apart from it
    await driver.shares.delete(one, soon());
    expect(await nfs.pread(handle, 0, 4)).toBe('TEXT');
    await driver.stop();
    driver = await bench.again();
    await driver.start(soon());
    expect(await driver.shares.ensure({ ...taken, exportLocations }, [anyone], soon())).toBeNull();
    await until(async () => expect(await nfs.pread(handle, 0, 4)).toBe('TEXT'));
    await driver.shares.delete(taken, soon());
    expect(existsSync(bench.inside(taken))).toBe(false);
  });

  test("an operator's directory becomes a share, its files as they were", async () => {
    const directory = join(bench.stateDirectory, 'volumes/unmanaged/old_data');
    mkdirSync(join(directory, 'below'), { recursive: true, mode: 0o750 });
    await allocate(join(directory, 'below/big'), 1500 * 1024 ** 2);
    writeFileSync(join(directory, 'file'), 'text', { mode: 0o604 });
    chownSync(join(directory, 'file'), 1234, 5678);
    utimesSync(join(directory, 'file'), 1, 2);
    const location = [{ path: '127.0.0.1:/shares/old_data', isAdminOnly: false }];
    const taken = someShare('ganesha', { exportLocations: location });
    expect(await failure(driver.manage!.share(taken, { size: '1' }, soon()))).toBe('invalid');
    const { size, exportLocations } = await driver.manage!.share(taken, {}, soon());
    expect(size).toBe(2);
    expect(exportLocations[0]!.path).toBe(location[0]!.path);
    const { mode, uid, gid, mtimeMs } = statSync(join(bench.inside(taken), 'file'));
    expect({ mode: mode & 0o777, uid, gid, mtimeMs }).toEqual({
      mode: 0o604,
      uid: 1234,
      gid: 5678,
      mtimeMs: 2000,
    });
    expect(existsSync(directory)).toBe(false);
    await driver.access.sync(taken, [anyone], soon());
    expect(await (await bench.mount({ exportLocations })).read('/file')).toBe('text');
    await driver.shares.delete(taken, soon());
  });

  test('nothing but what waits in its place can be taken', async () => {
    const one = await share();
    for (const path of [
      one.exportLocations![0]!.path,
      '127.0.0.1:/shares/nothing',
      '127.0.0.1:/shares/../../etc',
      '127.0.0.1:/shares/..',
      '127.0.0.1:/etc',
      '127.0.0.1:/shares/.gone',
      '192.0.2.1:/shares/old_data',
      'old_data',
    ]) {
      const taken = someShare('ganesha', { exportLocations: [{ path, isAdminOnly: false }] });
      expect(await failure(driver.manage!.share(taken, {}, soon()))).toMatch(/^(invalid|notFound)$/);
      expect(existsSync(bench.inside(taken))).toBe(false);
    }
    const other = someSnapshot(await share());
    await driver.snapshots!.create(other, soon());
    await driver.manage!.unmanageSnapshot!(other, soon());
    const taken = { ...someSnapshot(one), providerLocation: `snapshots/${other.id}` };
    expect(await failure(driver.manage!.snapshot!(taken, {}, soon()))).toBe('invalid');
  });

  test('a mount point name is the last part of the export path, once', async () => {
    const named = someShare('ganesha', { mountPointName: 'team_music' });
    const exportLocations = await driver.shares.create(named, soon());
    expect(exportLocations[0]!.path).toBe('127.0.0.1:/shares/team_music');
    await driver.access.sync(named, [anyone], soon());
    await (await bench.mount({ exportLocations })).write('/file', 'text');
    const second = someShare('ganesha', { mountPointName: 'team_music' });
    expect(await failure(driver.shares.create(second, soon()))).toBe('invalid');
    await driver.shares.delete(second, soon());
    for (const mountPointName of ['../x', 'a/b', 'a b', '"'])
      expect(await failure(driver.shares.create(someShare('ganesha', { mountPointName }), soon()))).toBe(
        'invalid',
      );
    await driver.manage!.unmanageShare(named, soon());
    const taken = someShare('ganesha', { exportLocations });
    expect((await driver.manage!.share(taken, {}, soon())).exportLocations).toEqual(exportLocations);
    await driver.shares.delete(taken, soon());
  });
});
