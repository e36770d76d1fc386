/** A snapshot's life, and the rules of what may be asked of one. */
import { fault } from './faults.ts';
import { gone, lifecycle } from './lifecycle.ts';

/** Status lives on snapshot instances, one for each instance of the share; the snapshot's is theirs combined. */
export const snapshotLife = lifecycle('snapshot', {
  create: { from: null, via: 'creating', to: 'available', onError: 'error', queue: 'share' },
  delete: {
    from: ['available', 'error'],
    via: 'deleting',
    to: gone,
    onError: 'error_deleting',
    queue: 'share',
    refused: 'notAllowed',
  },
  /** what happens to the snapshot while its share is put back to it; the share's own step has the job */
  restore: {
    from: ['available'],
    via: 'restoring',
    to: 'available',
    onError: 'available',
    queue: 'share',
    refused: 'conflict',
  },
});

/** The job that synchronises the access rules of a snapshot with the back end. */
export const snapshotAccessJob = 'snapshot.access';

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
  'manage_error',
  'unmanage_error',
  'error',
  'error_deleting',
] as const;

/** What an administrator may set a status to. */
export const settableStatuses: readonly string[] = statusPrecedence;

/** Refuses what is no status of snapshots, with those that are. */
export function assertSettable(status: unknown): asserts status is string {
  if (typeof status === 'string' && settableStatuses.includes(status)) return;
  throw fault('invalidInput', { reason: `status must be one of ${settableStatuses.join(', ')}` });
}
