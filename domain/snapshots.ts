/** A snapshot's life, and the rules of what may be asked of one. */
import { fault } from './faults.ts';
import { gone, lifecycle } from './lifecycle.ts';
import { deferredStates } from './shares.ts';

/** Status lives on snapshot instances, one for each instance of the share; the snapshot's is theirs combined. */
export const snapshotLife = lifecycle('snapshot', {
  create: { from: null, via: 'creating', to: 'available', onError: 'error' },
  delete: {
    from: ['available', 'error'],
    via: 'deleting',
    to: gone,
    onError: 'error_deleting',
    refused: 'invalidSnapshot',
  },
  /** as `delete`, but for the project the snapshot is gone at once: it counts no more, and isn't seen */
  deferDelete: {
    from: ['available', 'error'],
    via: 'deferred_deleting',
    to: gone,
    onError: 'error_deferred_deleting',
    refused: 'invalidSnapshot',
  },
  /** what happens to the snapshot while its share is put back to it; the share's own step has the job */
  restore: {
    from: ['available'],
    via: 'restoring',
    to: 'available',
    onError: 'available',
    refused: 'conflict',
  },
  /** a snapshot that the back end has already comes under management */
  manage: { from: null, via: 'manage_starting', to: 'available', onError: 'manage_error' },
  unmanage: {
    from: ['available', 'error', 'error_deleting', 'manage_error', 'unmanage_error'],
    via: 'unmanage_starting',
    to: gone,
    onError: 'unmanage_error',
    refused: 'notAllowed',
  },
});

/** The job that synchronises the access rules of a snapshot with the back end. */
export const snapshotAccessJob = 'snapshot.access';

/** States of an access rule, from the least to the most telling, as for statuses below. */
export const ruleStatePrecedence = [
  'active',
  'applying',
  'queued_to_apply',
  'denying',
  'queued_to_deny',
  'error',
] as const;

/**
 * Statuses from the least to the most telling: of several instances, the one furthest right speaks for the
 * snapshot, so that it is `available` only when it is so everywhere.
 */
export const statusPrecedence = [
  'available',
  'manage_starting',
  'unmanage_starting',
  'migrating_to',
  'migrating',
  'restoring',
  'creating',
  'deleting',
  'deferred_deleting',
  'error_deferred_deleting',
  'manage_error',
  'unmanage_error',
  'error',
  'error_deleting',
] as const;

/** What administrators may set the status of a snapshot to. */
export const settableSnapshotStatuses: readonly string[] = statusPrecedence.filter(
  (status) => !deferredStates.includes(status),
);

/** Only the newest snapshot can be reverted to: what came after it would be lost unseen. */
export function assertNewest(snapshotId: string, newestId: string | undefined): void {
  if (snapshotId === newestId) return;
  throw fault('conflict', {
    reason: `Snapshot ${snapshotId} is not the newest one of its share, ${newestId} is; only the newest can be reverted to.`,
  });
}

/** What a snapshot of this size counts against its project, user and share type. */
export function snapshotsQuota(size: number): { snapshots: number; snapshot_gigabytes: number } {
  return { snapshots: 1, snapshot_gigabytes: size };
}
