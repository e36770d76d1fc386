/** Share groups of a back end without storage: they are made, and snapshotted as their shares are one by one. */
import type { BackendSnapshot, Groups, SnapshotCreated } from '../driver.ts';
import type { Rehearse } from './faults.ts';

export function fakeGroups(
  rehearse: Rehearse,
  snapshotMade: (snapshot: BackendSnapshot) => SnapshotCreated,
): Groups {
  return {
    async create(_group, signal) {
      await rehearse('create_share_group', signal);
    },
    async delete(_group, signal) {
      await rehearse('delete_share_group', signal);
    },
    async createSnapshot({ members }, signal) {
      await rehearse('create_share_group_snapshot', signal);
      return new Map(members.map((member) => [member.id, snapshotMade(member)]));
    },
    async deleteSnapshot(_snapshot, signal) {
      await rehearse('delete_share_group_snapshot', signal);
    },
  };
}
