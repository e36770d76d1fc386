/** Share servers as their tenants' clients see them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { anyone, failure, someServer, someShare, someSnapshot, soon } from '../conformance.ts';
import { type BackendShare, type BackendShareServer, type Driver, DriverError } from '../driver.ts';
import { describeHere, type GaneshaBench, ganeshaBench, runAndKill } from './workbench.ts';

describeHere('share servers of the gateway', () => {
  let bench: GaneshaBench;
  let driver: Driver;

  beforeAll(async () => {
    bench = await ganeshaBench({ driver_handles_share_servers: 'true' });
    driver = bench.driver;
    await driver.start(soon());
  }, 60_000);

  afterAll(async () => {
    await driver.stop();
    await bench.close();
  }, 60_000);

  async function server(): Promise<BackendShareServer> {
    const made = someServer(bench.address!(), 1);
    return { ...made, details: await driver.servers!.setup(made, soon()) };
  }

  async function shareOn(on: BackendShareServer): Promise<BackendShare> {
    const made = someShare('ganesha', { server: on });
    const exportLocations = await driver.shares.create(made, soon());
    await driver.access.sync(made, [anyone], soon());
    return { ...made, exportLocations };
  }

  test('serve on their addresses, and are there again when the worker is, on the same port', async () => {
    const [one, two] = [await server(), await server()];
    const [mine, theirs] = [await shareOn(one), await shareOn(two)];
    expect(mine.exportLocations![0]!.path).toBe(`${one.networks[0]!.ports[0]!.ipAddress}:/shares/${mine.id}`);
    const nfs = await bench.mount(mine, { deadline: 30_000 });
    await nfs.write('/file', 'text');
    const handle = await nfs.open('/file');
    await driver.stop();
    driver = await bench.again();
    await driver.start(soon());
    // without anybody's asking
    expect(await nfs.pread(handle, 0, 4)).toBe('text');
    expect(await driver.shares.ensure(mine, [anyone], soon())).toBeNull();
    await driver.shares.delete(theirs, soon());
    await driver.servers!.teardown(two, soon());
    expect(existsSync(join(bench.stateDirectory, 'servers', two.id))).toBe(false);
    expect(await (await bench.mount(mine)).read('/file')).toBe('text');
  });

  test('come back from their details alone, where nothing else is left of them', async () => {
    const one = await server();
    const share = await shareOn(one);
    await driver.servers!.teardown(one, soon());
    await driver.servers!.ensure({ ...one, networks: [] }, soon());
    expect(await driver.shares.ensure(share, [anyone], soon())).toBeNull();
    expect(await (await bench.mount(share)).list('/')).toEqual([]);
    expect(await failure(driver.shares.create(someShare('ganesha'), soon()))).toBe('notFound');
  });

  test('an address that the machine has not is refused, and known for the clean-up', async () => {
    const made = someServer('192.0.2.77', 1);
    const error = await driver.servers!.setup(made, soon()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DriverError);
    expect(error).toMatchObject({ code: 'failed', details: { address: '192.0.2.77' } });
    await driver.servers!.teardown({ ...made, details: { address: '192.0.2.77' } }, soon());
    for (const id of ['../../x', '', 'x'])
      expect(await failure(driver.servers!.setup({ ...made, id }, soon()))).not.toBe('none');
  });
});

describeHere('share servers whose worker is killed', () => {
  test('are taken over, set up and torn down again, and leave nothing', async () => {
    const bench = await ganeshaBench({ driver_handles_share_servers: 'true' });
    const shares = Array.from({ length: 2 }, () =>
      someShare('ganesha', { server: someServer(bench.address!(), 1) }),
    );
    for (const patience of [0, 100, 250, 450, 700]) await runAndKill(bench.stateDirectory, shares, patience);
    const driver = await bench.again();
    await driver.start(soon());
    for (const share of shares) {
      await driver.servers!.setup(share.server!, soon());
      await driver.snapshots!.delete({ ...someSnapshot(share), id: share.shareId }, soon());
      await driver.shares.delete(share, soon());
      const exportLocations = await driver.shares.create(share, soon());
      await driver.access.sync(share, [anyone], soon());
      const nfs = await bench.mount({ exportLocations });
      expect(await nfs.list('/')).toEqual([]);
      await nfs.unmount();
      await driver.shares.delete(share, soon());
      await driver.servers!.teardown(share.server!, soon());
    }
    expect(readdirSync(join(bench.stateDirectory, 'servers'))).toEqual([]);
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
      if (existsSync(`/proc/${pid}/cmdline`))
        expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(`${bench.stateDirectory}/servers`);
    await driver.stop();
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(bench.stateDirectory);
    await bench.close();
  }, 120_000);
});
