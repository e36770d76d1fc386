/**
 * The migration of a share: its phases, told by the share's task state, and what may be asked in which. While it
 * lasts the share has two instances, the source (`migrating`) and the destination (`migrating_to`).
 */
import { fault } from './faults.ts';

/** What whoever starts a migration insists on. */
export interface MigrationWishes {
  forceHostAssisted: boolean;
  preserveMetadata: boolean;
  preserveSnapshots: boolean;
  nondisruptive: boolean;
  writable: boolean;
}

/** The status of the instance that a share moves to. */
export const DESTINATION = 'migrating_to';

/** Kinds of jobs, in the order in which they follow each other. */
export const migrationJobs = {
  /** source's back end: by its own means, or by copying? */
  begin: 'share.migrationBegin',
  /** source's back end: its own means, until the first phase is over */
  continue: 'share.migrationContinue',
  /** source's back end: its own means, the switch */
  switch: 'share.migrationSwitch',
  /** source's back end: its own means, given up */
  cancel: 'share.migrationCancel',
  /** destination's back end: makes the share to copy into, and attaches it */
  provision: 'share.migrationProvision',
  /** source's back end: attaches the share to copy from */
  attach: 'share.migrationAttach',
  /** data worker */
  copy: 'share.migrationCopy',
  /** destination's back end: clients are let in there */
  handOver: 'share.migrationHandOver',
  /** destination's back end: a copy that isn't wanted any more goes */
  discard: 'share.migrationDiscard',
  /** source's back end: clients may write again */
  restore: 'share.migrationRestore',
} as const;

/** How a migration may end other than well. */
export type GivenUp = 'migration_cancelled' | 'migration_error';

/** Phases in which a driver is at work, or has done its part. */
const byDriver = [
  'migration_driver_starting',
  'migration_driver_in_progress',
  'migration_driver_phase1_done',
] as const;

/** Phases that can be given up: all until the switch has begun. */
const cancellable: readonly string[] = [
  'migration_starting',
  'migration_in_progress',
  ...byDriver,
  'data_copying_starting',
  'data_copying_in_progress',
  'data_copying_completing',
  'data_copying_completed',
];

/** Phases whose work is done, so that the switch can begin. */
const completable: readonly string[] = ['migration_driver_phase1_done', 'data_copying_completed'];

export const isByDriver = (taskState: string | null): boolean =>
  byDriver.some((phase) => phase === taskState);

/** Refuses to begin the switch, or to give up, in a phase where that can't be done; says why. */
export function assertPhase(
  what: 'complete' | 'cancel',
  share: { id: string; task_state: string | null },
): void {
  const { id, task_state: phase } = share;
  if (phase !== null && (what === 'complete' ? completable : cancellable).includes(phase)) return;
  throw fault('invalidShare', { reason: refusal(what, id, phase) });
}

function refusal(what: 'complete' | 'cancel', id: string, phase: string | null): string {
  if (phase === 'migration_success') return `the migration of share ${id} has completed already`;
  if (phase === 'migration_cancelled') return `the migration of share ${id} was cancelled`;
  if (phase === null || phase === 'migration_error') return `share ${id} is not being migrated`;
  return what === 'complete'
    ? `the first phase of the migration of share ${id} is not over: its task state is ${phase}`
    : `the migration of share ${id} can't be cancelled any more: its task state is ${phase}`;
}

/** Phases that tell how far they are, and those before anything has moved; in all others everything has. */
const moving: readonly string[] = ['migration_driver_in_progress', 'data_copying_in_progress'];
const before: readonly string[] = [
  'migration_starting',
  'migration_in_progress',
  'migration_driver_starting',
  'data_copying_starting',
];

/** Per cent; `destination` is what the instance moved to says, as `37%`. */
export function progressIn(phase: string, destination: string | null): number {
  if (before.includes(phase)) return 0;
  if (!moving.includes(phase)) return 100;
  const percent = Number.parseInt(destination ?? '0', 10);
  return Number.isNaN(percent) ? 0 : Math.min(Math.max(percent, 0), 100);
}

/** A copy promises nothing of what only a back end can: refuses wishes that it would disappoint. */
export function assertCopyable(wishes: MigrationWishes, snapshots: number): void {
  const { preserveMetadata, preserveSnapshots, nondisruptive, writable } = wishes;
  if (preserveMetadata || preserveSnapshots || nondisruptive || writable) {
    throw fault('invalidInput', {
      reason:
        'a host-assisted migration needs preserve_metadata, preserve_snapshots, nondisruptive and writable to be false',
    });
  }
  if (snapshots > 0)
    throw fault('conflict', { reason: 'A share with snapshots cannot be migrated by copying it.' });
}
