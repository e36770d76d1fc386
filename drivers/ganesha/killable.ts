/** For tests: a worker that makes, changes and deletes shares until it is killed. */
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
  options: { ganesha_data_size: '20' },
  stateDirectory,
  log() {},
});
await driver.start(soon());
process.stdout.write('ready\n');

async function live(share: BackendShare): Promise<void> {
  const snapshot = { id: share.shareId, snapshotId: share.shareId, share, size: 1, providerLocation: null };
  const group = { id: share.id, projectId: share.projectId, pool: share.pool };
  // what the one that was killed had just let go
  const path = `127.0.0.1:/shares/${share.id}`;
  await driver
    .manage!.share({ ...share, exportLocations: [{ path, isAdminOnly: false }] }, {}, soon())
    .catch(() => {});
  for (;;) {
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
  }
}

await Promise.all(shares.map(live));
