/** Replicas of a back end without storage: in sync as soon as they are there. */
import type { BackendShare, ExportLocation, Replication } from '../driver.ts';
import type { Rehearse } from './faults.ts';

export function fakeReplication(
  rehearse: Rehearse,
  locationsOf: (share: BackendShare) => ExportLocation[],
): Replication {
  return {
    async create(replica, _active, _rules, _snapshots, signal) {
      await rehearse('create_replica', signal);
      return { exportLocations: locationsOf(replica), replicaState: 'in_sync' };
    },
    async delete(_replica, _snapshots, signal) {
      await rehearse('delete_replica', signal);
    },
    async promote(replica, all, _rules, _quiesceSeconds, signal) {
      await rehearse('promote_replica', signal);
      return all.map(({ id }) => ({ id, replicaState: id === replica.id ? 'active' : 'in_sync' }));
    },
    async update(_replica, _active, _rules, _snapshots, signal) {
      await rehearse('update_replica_state', signal);
      return 'in_sync';
    },
  };
}
