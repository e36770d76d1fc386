/** A share's life, and the rules of what may be asked of one. */
import { gone, lifecycle } from './lifecycle.ts';
import type { Deltas } from './quotas.ts';

/** States that nothing runs in: the ones a share can be deleted in. */
const settled = [
  'available',
  'error',
  'inactive',
  'error_deleting',
  'manage_error',
  'extending_error',
  'shrinking_error',
  'reverting_error',
  'shrinking_possible_data_loss_error',
  'backup_restoring_error',
] as const;

/** Status lives on share instances; the share's is that of the instance that stands for it. */
export const shareLife = lifecycle('share', {
  create: { from: null, via: 'creating', to: 'available', onError: 'error' },
  delete: {
    from: settled,
    via: 'deleting',
    to: gone,
    onError: 'error_deleting',
    refused: 'notAllowed',
  },
  /** as `delete`, but for the project the share is gone at once: it counts no more, and isn't seen */
  deferDelete: {
    from: settled,
    via: 'deferred_deleting',
    to: gone,
    onError: 'error_deferred_deleting',
    refused: 'notAllowed',
  },
  extend: {
    from: ['available'],
    via: 'extending',
    to: 'available',
    onError: 'extending_error',
    refused: 'invalidShare',
  },
  shrink: {
    from: ['available'],
    via: 'shrinking',
    to: 'available',
    onError: 'shrinking_error',
    refused: 'invalidShare',
  },
  revert: {
    from: ['available'],
    via: 'reverting',
    to: 'available',
    onError: 'reverting_error',
    refused: 'conflict',
  },
  /** it moves to another pool; its task state tells the phase */
  migrate: {
    from: ['available'],
    via: 'migrating',
    to: 'available',
    onError: 'available',
    refused: 'invalidShare',
  },
  /** its exports are looked at and renewed because an administrator asked for it */
  ensure: { from: ['available'], via: 'ensuring', to: 'available', onError: 'error' },
  /** what happens to the share while a backup of it is made; the backup's own step has the job */
  backUp: {
    from: ['available'],
    via: 'backup_creating',
    to: 'available',
    onError: 'available',
    refused: 'invalidShare',
  },
  /** the same while a backup is written to it; a restore that failed can be begun again */
  restoreBackup: {
    from: ['available', 'backup_restoring_error'],
    via: 'backup_restoring',
    to: 'available',
    onError: 'backup_restoring_error',
    refused: 'invalidShare',
  },
  /** offered to another project; no job: it ends when the offer does */
  transfer: {
    from: ['available'],
    via: 'awaiting_transfer',
    to: 'available',
    onError: 'available',
    refused: 'invalidShare',
  },
  /** a share that the back end has already comes under management */
  manage: { from: null, via: 'manage_starting', to: 'available', onError: 'manage_error' },
  unmanage: {
    from: [...settled, 'unmanage_error'],
    via: 'unmanage_starting',
    to: gone,
    onError: 'unmanage_error',
    refused: 'notAllowed',
  },
});

/** States from which a share goes into the recycle bin. */
export const softDeletable = ['available', 'error', 'inactive'] as const;

/** States of what its project has got rid of, while its back end hasn't. */
export const deferredStates: readonly string[] = ['deferred_deleting', 'error_deferred_deleting'];

/** Kinds of jobs that steps go on in, on the back end's own queue. */
export const shareJobs = {
  /** a share that has been placed is made */
  provision: 'share.provision',
  /** an extension that still fits is made */
  grow: 'share.grow',
  /** the rules of all instances are synchronised */
  access: 'share.access',
} as const;

/** Kinds of jobs of a whole back end. */
export const serviceJobs = {
  /** all its shares are ensured, each by a job of its own */
  ensure: 'service.ensure',
} as const;

/** What a share of this size counts against its project, user and type; one that can be replicated is a replica. */
export function sharesQuota(size: number, replicationType: string | null): Deltas {
  const counted = { shares: 1, gigabytes: size };
  return replicationType === null ? counted : { ...counted, share_replicas: 1, replica_gigabytes: size };
}
