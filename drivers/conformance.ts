/**
 * What every driver must do, as one jest suite: `describeDriver('fake', make)`. Whoever writes a back end
 * writes a `make` for it and reads here what the rest of Shoal relies on.
 */
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type AccessRule,
  type BackendShare,
  type BackendShareServer,
  type BackendSnapshot,
  type Driver,
  DriverError,
  type DriverErrorCode,
} from './driver.ts';

/** A driver under test with what the suite needs around it. */
export interface Workbench {
  driver: Driver;
  /** a second driver over the same state, as after a restart of the worker; the suite has stopped the first */
  again(): Promise<Driver>;
  /** makes the share use more than 1 GiB and less than 2, or the next one made do so */
  overfill?(driver: Driver, share: BackendShare): Promise<void>;
  /** real data, seen as a client at 127.0.0.1 sees it; left out where a back end has none */
  data?: {
    write(share: BackendShare, file: string, text: string): Promise<void>;
    /** null: no such file */
    read(share: BackendShare, file: string): Promise<string | null>;
  };
  /** an address for a share server, another one each time; where the driver has share servers */
  address?(): string;
  close(): Promise<void>;
}

export const anyone: AccessRule = {
  id: '00000000-0000-4000-8000-0000000000ff',
  accessType: 'ip',
  accessTo: '0.0.0.0/0',
  accessLevel: 'rw',
};

export function someShare(pool: string, over: Partial<BackendShare> = {}): BackendShare {
  return {
    id: randomUUID(),
    shareId: randomUUID(),
    projectId: 'a1'.repeat(16),
    size: 1,
    protocol: 'NFS',
    pool,
    shareTypeId: null,
    extraSpecs: {},
    metadata: {},
    snapshotSupport: true,
    ...over,
  };
}

/** In a subnet of its own, with so many ports in it. */
export function someServer(address: string, ports: number): BackendShareServer {
  const networkPorts = Array.from({ length: ports }, (_, index) => ({
    id: randomUUID(),
    ipAddress: address.replace(/\d+$/, (last) => String(Number(last) + index)),
    macAddress: null,
  }));
  return {
    id: randomUUID(),
    projectId: 'a1'.repeat(16),
    identifier: null,
    details: {},
    networks: [
      {
        subnetId: randomUUID(),
        neutronNetId: null,
        neutronSubnetId: null,
        networkType: 'flat',
        segmentationId: null,
        cidr: address.replace(/\d+$/, '0/24'),
        gateway: address.replace(/\d+$/, '1'),
        mtu: 1500,
        ipVersion: 4,
        metadata: {},
        ports: networkPorts,
        adminPorts: [],
      },
    ],
    securityServices: [],
  };
}

export function someSnapshot(share: BackendShare): BackendSnapshot {
  return { id: randomUUID(), snapshotId: randomUUID(), share, size: share.size, providerLocation: null };
}

export function someRule(accessType: string, accessTo: string, accessLevel: 'rw' | 'ro' = 'rw'): AccessRule {
  return { id: randomUUID(), accessType, accessTo, accessLevel };
}

/** The code of the DriverError that it fails with; 'none' when it doesn't fail. */
export async function failure(call: Promise<unknown>): Promise<DriverErrorCode | 'none'> {
  try {
    await call;
    return 'none';
  } catch (error) {
    if (error instanceof DriverError) return error.code;
    throw error;
  }
}

/** A deadline far enough for any one call of a test. */
export const soon = (): AbortSignal => AbortSignal.timeout(60_000);

const aborted = (): AbortSignal => AbortSignal.abort(new Error('given up'));

export function describeDriver(name: string, make: () => Promise<Workbench>): void {
  describe(`driver ${name}`, () => {
    let bench: Workbench;
    let driver: Driver;
    let pool: string;
    /** of the share servers that the suite makes, this one is there all the time */
    let server: BackendShareServer | undefined;

    beforeAll(async () => {
      bench = await make();
      driver = bench.driver;
      await driver.start(soon());
      pool = (await driver.stats(soon())).pools[0]!.pool_name;
      server = driver.servers && (await setUp());
    }, 120_000);

    afterAll(async () => {
      await driver.stop();
      await bench.close();
    }, 60_000);

    const fresh = (over: Partial<BackendShare> = {}): BackendShare =>
      someShare(pool, { ...(server && { server }), ...over });

    async function setUp(): Promise<BackendShareServer> {
      const made = someServer(bench.address!(), driver.servers!.ports);
      return { ...made, details: await driver.servers!.setup(made, soon()) };
    }

    const created = async (over: Partial<BackendShare> = {}): Promise<BackendShare> => {
      const share = fresh(over);
      return { ...share, exportLocations: await driver.shares.create(share, soon()) };
    };

    test('reports its capabilities and pools', async () => {
      const stats = await driver.stats(soon());
      expect(stats).toMatchObject({
        share_backend_name: expect.any(String),
        driver_handles_share_servers: expect.any(Boolean),
        vendor_name: expect.any(String),
        driver_version: expect.any(String),
        storage_protocol: expect.any(String),
        snapshot_support: driver.snapshots !== undefined,
        create_share_from_snapshot_support: driver.shares.createFromSnapshot !== undefined,
        revert_to_snapshot_support: driver.revert !== undefined,
        mount_snapshot_support: driver.snapshots?.syncAccess !== undefined,
      });
      expect(stats.pools.length).toBeGreaterThan(0);
      for (const one of stats.pools) {
        expect(one.pool_name).toMatch(/^[^#@]+$/);
        for (const capacity of [one.total_capacity_gb, one.free_capacity_gb])
          expect(typeof capacity === 'number' || capacity === 'unknown' || capacity === 'infinite').toBe(
            true,
          );
        for (const percentage of [
          one.reserved_percentage,
          one.reserved_snapshot_percentage,
          one.reserved_share_extend_percentage,
        ])
          expect(percentage).toEqual(expect.any(Number));
      }
      expect(JSON.parse(JSON.stringify(stats))).toEqual(stats);
    });

    test('creates a share twice as once, with the same export locations', async () => {
      const share = await created();
      expect(share.exportLocations!.some((location) => !location.isAdminOnly)).toBe(true);
      for (const location of share.exportLocations!) expect(location.path).toMatch(/^[^:/]+:\/[^\s]+$/);
      expect(await driver.shares.create(share, soon())).toEqual(share.exportLocations);
    });

    test('deletes a share twice as once, and one that never was', async () => {
      const share = await created();
      await driver.shares.delete(share, soon());
      await driver.shares.delete(share, soon());
      await driver.shares.delete(fresh(), soon());
    });

    test('creates again after a delete', async () => {
      const share = await created();
      await driver.shares.delete(share, soon());
      expect(await driver.shares.create(share, soon())).toHaveLength(share.exportLocations!.length);
    });

    test('creates many shares at once', async () => {
      const shares = await Promise.all(Array.from({ length: 8 }, () => created()));
      expect(new Set(shares.map((share) => share.exportLocations![0]!.path)).size).toBe(8);
      await Promise.all(shares.map((share) => driver.shares.delete(share, soon())));
    });

    test('applies access rules, twice as once, and takes them away', async () => {
      const share = await created();
      const rules = [
        someRule('ip', '10.0.0.0/24'),
        someRule('ip', '10.0.0.7', 'ro'),
        someRule('ip', 'fd00::/64'),
      ];
      for (const given of [rules, rules, rules.slice(1), [], []]) {
        const results = await driver.access.sync(share, given, soon());
        expect([...results.keys()].sort()).toEqual(given.map((rule) => rule.id).sort());
        for (const result of results.values()) expect(result.state).toBe('active');
      }
    });

    test('lets one bad rule be in error, with a reason, and the others work', async () => {
      const share = await created();
      const good = someRule('ip', '192.168.0.0/16');
      const bad = ['user', 'cert', 'cephx'].map((type) => someRule(type, 'alice'));
      const results = await driver.access.sync(share, [bad[0]!, good, bad[1]!, bad[2]!], soon());
      expect(results.get(good.id)!.state).toBe('active');
      for (const rule of bad)
        expect(results.get(rule.id)).toMatchObject({ state: 'error', reason: expect.stringMatching(/\w/) });
    });

    test('extends and shrinks, twice as once', async () => {
      const share = await created();
      for (const size of [3, 3]) await driver.shares.extend(share, size, soon());
      if (driver.shares.shrink === undefined) return;
      for (const size of [2, 2]) await driver.shares.shrink({ ...share, size: 3 }, size, soon());
    });

    test('refuses to shrink below what is used', async () => {
      if (bench.overfill === undefined || driver.shares.shrink === undefined) return;
      const share = await created({ size: 2 });
      await bench.overfill(driver, share);
      expect(await failure(driver.shares.shrink(share, 1, soon()))).toBe('possibleDataLoss');
      await driver.shares.extend(share, 3, soon());
      await driver.shares.delete(share, soon());
    });

    test('serves on after a restart', async () => {
      const share = await created();
      await driver.access.sync(share, [anyone], soon());
      await bench.data?.write(share, 'kept', 'still here');
      await driver.stop();
      driver = await bench.again();
      await driver.start(soon());
      for (const _ of [1, 2]) if (server) await driver.servers!.ensure(server, soon());
      for (const _ of [1, 2]) {
        const locations = await driver.shares.ensure(share, [anyone], soon());
        if (locations !== null) expect(locations).toEqual(share.exportLocations);
      }
      expect(await bench.data?.read(share, 'kept')).toBe(bench.data && 'still here');
      await driver.shares.delete(share, soon());
    }, 60_000);

    test('takes and deletes a snapshot, twice as once', async () => {
      if (driver.snapshots === undefined) return;
      const share = await created();
      const snapshot = someSnapshot(share);
      const first = await driver.snapshots.create(snapshot, soon());
      expect(await driver.snapshots.create(snapshot, soon())).toEqual(first);
      for (const _ of [1, 2]) await driver.snapshots.delete(snapshot, soon());
      await driver.snapshots.delete(someSnapshot(share), soon());
      await driver.shares.delete(share, soon());
    });

    test('opens a snapshot to some, for reading', async () => {
      if (driver.snapshots?.syncAccess === undefined) return;
      const snapshot = someSnapshot(await created());
      const { exportLocations } = await driver.snapshots.create(snapshot, soon());
      expect(exportLocations!.length).toBeGreaterThan(0);
      const rules = [someRule('ip', '10.0.0.0/24', 'ro'), someRule('user', 'alice', 'ro')];
      for (const _ of [1, 2]) {
        const results = await driver.snapshots.syncAccess(snapshot, rules, soon());
        expect(rules.map((rule) => results.get(rule.id)?.state)).toEqual(['active', 'error']);
      }
      await driver.snapshots.delete(snapshot, soon());
    });

    test('makes a share from a snapshot: a copy that goes its own way', async () => {
      if (driver.shares.createFromSnapshot === undefined || driver.snapshots === undefined) return;
      const origin = await created();
      await driver.access.sync(origin, [anyone], soon());
      await bench.data?.write(origin, 'file', 'before');
      const snapshot = someSnapshot(origin);
      await driver.snapshots.create(snapshot, soon());
      await bench.data?.write(origin, 'file', 'after');
      const clone = fresh();
      const locations = await driver.shares.createFromSnapshot(clone, snapshot, soon());
      expect(await driver.shares.createFromSnapshot(clone, snapshot, soon())).toEqual(locations);
      const copy = { ...clone, exportLocations: locations };
      await driver.access.sync(copy, [anyone], soon());
      if (bench.data) {
        expect(await bench.data.read(copy, 'file')).toBe('before');
        await bench.data.write(copy, 'file', 'mine');
        expect(await bench.data.read(origin, 'file')).toBe('after');
        // making it again must not undo what its users did since
        await driver.shares.createFromSnapshot(clone, snapshot, soon());
        expect(await bench.data.read(copy, 'file')).toBe('mine');
      }
      await driver.snapshots.delete(snapshot, soon());
      await driver.shares.delete(origin, soon());
      if (bench.data) expect(await bench.data.read(copy, 'file')).toBe('mine');
      await driver.shares.delete(copy, soon());
    });

    test('reverts to a snapshot, keeping the snapshot and the export', async () => {
      if (driver.revert === undefined || driver.snapshots === undefined) return;
      const share = await created();
      await driver.access.sync(share, [anyone], soon());
      await bench.data?.write(share, 'file', 'before');
      const snapshot = someSnapshot(share);
      await driver.snapshots.create(snapshot, soon());
      for (const _ of [1, 2]) {
        await bench.data?.write(share, 'file', 'after');
        await bench.data?.write(share, 'later', 'unknown to the snapshot');
        await driver.revert.toSnapshot(share, snapshot, [anyone], soon());
        await driver.revert.toSnapshot(share, snapshot, [anyone], soon());
        if (bench.data) {
          expect(await bench.data.read(share, 'file')).toBe('before');
          expect(await bench.data.read(share, 'later')).toBeNull();
        }
      }
      await driver.snapshots.delete(snapshot, soon());
      await driver.shares.delete(share, soon());
    });

    test('lets a share go and takes it back, its contents untouched, twice as once', async () => {
      if (driver.manage === undefined) return;
      const share = await created();
      await driver.access.sync(share, [anyone], soon());
      await bench.data?.write(share, 'file', 'from before');
      for (const _ of [1, 2]) await driver.manage.unmanageShare(share, soon());
      const taken = fresh({ exportLocations: share.exportLocations! });
      const managed = await driver.manage.share(taken, { size: '2' }, soon());
      expect(managed).toMatchObject({ size: expect.any(Number), exportLocations: expect.any(Array) });
      const mine = { ...taken, ...managed };
      expect(await driver.manage.share(taken, { size: '2' }, soon())).toEqual(managed);
      await driver.access.sync(mine, [anyone], soon());
      if (bench.data) {
        expect(await bench.data.read(mine, 'file')).toBe('from before');
        await bench.data.write(mine, 'file', 'from now');
      }
      await driver.shares.delete(mine, soon());
    });

    test('lets a snapshot go and takes it back', async () => {
      const { manage, snapshots } = driver;
      if (manage?.snapshot === undefined || snapshots === undefined) return;
      const share = await created();
      await driver.access.sync(share, [anyone], soon());
      await bench.data?.write(share, 'file', 'then');
      const snapshot = someSnapshot(share);
      const { providerLocation } = await snapshots.create(snapshot, soon());
      await bench.data?.write(share, 'file', 'now');
      for (const _ of [1, 2]) await manage.unmanageSnapshot!(snapshot, soon());
      const taken = { ...someSnapshot(share), providerLocation: providerLocation! };
      const managed = await manage.snapshot(taken, { size: '1' }, soon());
      expect(await manage.snapshot(taken, { size: '1' }, soon())).toEqual(managed);
      expect(managed).toMatchObject({ size: expect.any(Number), providerLocation: expect.any(String) });
      await driver.revert?.toSnapshot(share, taken, [anyone], soon());
      if (bench.data && driver.revert) expect(await bench.data.read(share, 'file')).toBe('then');
      await snapshots.delete({ ...taken, ...managed }, soon());
      await driver.shares.delete(share, soon());
    });

    test('sets share servers up and tears them down, twice as once, each for itself', async () => {
      if (driver.servers === undefined) return;
      const other = await setUp();
      expect(await driver.servers.setup(other, soon())).toEqual(other.details);
      const [mine, theirs] = [await created(), await created({ server: other })];
      expect(mine.exportLocations![0]!.path.split(':')[0]).not.toBe(
        theirs.exportLocations![0]!.path.split(':')[0],
      );
      for (const share of [mine, theirs]) await driver.access.sync(share, [anyone], soon());
      if (bench.data) {
        await bench.data.write(mine, 'file', 'mine');
        await bench.data.write(theirs, 'file', 'theirs');
        expect(await bench.data.read(mine, 'file')).toBe('mine');
        const [at] = theirs.exportLocations!;
        const path = `${at!.path.split(':')[0]}:${mine.exportLocations![0]!.path.split(':')[1]}`;
        await expect(
          bench.data.read({ ...mine, exportLocations: [{ ...at!, path }] }, 'file'),
        ).rejects.toThrow();
      }
      await driver.shares.delete(theirs, soon());
      for (const _ of [1, 2]) await driver.servers.teardown(other, soon());
      await driver.servers.teardown({ ...other, details: {}, networks: [] }, soon());
      if (bench.data) expect(await bench.data.read(mine, 'file')).toBe('mine');
      await driver.shares.delete(mine, soon());
    });

    test('lets a share server go and takes it back', async () => {
      const { servers } = driver;
      if (servers?.manage === undefined || servers.unmanage === undefined) return;
      const old = await setUp();
      const share = await created({ server: old });
      await driver.access.sync(share, [anyone], soon());
      await bench.data?.write(share, 'file', 'kept');
      for (const _ of [1, 2]) await servers.unmanage(old, soon());
      const now = { ...old, id: randomUUID() };
      const managed = await servers.manage(old.identifier ?? old.id, {}, now, soon());
      expect(await servers.manage(old.identifier ?? old.id, {}, now, soon())).toEqual(managed);
      const mine = { ...share, server: { ...now, ...managed } };
      await driver.access.sync(mine, [anyone], soon());
      if (bench.data) expect(await bench.data.read(mine, 'file')).toBe('kept');
      await driver.shares.delete(mine, soon());
      await servers.teardown({ ...now, ...managed }, soon());
    });

    test('moves the shares of a server to another one', async () => {
      const migration = driver.servers?.migration;
      if (migration === undefined) return;
      const [from, to] = [await setUp(), await setUp()];
      const share = await created({ server: from });
      await driver.access.sync(share, [anyone], soon());
      await bench.data?.write(share, 'file', 'moved');
      expect((await migration.check(from, to, [share], soon())).compatible).toBe(true);
      await migration.start(from, to, soon());
      await migration.cancel(from, to, soon());
      if (bench.data) expect(await bench.data.read(share, 'file')).toBe('moved');
      await migration.start(from, to, soon());
      for (let steps = 0; !(await migration.continue(from, to, soon())); steps++)
        expect(steps).toBeLessThan(1000);
      expect(await migration.progress(from, to, soon())).toBeGreaterThanOrEqual(0);
      const locations = await migration.complete(from, to, [share], soon());
      expect(await migration.complete(from, to, [share], soon())).toEqual(locations);
      await driver.servers!.teardown(from, soon());
      const moved = { ...share, server: to, exportLocations: locations.get(share.id)! };
      if (bench.data) expect(await bench.data.read(moved, 'file')).toBe('moved');
      await driver.shares.delete(moved, soon());
      await driver.servers!.teardown(to, soon());
    });

    test('snapshots the shares of a group together, twice as once', async () => {
      const { groups, snapshots } = driver;
      if (groups === undefined) return;
      const group = { id: randomUUID(), projectId: 'a1'.repeat(16), pool, ...(server && { server }) };
      for (const _ of [1, 2]) await groups.create(group, soon());
      const shares = [await created(), await created()];
      for (const share of shares) await driver.access.sync(share, [anyone], soon());
      for (const share of shares) await bench.data?.write(share, 'file', 'then');
      const members = shares.map(someSnapshot);
      const snapshot = { id: randomUUID(), group, members };
      const made = await groups.createSnapshot(snapshot, soon());
      expect([...made.keys()].sort()).toEqual(members.map(({ id }) => id).sort());
      expect(await groups.createSnapshot(snapshot, soon())).toEqual(made);
      for (const share of shares) await bench.data?.write(share, 'file', 'now');
      await driver.revert?.toSnapshot(shares[0]!, members[0]!, [anyone], soon());
      if (bench.data && driver.revert) expect(await bench.data.read(shares[0]!, 'file')).toBe('then');
      for (const _ of [1, 2]) await groups.deleteSnapshot(snapshot, soon());
      // whoever deletes the members one by one finds nothing left
      if (snapshots) for (const member of members) await snapshots.delete(member, soon());
      for (const share of shares) await driver.shares.delete(share, soon());
      for (const _ of [1, 2]) await groups.delete(group, soon());
    });

    test('keeps a replica near to the active one, and puts it in its place', async () => {
      const { replication } = driver;
      if (replication === undefined || driver.snapshots === undefined) return;
      const active = { ...(await created({ size: 2 })), replicaState: 'active' as const };
      await driver.access.sync(active, [anyone], soon());
      await bench.data?.write(active, 'file', 'first');
      const snapshot = someSnapshot(active);
      await driver.snapshots.create(snapshot, soon());
      await bench.data?.write(active, 'file', 'second');
      const second = (await driver.stats(soon())).pools[1]?.pool_name ?? pool;
      const wanted = { ...fresh({ pool: second, size: 2 }), replicaState: null };
      const copied = { ...someSnapshot(wanted), snapshotId: snapshot.snapshotId, source: snapshot };
      const made = await replication.create(wanted, active, [anyone], [copied], soon());
      expect((await replication.create(wanted, active, [anyone], [copied], soon())).exportLocations).toEqual(
        made.exportLocations,
      );
      const replica = { ...wanted, ...made };
      if (bench.data) {
        expect(await bench.data.read(replica, 'file')).toBe('second');
        await expect(bench.data.write(replica, 'file', 'mine')).rejects.toThrow();
        await bench.data.write(active, 'file', 'third');
      }
      for (const _ of [1, 2])
        expect(await replication.update(replica, active, [anyone], [copied], soon())).toBe('in_sync');
      if (bench.data) expect(await bench.data.read(replica, 'file')).toBe('third');

      await bench.data?.write(active, 'file', 'fourth');
      const changes = await replication.promote(replica, [active, replica], [anyone], null, soon());
      expect(changes.find(({ id }) => id === replica.id)?.replicaState).toBe('active');
      if (bench.data) {
        expect(await bench.data.read(replica, 'file')).toBe('fourth');
        await bench.data.write(replica, 'file', 'fifth');
        // doing it again must not undo what its users did since
        await replication.promote(replica, [active, replica], [anyone], null, soon());
        expect(await bench.data.read(replica, 'file')).toBe('fifth');
        await expect(bench.data.write(active, 'file', 'mine')).rejects.toThrow();
      }
      const now = { ...replica, replicaState: 'active' as const };
      const former = { ...active, replicaState: 'in_sync' as const };
      await replication.update(former, now, [anyone], [], soon());
      if (bench.data) expect(await bench.data.read(former, 'file')).toBe('fifth');
      await driver.revert?.toSnapshot(now, copied, [anyone], soon());
      if (bench.data && driver.revert) expect(await bench.data.read(now, 'file')).toBe('first');
      for (const _ of [1, 2]) await replication.delete(former, [snapshot], soon());
      await driver.snapshots.delete(copied, soon());
      await driver.shares.delete(now, soon());
    }, 60_000);

    test('moves a share to another pool, or leaves it where it was', async () => {
      const { migration } = driver;
      const pools = (await driver.stats(soon())).pools;
      if (migration === undefined || pools.length < 2) return;
      const source = await created();
      await driver.access.sync(source, [anyone], soon());
      await bench.data?.write(source, 'file', 'first');
      const destination = fresh({ pool: pools[1]!.pool_name });
      expect((await migration.check(source, destination, soon())).compatible).toBe(true);
      const phase = async (): Promise<void> => {
        for (const _ of [1, 2]) await migration.start(source, destination, soon());
        for (const end = Date.now() + 30_000; !(await migration.continue(source, destination, soon())); )
          expect(Date.now()).toBeLessThan(end);
        expect(await migration.progress(source, destination, soon())).toBe(100);
      };
      await phase();
      for (const _ of [1, 2]) await migration.cancel(source, destination, soon());
      await bench.data?.write(source, 'file', 'second');
      await phase();
      // it serves on meanwhile
      await bench.data?.write(source, 'file', 'third');
      const exportLocations = await migration.complete(source, destination, [anyone], soon());
      const moved = { ...destination, exportLocations };
      if (bench.data) {
        expect(await bench.data.read(moved, 'file')).toBe('third');
        await expect(bench.data.write(source, 'file', 'late')).rejects.toThrow();
        await bench.data.write(moved, 'file', 'fourth');
      }
      expect(await migration.complete(source, destination, [anyone], soon())).toEqual(exportLocations);
      if (bench.data) expect(await bench.data.read(moved, 'file')).toBe('fourth');
      await driver.shares.delete(source, soon());
      await driver.shares.delete(moved, soon());
    }, 60_000);

    test('makes a share in another pool from a snapshot', async () => {
      const pools = (await driver.stats(soon())).pools;
      if (driver.shares.createFromSnapshot === undefined || driver.snapshots === undefined || !pools[1])
        return;
      const origin = await created();
      await driver.access.sync(origin, [anyone], soon());
      await bench.data?.write(origin, 'file', 'before');
      const snapshot = someSnapshot(origin);
      await driver.snapshots.create(snapshot, soon());
      const clone = fresh({ pool: pools[1].pool_name });
      const exportLocations = await driver.shares.createFromSnapshot(clone, snapshot, soon());
      const copy = { ...clone, exportLocations };
      await driver.access.sync(copy, [anyone], soon());
      if (bench.data) expect(await bench.data.read(copy, 'file')).toBe('before');
      await driver.snapshots.delete(snapshot, soon());
      for (const share of [origin, copy]) await driver.shares.delete(share, soon());
    });

    test('opens a share to the data worker, for reading or for writing, twice as once', async () => {
      if (driver.data === undefined) return;
      const share = await created();
      await driver.access.sync(share, [anyone], soon());
      await bench.data?.write(share, 'file', 'from a client');
      for (const mode of ['ro', 'rw', 'ro'] as const) {
        const attachment = await driver.data.attach(share, mode, soon());
        expect(await driver.data.attach(share, mode, soon())).toEqual(attachment);
        if (attachment.kind !== 'directory') continue;
        const file = join(attachment.path, 'file');
        if (bench.data) expect(await readFile(file, 'utf8')).toMatch(/^from/);
        if (mode === 'ro') await expect(writeFile(file, 'no')).rejects.toThrow('EROFS');
        else await writeFile(file, 'from the data worker');
      }
      if (bench.data) expect(await bench.data.read(share, 'file')).toBe('from the data worker');
      for (const _ of [1, 2]) await driver.data.detach(share, soon());
      await driver.data.attach(share, 'rw', soon());
      await driver.shares.delete(share, soon());
      expect(await failure(driver.data.attach(fresh(), 'ro', soon()))).toBe('notFound');
      await driver.data.detach(share, soon());
    });

    test('gives up when told to', async () => {
      const share = await created();
      const snapshot = someSnapshot(share);
      const calls = [
        driver.stats(aborted()),
        driver.shares.create(fresh(), aborted()),
        driver.shares.extend(share, 5, aborted()),
        driver.shares.ensure(share, [], aborted()),
        driver.access.sync(share, [anyone], aborted()),
        driver.snapshots?.create(snapshot, aborted()),
        driver.revert?.toSnapshot(share, snapshot, [], aborted()),
        driver.data?.attach(share, 'ro', aborted()),
        driver.manage?.unmanageShare(share, aborted()),
        driver.servers?.setup(someServer('127.0.0.1', 1), aborted()),
        driver.groups?.createSnapshot(
          { id: randomUUID(), group: { id: randomUUID(), projectId: 'p', pool }, members: [snapshot] },
          aborted(),
        ),
        driver.replication?.delete({ ...share, replicaState: null }, [], aborted()),
        driver.migration?.check(share, fresh(), aborted()),
        driver.shares.delete(share, aborted()),
      ];
      for (const call of calls) if (call) expect(await failure(call)).toBe('timeout');
      await driver.shares.delete(share, soon());
    });
  });
}
