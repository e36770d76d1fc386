/**
 * Replicas in other pools of the back end: copies that can be read, brought up to date whenever they are looked
 * at. A copy is of one moment of the active replica, and takes over file by file.
 */
import type { ReplicaSnapshot } from '#domain/backend.ts';
import { type BackendReplica, DriverError, type ReplicaChange, type Replication } from '../driver.ts';
import { accessList } from './accessList.ts';
import { giveUpIf } from './command.ts';
import { assertThere, type Gateway, type Home } from './gateway.ts';
import { GiB } from './settings.ts';

export function gatewayReplication(gateway: Gateway): Replication {
  const { exclusively } = gateway;
  return {
    create: async (replica, active, rules, snapshots, signal) => {
      const home = gateway.share(replica);
      if (!gateway.isOurs(active))
        throw new DriverError('unsupported', 'this back end has replicas of its own shares only');
      return exclusively([replica.id, active.id], signal, async () => {
        giveUpIf(signal, 'the creation');
        await assertThere(gateway.share(active));
        if (!(await home.storage.exists(home.volume)))
          await gateway.assertRoom(home.storage, replica.size * GiB);
        await home.storage.create(replica.id, replica.size * GiB, signal);
        await refresh(gateway, replica, active, snapshots, signal);
        await gateway.publish(home, { blocks: accessList(rules).blocks, readOnly: true }, signal);
        return { exportLocations: gateway.locations(home), replicaState: 'in_sync' as const };
      });
    },

    delete: async (replica, snapshots, signal) => {
      const homes = [...snapshots.map((snapshot) => gateway.snapshot(snapshot)), gateway.share(replica)];
      const ids = homes.map(({ volume }) => volume.id);
      await exclusively(ids, signal, async () => {
        for (const home of homes) {
          giveUpIf(signal, 'the delete');
          await gateway.withdraw(home, signal);
          await home.storage.remove(home.volume, signal);
        }
      });
    },

    promote: async (replica, all, rules, _quiesceSeconds, signal) => {
      const ids = all.map(({ id }) => id);
      return exclusively(ids, signal, () => promote(gateway, replica, all, rules, signal));
    },

    update: async (replica, active, rules, snapshots, signal) =>
      exclusively([replica.id, active.id], signal, async () => {
        giveUpIf(signal, 'the update');
        const home = gateway.share(replica);
        await assertThere(home);
        // nobody writes while files come in
        await gateway.publish(home, { blocks: accessList(rules).blocks, readOnly: true }, signal);
        await refresh(gateway, replica, active, snapshots, signal);
        return 'in_sync' as const;
      }),
  };
}

async function refresh(
  gateway: Gateway,
  replica: BackendReplica,
  active: BackendReplica,
  snapshots: readonly ReplicaSnapshot[],
  signal: AbortSignal,
): Promise<void> {
  const home = gateway.share(replica);
  for (const snapshot of snapshots) {
    const source = gateway.snapshot(snapshot.source);
    if (await home.storage.exists(gateway.snapshot(snapshot).volume)) continue;
    await assertThere(source);
    const from = source.storage.directory(source.volume);
    await home.storage.receiveSnapshot(replica.id, snapshot.id, from, signal);
  }
  await copy(gateway.share(active), home, active.size, signal);
}

/** Makes `to` what `from` is at this moment. */
export async function copy(from: Home, to: Home, gib: number, signal: AbortSignal): Promise<void> {
  await assertThere(from);
  const as = to.volume.id;
  const frozen = await from.storage.freeze(from.volume.id, as, signal);
  try {
    await to.storage.fill(to.volume.id, frozen, gib * GiB, signal);
  } finally {
    await from.storage.thaw(as, AbortSignal.timeout(30_000));
  }
}

/**
 * The active one takes no more writing, its last state is copied, then the other one is opened for writing. That
 * takes no waiting for quiet, so the seconds allowed for it aren't used. An active one that is lost is no obstacle.
 */
async function promote(
  gateway: Gateway,
  replica: BackendReplica,
  all: readonly BackendReplica[],
  rules: Parameters<Replication['promote']>[2],
  signal: AbortSignal,
): Promise<ReplicaChange[]> {
  giveUpIf(signal, 'the promotion');
  const home = gateway.share(replica);
  await assertThere(home);
  const active = all.find(({ id, replicaState }) => replicaState === 'active' && id !== replica.id);
  const old = active && gateway.share(active);
  const found = old !== undefined && (await old.storage.exists(old.volume));
  // promoted already, by a run that was killed: what its clients wrote since is not to be lost
  const promoted = home.serving?.record(replica.id)?.readOnly === false;
  if (found && !promoted) {
    await gateway.publish(old, { readOnly: true }, signal);
    try {
      await copy(old, home, active!.size, signal);
    } catch (error) {
      await gateway.publish(old, { readOnly: false }, AbortSignal.timeout(10_000));
      throw error;
    }
  }
  const { blocks } = accessList(rules);
  await gateway.publish(home, { blocks, readOnly: false }, signal);
  return all.map(({ id, replicaState }) => {
    if (id === replica.id) return { id, replicaState: 'active' };
    if (id === active?.id) return { id, replicaState: found ? 'in_sync' : 'error' };
    return { id, replicaState: replicaState === 'error' ? 'error' : 'out_of_sync' };
  });
}
