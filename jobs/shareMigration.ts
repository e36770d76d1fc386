/**
 * Migration of a share. The scheduler checks the destination; the source's back end moves the share by its own means
 * if it can do so as wished, in two phases; else it is copied (shareCopy.ts). It can be given up until the switch.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { heldRules } from '#db/heldRules.ts';
import { holdersOf } from '#db/shareHolds.ts';
import { backendShare, type InstanceRow } from '#db/shareInstances.ts';
import { insertDestination, isBeingCancelled, setProgress, takeOver } from '#db/shareMigration.ts';
import { findShare, setTaskState } from '#db/shares.ts';
import { abandon } from '#db/transition.ts';
import { backendOf, shareQueue } from '#domain/services.ts';
import { assertCopyable, isByDriver, type MigrationWishes, migrationJobs } from '#domain/shareMigration.ts';
import { shareLife } from '#domain/shares.ts';
import {
  DriverError,
  type ExportLocation,
  type Migration,
  type MigrationAbilities,
} from '#drivers/driver.ts';
import { job, minutes, type Run, TryAgain } from './job.ts';
import {
  bothOf,
  countAsType,
  endFailed,
  endGivenUp,
  endMoved,
  enter,
  type Moving,
  movingOf,
  payloadOf,
  prepareType,
  removeDestination,
  sourceOf,
} from './migratingShare.ts';
import { placerOf, requestFor } from './placement.ts';
import type { Outcome } from './scheduler/schedule.ts';
import { driverOf, tellOfShare } from './shares.ts';

const DAYS = minutes(24 * 60);
/** how soon someone who gives up is heard */
export const CANCEL_POLL_MS = 500;

/** Does the destination suit the share, by the filters that would place it there? */
const scheduleMigration = job<InstanceRow, Outcome>({
  kind: shareLife.migrate.kind,
  deadlineMs: minutes(1),
  async load(run) {
    const source = await sourceOf(run);
    return source && !(await isBeingCancelled(run.tools.db, source.shareId)) ? source : undefined;
  },
  async perform(source, run) {
    const { host, shareTypeId } = payloadOf(run);
    const request = await requestFor(run.tools.db, { ...source, shareTypeId }, source.size);
    const outcome = await placerOf(run.tools).place(
      {
        ...request,
        kind: 'create',
        shareType: request.shareType ?? { name: 'none', extraSpecs: {} },
        availabilityZone: null,
        hints: { onlyHost: host },
        isAdmin: true,
      },
      run.row.attempts < PATIENT_ATTEMPTS,
    );
    if (outcome.refused && run.row.attempts < PATIENT_ATTEMPTS) await waitForReport(host, run);
    await run.tools.explain?.(source.shareId, outcome);
    return outcome;
  },
  async succeed(tx, source, outcome, run) {
    if (outcome.refused) {
      await endGivenUp(tx, source, 'migration_error');
      await tellOfShare(tx, source, run, 'allocateHost', outcome.detail);
      return;
    }
    const { destinationId, host, shareTypeId, shareNetworkId } = payloadOf(run);
    await insertDestination(tx, source.id, { id: destinationId, host, shareTypeId, shareNetworkId });
    await setTaskState(tx, source.shareId, 'migration_in_progress');
    return { queue: shareQueue(source.host!), kind: migrationJobs.begin };
  },
  async fail(tx, source, _error, run) {
    await endGivenUp(tx, source, 'migration_error');
    await tellOfShare(tx, source, run, 'allocateHost', 'unknownError');
  },
});

/** Runs, half a second apart, in which a destination is waited for that has not reported: only it will do. */
const PATIENT_ATTEMPTS = 40;

async function waitForReport(destination: string, { tools }: Run): Promise<void> {
  const host = backendOf(destination);
  if (!(await tools.reports()).some((report) => report.host === host))
    throw new TryAgain(`${host} has not reported yet`);
}

/** The back end begins to move the share, or says that it can't as wished: then it is copied, if that is as wished. */
const beginMigration = job<Moving, 'moving' | 'copy'>({
  kind: migrationJobs.begin,
  deadlineMs: minutes(30),
  load: movingOf,
  async perform(moving, run) {
    const { wishes } = payloadOf(run);
    const { snapshots } = await holdersOf(run.tools.db, moving.source.shareId);
    if (!(await canMove(moving, run, wishes, snapshots))) {
      assertCopyable(wishes, snapshots);
      return 'copy';
    }
    await enter(run, moving.source, beginning, 'migration_driver_starting');
    await migrationOf(run, moving.source).start(...bothShares(moving), run.signal);
    return 'moving';
  },
  undo: (moving, run) => giveUpIn(beginning, moving, run),
  async succeed(tx, { source, destination }, how) {
    if (how === 'copy') return { queue: shareQueue(destination.host!), kind: migrationJobs.provision };
    await setTaskState(tx, source.shareId, 'migration_driver_in_progress');
    return { queue: shareQueue(source.host!), kind: migrationJobs.continue };
  },
  fail: (tx, moving, _error, run) => endFailed(tx, moving, run),
});

async function canMove(
  moving: Moving,
  run: Run,
  wishes: MigrationWishes,
  snapshots: number,
): Promise<boolean> {
  const { migration } = driverOf(run, moving.source);
  if (wishes.forceHostAssisted || !migration) return false;
  const can = await migration.check(...bothShares(moving), run.signal).catch((error: unknown) => {
    if (error instanceof DriverError && error.code === 'unsupported') return undefined;
    throw error;
  });
  if (!can?.compatible) return false;
  // Without its snapshots a share that has some can't go.
  if (snapshots > 0 && !wishes.preserveSnapshots)
    throw new DriverError('invalid', 'the share has snapshots, and they were not to be preserved');
  const promises = ['writable', 'nondisruptive', 'preserveMetadata', 'preserveSnapshots'] as const;
  return promises.every(
    (promise: keyof MigrationAbilities & keyof MigrationWishes) => !wishes[promise] || can[promise],
  );
}

/** Goes on until the first phase is over, or someone gives up. */
const continueMigration = job<Moving, 'done' | 'given up'>({
  kind: migrationJobs.continue,
  deadlineMs: 14 * DAYS,
  load: movingOf,
  async perform(moving, run) {
    const { db } = run.tools;
    const { source, destination } = moving;
    const migration = migrationOf(run, source);
    const pauseMs =
      1000 * (run.tools.options(backendOf(source.host!))?.migration_driver_continue_update_interval ?? 60);
    for (;;) {
      if (await migration.continue(...bothShares(moving), run.signal)) return 'done';
      await setProgress(db, destination.id, await migration.progress(...bothShares(moving), run.signal));
      const until = performance.now() + pauseMs;
      do {
        if (await isBeingCancelled(db, source.shareId)) return 'given up';
        await sleep(Math.min(pauseMs, CANCEL_POLL_MS), undefined, { signal: run.signal });
      } while (performance.now() < until);
    }
  },
  undo: (moving, run) => giveUpIn(['migration_driver_in_progress'], moving, run),
  async succeed(tx, { source }, how) {
    if (how === 'done') await setTaskState(tx, source.shareId, 'migration_driver_phase1_done');
  },
  fail: (tx, moving, _error, run) => endFailed(tx, moving, run),
});

/** The second phase: the share is served from where it has been moved to. */
const switchMigration = job<Moving, ExportLocation[]>({
  kind: migrationJobs.switch,
  deadlineMs: minutes(60),
  load: bothOf,
  async perform(moving, run) {
    await prepareType(run, moving);
    const rules = await heldRules(run.tools.db, moving.source.id);
    return migrationOf(run, moving.source).complete(...bothShares(moving), rules, run.signal);
  },
  async succeed(tx, moving, locations, run) {
    await takeOver(tx, moving.source, moving.destination, locations, new Map());
    await countAsType(tx, moving);
    await endMoved(tx, moving, run);
  },
  async fail(tx, { source, destination }, _error, run) {
    // Either may hold the data now: both stay, for the administrator to see and decide.
    const step = { ...shareLife.migrate, onError: 'error' };
    await abandon(tx, step, 'share_instances', source.id);
    await abandon(tx, { ...step, via: destination.status }, 'share_instances', destination.id);
    await setTaskState(tx, source.shareId, 'migration_error');
    await tellOfShare(tx, source, run, 'update', 'unknownError');
  },
});

interface Cancelled {
  source: InstanceRow;
  /** undefined when it hadn't come that far */
  moving: Moving | undefined;
  byDriver: boolean;
}

/** Gives up what is being moved. Of what is copied, the rest is for the destination's back end to take away. */
const cancelMigration = job<Cancelled, void>({
  kind: migrationJobs.cancel,
  deadlineMs: minutes(30),
  async load(run) {
    const source = await sourceOf(run);
    if (!source) return undefined;
    const share = await findShare(run.tools.db, source.shareId);
    return { source, moving: await bothOf(run), byDriver: isByDriver(share?.task_state ?? null) };
  },
  async perform({ moving, byDriver }, run) {
    if (moving && byDriver) await giveUpByDriver(moving, run);
  },
  async succeed(tx, { source, moving, byDriver }, _result, run) {
    if (moving && !byDriver) {
      const { destination } = moving;
      return {
        queue: shareQueue(destination.host!),
        kind: migrationJobs.discard,
        payload: { ...run.row.payload, how: 'migration_cancelled' },
      };
    }
    if (moving) await removeDestination(tx, moving.destination, run);
    await endGivenUp(tx, source, 'migration_cancelled');
    return undefined;
  },
  async fail(tx, { source, moving }, _error, run) {
    // The source is whole; what the destination may hold is seen by its state.
    const { migrate } = shareLife;
    if (moving) {
      const { id, status } = moving.destination;
      await abandon(tx, { ...migrate, via: status }, 'share_instances', id, 'error_deleting');
    }
    await endGivenUp(tx, source, 'migration_error');
    await tellOfShare(tx, source, run, 'update', 'unknownError');
  },
});

function bothShares({ source, destination }: Moving) {
  return [backendShare(source), backendShare(destination)] as const;
}

function migrationOf(run: Run, instance: InstanceRow): Migration {
  const { migration } = driverOf(run, instance);
  if (!migration) throw new DriverError('unsupported', 'the back end moves no shares');
  return migration;
}

const beginning = ['migration_in_progress', 'migration_driver_starting'];

/** What a run that failed may have begun; one that comes late, when the migration is further, takes nothing back. */
async function giveUpIn(phases: readonly string[], moving: Moving, run: Run): Promise<void> {
  const share = await findShare(run.tools.db, moving.source.shareId);
  if (share?.task_state && phases.includes(share.task_state)) await giveUpByDriver(moving, run);
}

async function giveUpByDriver(moving: Moving, run: Run): Promise<void> {
  await driverOf(run, moving.source).migration?.cancel(...bothShares(moving), run.signal);
}

export const shareMigrationJobs = [
  scheduleMigration,
  beginMigration,
  continueMigration,
  switchMigration,
  cancelMigration,
];
