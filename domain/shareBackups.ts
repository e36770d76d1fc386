/** A backup's life, and the rules of what may be asked of one. */
import { fault } from './faults.ts';
import { gone, lifecycle } from './lifecycle.ts';

export const backupLife = lifecycle('backup', {
  create: { from: null, via: 'creating', to: 'available', onError: 'error' },
  /** a restore that fails leaves the backup as good as it was */
  restore: {
    from: ['available'],
    via: 'restoring',
    to: 'available',
    onError: 'available',
    refused: 'invalidBackup',
  },
  delete: {
    from: ['available', 'error'],
    via: 'deleting',
    to: gone,
    onError: 'error_deleting',
    refused: 'invalidBackup',
  },
});

/** Kinds of the jobs that steps go on in, on the data worker's queue, once the share is attached. */
export const backupJobs = {
  copyOut: 'backup.copyOut',
  copyBack: 'backup.copyBack',
  /** what a backup that failed had copied is removed */
  discard: 'backup.discard',
} as const;

/** What a backup of this size counts against its project. */
export function backupsQuota(size: number): { backups: number; backup_gigabytes: number } {
  return { backups: 1, backup_gigabytes: size };
}

/** Refuses to write a backup to a share that it may not fit into; sizes in GiB. */
export function assertFits(backup: { id: string; size: number }, share: { id: string; size: number }): void {
  if (share.size >= backup.size) return;
  throw fault('invalidShare', {
    reason: `share ${share.id} has ${share.size} GiB, too little for backup ${backup.id} of ${backup.size} GiB`,
  });
}

/**
 * The share that a restore is to write to: a text, or an object's `target_share_id`; undefined for the backup's own,
 * which is meant by nothing alone: a mistaken key must not have another share overwritten. Throws 400.
 */
export function restoreTarget(asked: unknown): string | undefined {
  if (asked === undefined || asked === null) return undefined;
  if (typeof asked === 'object' && Object.keys(asked).length === 0) return undefined;
  const named = isTargeted(asked) ? asked.target_share_id : asked;
  if (typeof named === 'string' && named !== '') return named;
  throw fault('invalidBody', {
    where: 'restore',
    reason: 'must be null, the id of the share to write to, or an object with that as target_share_id alone',
  });
}

function isTargeted(asked: unknown): asked is { target_share_id: unknown } {
  return typeof asked === 'object' && Object.keys(asked!).join() === 'target_share_id';
}
