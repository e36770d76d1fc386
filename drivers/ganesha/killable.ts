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
  for (;;) {
    await driver.shares.create(share, soon());
    await driver.access.sync(share, [anyone], soon());
    await driver.snapshots!.create(snapshot, soon());
    await driver.revert!.toSnapshot(share, snapshot, [anyone], soon());
    await driver.snapshots!.delete(snapshot, soon());
    await driver.shares.delete(share, soon());
  }
}

await Promise.all(shares.map(live));
