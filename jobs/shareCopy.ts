/**
 * A share that its back end can't move is copied: the source lets its clients read only, the destination is made, both
 * are opened to the data worker, which copies; when the administrator says so, clients are let in at the destination
 * and the source goes. Until then the source is whole, and whatever fails leads back to it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { failRules } from '#db/accessStates.ts';
import type { Tx } from '#db/connection.ts';
import { heldRules } from '#db/heldRules.ts';
import { enqueue } from '#db/outbox.ts';
import { backendShare, type InstanceRow, replaceExportLocations } from '#db/shareInstances.ts';
import { castToReadOnly, isBeingCancelled, setProgress, takeOver } from '#db/shareMigration.ts';
import { setTaskState } from '#db/shares.ts';
import { abandon } from '#db/transition.ts';
import { backendOf, DATA_QUEUE, shareQueue } from '#domain/services.ts';
import { type GivenUp, migrationJobs } from '#domain/shareMigration.ts';
import { shareLife } from '#domain/shares.ts';
import type { AccessRuleResult, ExportLocation } from '#drivers/driver.ts';
import { type Attached, attachShare, Detached, enqueueDetach, openTree } from './data/attach.ts';
import { copyTree } from './data/copy.ts';
import { progressWriter } from './data/progress.ts';
import { job, minutes, type Run, writeMidway } from './job.ts';
import {
  bothOf,
  countAsType,
  endGivenUp,
  endMoved,
  enter,
  type Moving,
  movingOf,
  prepareType,
  removeDestination,
  sourceOf,
} from './migratingShare.ts';
import { CANCEL_POLL_MS } from './shareMigration.ts';
import { isOnBackend, shareOnServer } from './shareOnServer.ts';
import { driverOf, tellOfShare } from './shares.ts';

const DAYS = minutes(24 * 60);
/** How often a copy is taken up again that lost sight of one of its sides: a worker's restart takes it away. */
const MOST_ROUNDS = 20;

interface CopyPayload {
  to: Attached;
  from: Attached;
  /** names at the top that are left behind */
  exclude: readonly string[];
  /** how often it was begun */
  round?: number;
}

interface Provisioned {
  exportLocations: ExportLocation[];
  to: Attached;
}

/** The destination is made by its back end, empty and closed to everyone but the data worker. */
const provisionDestination = job<Moving, Provisioned>({
  kind: migrationJobs.provision,
  deadlineMs: minutes(30),
  load: movingOf,
  async perform({ destination }, run) {
    const driver = driverOf(run, destination);
    const share = await shareOnServer(destination, driver, run);
    const exportLocations = await driver.shares.create(share, run.signal);
    const made = { ...destination, exportLocations, server: share.server ?? null };
    return { exportLocations, to: await attachShare(run, made, 'rw') };
  },
  async succeed(tx, { source, destination }, { exportLocations, to }, run) {
    await replaceExportLocations(tx, destination.id, exportLocations);
    return {
      queue: shareQueue(source.host!),
      kind: migrationJobs.attach,
      payload: { ...run.row.payload, to },
    };
  },
  fail: failCopy,
});

/** The source lets its clients read only, so that what is copied stays true. */
const attachSource = job<Moving, Attached>({
  kind: migrationJobs.attach,
  deadlineMs: minutes(30),
  load: movingOf,
  async perform({ source }, run) {
    const { db } = run.tools;
    await writeMidway(run, (tx) => castToReadOnly(tx, source.id, true));
    const rules = await heldRules(db, source.id);
    await driverOf(run, source).access.sync(backendShare(source), rules, run.signal);
    return attachShare(run, source, 'ro');
  },
  async succeed(tx, { source }, from, run) {
    await setTaskState(tx, source.shareId, 'data_copying_starting');
    const exclude = run.tools.options(backendOf(source.host!))?.migration_ignore_files ?? [];
    return {
      queue: DATA_QUEUE,
      kind: migrationJobs.copy,
      payload: { ...run.row.payload, from, exclude },
    };
  },
  fail: failCopy,
});

const copyShare = job<Moving, 'done' | 'given up' | 'lost'>({
  kind: migrationJobs.copy,
  deadlineMs: 14 * DAYS,
  load: movingOf,
  async perform(moving, run) {
    const givingUp = new AbortController();
    const watch = watchFor(givingUp, moving.source.shareId, run);
    try {
      await copyBoth(moving, { ...run, signal: AbortSignal.any([run.signal, givingUp.signal]) });
      return 'done';
    } catch (error) {
      if (givingUp.signal.aborted && !run.signal.aborted) return 'given up';
      const round = (run.row.payload as unknown as CopyPayload).round ?? 1;
      if (error instanceof Detached && round < MOST_ROUNDS) return 'lost';
      throw error;
    } finally {
      await watch.stop();
    }
  },
  async succeed(tx, { source, destination }, how, run) {
    if (how === 'given up') return undefined;
    if (how === 'lost') {
      const round = ((run.row.payload as unknown as CopyPayload).round ?? 1) + 1;
      return {
        queue: shareQueue(destination.host!),
        kind: migrationJobs.provision,
        payload: { ...run.row.payload, round },
      };
    }
    await setTaskState(tx, source.shareId, 'data_copying_completed');
    for (const instance of [source, destination]) await enqueueDetach(tx, instance);
    return undefined;
  },
  async fail(tx, moving, error, run) {
    await setTaskState(tx, moving.source.shareId, 'data_copying_error');
    await failCopy(tx, moving, error, run);
  },
});

const copying = ['data_copying_starting', 'data_copying_in_progress'];
const PROGRESS_MS = 1000;

async function copyBoth({ source, destination }: Moving, run: Run): Promise<void> {
  const { db, settings } = run.tools;
  const { from, to, exclude } = run.row.payload as unknown as CopyPayload;
  const read = await openTree(from, source.id, run);
  const progress = progressWriter(PROGRESS_MS, (percent) => setProgress(db, destination.id, percent));
  try {
    const written = await openTree(to, destination.id, run);
    const check = async () => {
      await read.check();
      await written.check();
    };
    try {
      await copyTree(read.path, written.path, {
        signal: run.signal,
        exclude,
        compare: settings.check_hash,
        // Another run may have ended while this one waited, and clients write at the destination since.
        begin: () => enter(run, source, copying, 'data_copying_in_progress'),
        onProgress: progress.show,
      });
      await check();
    } catch (error) {
      await check();
      throw error;
    } finally {
      await written.close();
    }
  } finally {
    await progress.end();
    await read.close();
  }
}

/** Looks now and then whether the migration is to be given up, and ends the copy then. */
function watchFor(givingUp: AbortController, shareId: string, { tools }: Run): { stop(): Promise<void> } {
  const over = new AbortController();
  const looking = (async () => {
    while (!over.signal.aborted) {
      const asked = await isBeingCancelled(tools.db, shareId).catch(() => false);
      if (asked) return givingUp.abort(new Error('the migration is given up'));
      await sleep(CANCEL_POLL_MS, undefined, { signal: over.signal }).catch(() => {});
    }
  })();
  return {
    async stop() {
      over.abort();
      await looking;
    },
  };
}

/** Clients are let in at the destination, as their rules say; then the source is one too many. */
const handOver = job<Moving, ReadonlyMap<string, AccessRuleResult>>({
  kind: migrationJobs.handOver,
  deadlineMs: minutes(30),
  load: bothOf,
  async perform(moving, run) {
    const { source, destination } = moving;
    await prepareType(run, moving);
    const rules = await heldRules(run.tools.db, source.id, { asActive: true });
    return driverOf(run, destination).access.sync(backendShare(destination), rules, run.signal);
  },
  async succeed(tx, moving, results, run) {
    const { source, destination } = moving;
    await takeOver(tx, source, destination, destination.exportLocations, results);
    await countAsType(tx, moving);
    await endMoved(tx, moving, run);
  },
  fail: failCopy,
});

/** What was copied so far goes, then the source is as it was. */
async function failCopy(tx: Tx, { source, destination }: Moving, _error: unknown, run: Run): Promise<void> {
  await tellOfShare(tx, source, run, 'update', 'unknownError');
  await enqueue(tx, {
    kind: migrationJobs.discard,
    queue: shareQueue(destination.host!),
    resource: source.shareId,
    payload: { ...run.row.payload, how: 'migration_error' },
  });
}

const discardDestination = job<Moving, void>({
  kind: migrationJobs.discard,
  deadlineMs: minutes(30),
  load: bothOf,
  async perform({ destination }, run) {
    const driver = driverOf(run, destination);
    // It may not have come onto a share server yet: then there is nothing of it.
    if (!isOnBackend(destination, driver)) return;
    const share = backendShare(destination);
    await driver.data?.detach(share, run.signal);
    await driver.shares.delete(share, run.signal);
  },
  async succeed(tx, { source, destination }, _result, run) {
    await removeDestination(tx, destination, run);
    return { queue: shareQueue(source.host!), kind: migrationJobs.restore };
  },
  async fail(tx, { source, destination }, _error, run) {
    const step = { ...shareLife.migrate, via: destination.status };
    await abandon(tx, step, 'share_instances', destination.id, 'error_deleting');
    await enqueue(tx, {
      kind: migrationJobs.restore,
      queue: shareQueue(source.host!),
      resource: source.shareId,
      payload: run.row.payload,
    });
  },
});

const restoreSource = job<InstanceRow, void>({
  kind: migrationJobs.restore,
  deadlineMs: minutes(30),
  load: sourceOf,
  async perform(source, run) {
    const { db } = run.tools;
    const driver = driverOf(run, source);
    await driver.data?.detach(backendShare(source), run.signal);
    await db.transaction((tx) => castToReadOnly(tx, source.id, false));
    await driver.access.sync(backendShare(source), await heldRules(db, source.id), run.signal);
  },
  succeed: (tx, source, _result, run) => endGivenUp(tx, source, run.row.payload.how as GivenUp),
  async fail(tx, source, _error, run) {
    // Its data is whole; whether its clients may write again isn't known.
    await failRules(tx, source.id);
    await endGivenUp(tx, source, run.row.payload.how as GivenUp);
    await tellOfShare(tx, source, run, 'updateAccessRules', 'unknownError');
  },
});

export const shareCopyJobs = [
  provisionDestination,
  attachSource,
  copyShare,
  handOver,
  discardDestination,
  restoreSource,
];
