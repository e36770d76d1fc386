/** The share group that a share to be made joins. */
import type { Tx } from '#db/connection.ts';
import { lockShareGroup, type ShareGroupRow } from '#db/shareGroups.ts';
import type { ShareTypeRow } from '#db/shareTypes.ts';
import type { SnapshotRow } from '#db/snapshots.ts';
import { fault } from '#domain/faults.ts';
import type { Ctx } from './context.ts';
import { visibleShareGroup } from './visibleShareGroup.ts';

/**
 * The group, available. Its shares are all on its pool, so that a clone joins only one where its snapshot is. Throws
 * 404 for a group that the caller can't see, 400 for one that won't do.
 */
export async function shareGroupOf(
  ctx: Ctx,
  id: string,
  snapshot: SnapshotRow | null,
): Promise<ShareGroupRow> {
  const group = await visibleShareGroup(ctx, id);
  if (group.status !== 'available') throw notAvailable(id, group.status);
  if (snapshot && snapshot.host !== group.host) {
    throw fault('invalidInput', {
      reason: `snapshot ${snapshot.id} is on another pool than share group ${id}`,
    });
  }
  return group;
}

/** A group says which share types go together. */
export function refuseForeignType(group: ShareGroupRow, type: ShareTypeRow | null): void {
  if (type && group.share_types.includes(type.id)) return;
  throw fault('invalidInput', {
    reason: `share type ${type?.name ?? '(none)'} is none of those of share group ${group.id}`,
  });
}

/** Locks the group: nothing is added to one that is going, nor while a snapshot of it is being written. */
export async function holdGroup(tx: Tx, groupId: string): Promise<void> {
  const status = await lockShareGroup(tx, groupId);
  if (status !== 'available') throw notAvailable(groupId, status ?? 'gone');
}

function notAvailable(groupId: string, status: string) {
  return fault('invalidInput', {
    reason: `share group ${groupId} is ${status}; shares are added when it is available`,
  });
}
