/**
 * Backups: the worker of the share's back end attaches it, the data worker copies its files to the backup target or
 * back from there, and the share is detached, however that ended.
 */
import type { Tx } from '#db/connection.ts';
import { enqueue } from '#db/outbox.ts';
import { release } from '#db/quotas.ts';
import {
  findBackup,
  recordDataService,
  recordFailure,
  recordProgress,
  removeBackup,
  type ShareBackupRow,
} from '#db/shareBackups.ts';
import { findInstance, type InstanceRow } from '#db/shareInstances.ts';
import { setTaskState } from '#db/shares.ts';
import { abandon, complete } from '#db/transition.ts';
import type { NamedStep } from '#domain/lifecycle.ts';
import { DATA_QUEUE, shareQueue } from '#domain/services.ts';
import { backupJobs, backupLife, backupsQuota } from '#domain/shareBackups.ts';
import { shareLife } from '#domain/shares.ts';
import { DriverError } from '#drivers/driver.ts';
import { type Attached, attachShare, Detached, enqueueDetach, openTree } from './data/attach.ts';
import { type BackupTarget, openBackupTarget } from './data/backupTarget.ts';
import { copyTree } from './data/copy.ts';
import { progressWriter } from './data/progress.ts';
import { type Forward, job, minutes, type Run } from './job.ts';
import { tellOfShare } from './shares.ts';

interface BackupPayload {
  backupId: string;
  instanceId: string;
  /** how the share was attached, and how often that was needed */
  attached?: Attached;
  attachments?: number;
}

interface Subject {
  backup: ShareBackupRow;
  instance: InstanceRow;
}

/** One way of a backup: out of the share, or back into it. */
interface Way {
  /** of the backup, and what happens to the share meanwhile */
  step: NamedStep;
  shareStep: NamedStep;
  mode: 'ro' | 'rw';
  copyKind: string;
  column: 'progress' | 'restore_progress';
  /** how often progress is written */
  interval: 'backup_continue_update_interval' | 'restore_continue_update_interval';
  copy(files: string, target: BackupTarget, copy: (from: string, to: string) => Promise<void>): Promise<void>;
  tell?(tx: Tx, instance: InstanceRow, run: Run): Promise<void>;
}

const out: Way = {
  step: backupLife.create,
  shareStep: shareLife.backUp,
  mode: 'ro',
  copyKind: backupJobs.copyOut,
  column: 'progress',
  interval: 'backup_continue_update_interval',
  copy: async (files, target, copy) => copy(files, await target.make()),
};

const back: Way = {
  step: backupLife.restore,
  shareStep: shareLife.restoreBackup,
  mode: 'rw',
  copyKind: backupJobs.copyBack,
  column: 'restore_progress',
  interval: 'restore_continue_update_interval',
  copy: async (files, target, copy) => copy(await target.find(), files),
  tell: (tx, instance, run) => tellOfShare(tx, instance, run, 'restoreBackup', 'unknownError'),
};

/** A copy may take its time; what hangs for a week is given up. */
const COPY_DEADLINE_MS = minutes(7 * 24 * 60);
/** A back end that lets go of a share so often, or shows it to another machine, won't be copied from. */
const MOST_ATTACHMENTS = 5;
/** what file systems keep at their root for themselves */
const leftBehind = ['lost+found'];

const payloadOf = (run: Run) => run.row.payload as unknown as BackupPayload;

/** On the back end's queue: attaches the share, then hands it on to the data worker. */
const attach = (way: Way) =>
  job<Subject, Attached>({
    kind: way.step.kind,
    deadlineMs: minutes(5),
    load: (run) => load(run, way),
    perform: ({ instance }, run) => attachShare(run, instance, way.mode),
    async succeed(tx, { backup, instance }, attached, run): Promise<Forward> {
      await recordDataService(tx, backup.id);
      await setTaskState(tx, instance.shareId, 'data_copying_in_progress');
      const attachments = (payloadOf(run).attachments ?? 0) + 1;
      return {
        queue: DATA_QUEUE,
        kind: way.copyKind,
        payload: { ...run.row.payload, attached, attachments },
      };
    },
    fail: (tx, subject, error, run) => fail(tx, way, subject, error, run),
  });

/** On the data worker's queue: copies. When the back end has let go of the share meanwhile, it is attached again. */
const copy = (way: Way) =>
  job<Subject, 'copied' | 'detached'>({
    kind: way.copyKind,
    deadlineMs: COPY_DEADLINE_MS,
    load: (run) => load(run, way),
    async perform(subject, run) {
      try {
        await copyFiles(way, subject, run);
        return 'copied';
      } catch (error) {
        if (!(error instanceof Detached) || (payloadOf(run).attachments ?? 0) >= MOST_ATTACHMENTS)
          throw error;
        return 'detached';
      }
    },
    async succeed(tx, { backup, instance }, result) {
      if (result === 'detached') return { queue: shareQueue(instance.host!), kind: way.step.kind };
      await recordProgress(tx, backup.id, way.column, 100, way.step.via);
      await complete(tx, way.step, 'share_backups', backup.id);
      await complete(tx, way.shareStep, 'share_instances', instance.id);
      await setTaskState(tx, instance.shareId, null);
      await enqueueDetach(tx, instance);
      return undefined;
    },
    fail: (tx, subject, error, run) => fail(tx, way, subject, error, run),
  });

async function copyFiles(way: Way, { backup, instance }: Subject, run: Run): Promise<void> {
  const { db, settings } = run.tools;
  const superseded = new AbortController();
  const signal = AbortSignal.any([run.signal, superseded.signal]);
  const progress = progressWriter(settings[way.interval] * 1000, async (percent) => {
    // Someone set the status of the backup meanwhile: nobody waits for it any more.
    if (!(await recordProgress(db, backup.id, way.column, percent, way.step.via)))
      superseded.abort(new DriverError('failed', 'the backup is not asked for any more'));
  });
  const target = await openBackupTarget(backup.id, run);
  try {
    const tree = await openTree(payloadOf(run).attached!, instance.id, run);
    try {
      const options = {
        signal,
        exclude: leftBehind,
        compare: settings.check_hash,
        begin: async () => assertGoesOn(await findBackup(db, backup.id), way),
        onProgress: progress.show,
      };
      await way.copy(tree.path, target, (from, to) => copyTree(from, to, options));
      await tree.check();
    } catch (error) {
      await tree.check();
      throw error;
    } finally {
      await tree.close();
    }
  } finally {
    await progress.end();
    await target.close();
  }
}

/** Another run may have ended while this one waited: what the share has become since is not written over. */
function assertGoesOn(backup: ShareBackupRow | undefined, way: Way): void {
  if (backup?.status !== way.step.via)
    throw new DriverError('failed', `the backup is ${backup?.status ?? 'gone'} by now`);
}

/** Removes what the target has of a backup. */
async function removeFiles(backup: ShareBackupRow, run: Run): Promise<void> {
  const target = await openBackupTarget(backup.id, run);
  try {
    await target.remove(run.signal);
  } finally {
    await target.close();
  }
}

/**
 * Backup and share, while both are still in the step's states. Where an admin has set one of them meanwhile, nothing
 * is copied, and what is still in its state leaves it. The backup is read first: a run that ended beside this one has
 * taken both out at once.
 */
async function load(run: Run, way: Way): Promise<Subject | undefined> {
  const { backupId, instanceId, attached } = payloadOf(run);
  const { db } = run.tools;
  const backup = await findBackup(db, backupId);
  const instance = await findInstance(db, instanceId);
  const held = instance?.status === way.shareStep.via ? instance : undefined;
  if (backup?.status === way.step.via && held) return { backup, instance: held };
  await db.transaction(async (tx) => {
    await abandon(tx, way.step, 'share_backups', backupId);
    if (held) await letGo(tx, way, held, attached !== undefined);
  });
  return undefined;
}

/** The share leaves its state, and its back end lets go of it. */
async function letGo(tx: Tx, way: Way, instance: InstanceRow, isAttached: boolean): Promise<void> {
  await abandon(tx, way.shareStep, 'share_instances', instance.id);
  await setTaskState(tx, instance.shareId, 'data_copying_error');
  if (isAttached) await enqueueDetach(tx, instance);
}

async function fail(
  tx: Tx,
  way: Way,
  { backup, instance }: Subject,
  error: unknown,
  run: Run,
): Promise<void> {
  const { attached } = payloadOf(run);
  await recordDataService(tx, backup.id);
  await recordFailure(tx, backup.id, error instanceof Error ? error.message : String(error));
  await abandon(tx, way.step, 'share_backups', backup.id);
  await letGo(tx, way, instance, attached !== undefined);
  await way.tell?.(tx, instance, run);
  if (attached && way === out) await enqueueDiscard(tx, backup);
}

/** Files of a backup that failed are of no use. Their removal is a job: only the run that ended it may begin it. */
async function enqueueDiscard(tx: Tx, backup: ShareBackupRow): Promise<void> {
  await enqueue(tx, {
    kind: discardBackup.kind,
    queue: DATA_QUEUE,
    resource: backup.share_id,
    payload: { backupId: backup.id },
  });
}

const discardBackup = job<ShareBackupRow, void>({
  kind: backupJobs.discard,
  deadlineMs: minutes(24 * 60),
  load: (run) => loadIn(run, backupLife.create.onError),
  perform: removeFiles,
  async succeed() {},
  // They go with the backup, when it is deleted.
  async fail() {},
});

/** Removes a backup: its files, its row, and what it counted. */
const deleteBackup = job<ShareBackupRow, void>({
  kind: backupLife.delete.kind,
  deadlineMs: minutes(24 * 60),
  load: (run) => loadIn(run, backupLife.delete.via),
  perform: removeFiles,
  async succeed(tx, backup) {
    if (!(await removeBackup(tx, backup.id))) return;
    const owner = { projectId: backup.project_id, userId: backup.user_id, shareTypeId: null };
    await release(tx, owner, backupsQuota(backup.size));
  },
  async fail(tx, backup, error) {
    await recordFailure(tx, backup.id, error instanceof Error ? error.message : String(error));
    await abandon(tx, backupLife.delete, 'share_backups', backup.id);
  },
});

async function loadIn(run: Run, status: string): Promise<ShareBackupRow | undefined> {
  const backup = await findBackup(run.tools.db, payloadOf(run).backupId);
  return backup?.status === status ? backup : undefined;
}

export const shareBackupJobs = [
  attach(out),
  copy(out),
  attach(back),
  copy(back),
  deleteBackup,
  discardBackup,
];
