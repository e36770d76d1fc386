/** Snapshots of a group while its members are written to, and copies of shares that are. */
import { randomUUID } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { anyone, someShare, someSnapshot, soon } from '../conformance.ts';
import type { BackendShare, Driver } from '../driver.ts';
import { describeHere, type GaneshaBench, ganeshaBench } from './workbench.ts';

describeHere('shares of the gateway under writing', () => {
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

  async function share(): Promise<BackendShare> {
    const made = someShare('ganesha');
    const exportLocations = await driver.shares.create(made, soon());
    await driver.access.sync(made, [anyone], soon());
    return { ...made, exportLocations };
  }

  test('the snapshots of a group are of one moment', async () => {
    const shares = [await share(), await share(), await share()];
    const mounts = await Promise.all(shares.map((one) => bench.mount(one)));
    const handles = await Promise.all(mounts.map((nfs) => nfs.create('/count')));
    let going = true;
    const writing = (async () => {
      // in this order, each when the one before was answered
      for (let count = 1; going; count++)
        for (const [index, nfs] of mounts.entries())
          await nfs.pwrite(handles[index]!, 0, String(count).padStart(9, '0'));
    })();
    for (let round = 0; round < 5; round++) {
      await sleep(60);
      const members = shares.map(someSnapshot);
      const group = { id: randomUUID(), projectId: 'p', pool: 'ganesha' };
      const snapshot = { id: randomUUID(), group, members };
      await driver.groups!.createSnapshot(snapshot, soon());
      const counts = [];
      for (const member of members) {
        const { exportLocations } = await driver.snapshots!.create(member, soon());
        await driver.snapshots!.syncAccess!(member, [anyone], soon());
        const nfs = await bench.mount({ exportLocations: exportLocations! });
        counts.push(Number(await nfs.read('/count')));
        await nfs.unmount();
      }
      // all of one round, or of two where the moment fell into one
      expect([...counts].sort((a, b) => b - a)).toEqual(counts);
      expect(counts[0]! - counts[2]!).toBeLessThanOrEqual(1);
      expect(counts[2]).toBeGreaterThan(0);
      await driver.groups!.deleteSnapshot(snapshot, soon());
    }
    going = false;
    await writing;
  }, 60_000);

  test('a directory of many files is listed whole, and a file put in the place of another is found', async () => {
    const one = await share();
    const names = Array.from({ length: 3000 }, (_, index) => `file-${String(index).padStart(5, '0')}`);
    for (const name of names) writeFileSync(join(bench.inside(one), name), name);
    const nfs = await bench.mount(one);
    expect(await nfs.list('/')).toEqual(names);
    expect(await nfs.read('/file-00007')).toBe('file-00007');
    const { path } = (await driver.data!.attach(one, 'rw', soon())) as { path: string };
    writeFileSync(join(path, 'new'), 'another');
    renameSync(join(path, 'new'), join(path, 'file-00007'));
    expect(await nfs.read('/file-00007')).toBe('another');
    await driver.data!.detach(one, soon());
  });
});
