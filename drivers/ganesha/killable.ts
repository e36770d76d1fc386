/** For tests: a worker that makes, changes and deletes shares, on share servers where they have such, until it is killed. */
import { anyone, soon } from '../conformance.ts';
import type { BackendShare } from '../driver.ts';
import { createDriver } from '../index.ts';

const { stateDirectory, shares } = JSON.parse(process.argv[2]!) as {
  stateDirectory: string;
  shares: BackendShare[];
};

const driver = await createDriver('ganesha', {
  backend: 'nfs',
  host: 'testhost@nfs',
  options: {
    ganesha_data_size: '20',
    driver_handles_share_servers: String(shares.some(({ server }) => server !== undefined)),
  },
  stateDirectory,
  log() {},
});
await driver.start(soon());
process.stdout.write('ready\n');

async function live(share: BackendShare): Promise<void> {
  const snapshot = { id: share.shareId, snapshotId: share.shareId, share, size: 1, providerLocation: null };
  const group = { id: share.id, projectId: share.projectId, pool: share.pool };
  // what the one that was killed had just let go
  const { server } = share;
  const address = server?.networks[0]?.ports[0]?.ipAddress ?? '127.0.0.1';
  if (server) await driver.servers!.setup(server, soon());
  const path = `${address}:/shares/${share.id}`;
  await driver
    .manage!.share({ ...share, exportLocations: [{ path, isAdminOnly: false }] }, {}, soon())
    .catch(() => {});
  await driver.manage!.snapshot!(
    { ...snapshot, providerLocation: `snapshots/${snapshot.id}` },
    {},
    soon(),
  ).catch(() => {});
  for (;;) {
    if (server) await driver.servers!.setup(server, soon());
    await driver.snapshots!.delete(snapshot, soon());
    const exportLocations = await driver.shares.create(share, soon());
    await driver.access.sync(share, [anyone], soon());
    await driver.groups!.createSnapshot({ id: share.id, group, members: [snapshot] }, soon());
    await driver.revert!.toSnapshot(share, snapshot, [anyone], soon());
    await driver.data!.attach(share, 'rw', soon());
    await driver.manage!.unmanageSnapshot!(snapshot, soon());
    await driver.manage!.snapshot!({ ...snapshot, providerLocation: `snapshots/${snapshot.id}` }, {}, soon());
    await driver.manage!.unmanageShare(share, soon());
    await driver.manage!.share({ ...share, exportLocations }, {}, soon());
    await driver.shares.delete(share, soon());
    if (server) await driver.servers!.teardown(server, soon());
  }
}

await Promise.all(shares.map(live));
