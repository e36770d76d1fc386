/** Snapshots: taken and removed by the worker of the back end that their share is on. */

import type { Tx } from '#db/connection.ts';
import type { MessageAction } from '#db/messages.ts';
import { release } from '#db/quotas.ts';
import {
  recordSnapshotMade,
  removeSnapshotInstance,
  replaceSnapshotExportLocations,
} from '#db/snapshotInstances.ts';
import { backendSnapshot, type DrivenSnapshot, findDrivenSnapshot, isBeingCloned } from '#db/snapshots.ts';
import { abandon, complete } from '#db/transition.ts';
import type { NamedStep } from '#domain/lifecycle.ts';
import { snapshotLife, snapshotsQuota } from '#domain/snapshots.ts';
import { DriverError, type SnapshotCreated, type Snapshots } from '#drivers/driver.ts';
import { type Job, job, minutes, type Run, TryAgain } from './job.ts';
import { look } from './shareReplicaState.ts';
import { driverOf } from './shares.ts';
import { tell } from './tell.ts';

export const createSnapshot = job<DrivenSnapshot, SnapshotCreated>({
  kind: snapshotLife.create.kind,
  deadlineMs: minutes(30),
  load: (run) => loadIn(run, snapshotLife.create),
  perform: take,
  undo: (snapshot, run) => snapshotsOf(run, snapshot).delete(backendSnapshot(snapshot), run.signal),
  async succeed(tx, snapshot, made) {
    await recordSnapshotMade(tx, snapshot.id, made.providerLocation ?? null);
    // Only what can be mounted is shown where.
    if (snapshot.mountable) {
      await replaceSnapshotExportLocations(tx, snapshot.id, made.exportLocations ?? []);
    }
    await complete(tx, snapshotLife.create, 'share_snapshot_instances', snapshot.id);
  },
  async fail(tx, snapshot, _error, run) {
    await abandon(tx, snapshotLife.create, 'share_snapshot_instances', snapshot.id);
    await tellOfSnapshot(tx, snapshot, run, 'create');
  },
});

/** Takes it of the share, or of the active replica: the others get theirs from that one. */
async function take(snapshot: DrivenSnapshot, run: Run): Promise<SnapshotCreated> {
  const { share } = snapshot;
  if (share.replicaState === null || share.replicaState === 'active')
    return snapshotsOf(run, snapshot).create(backendSnapshot(snapshot), run.signal);
  const { snapshots } = await look(share, run);
  if (!snapshots.some(({ id }) => id === snapshot.id))
    throw new DriverError('notFound', 'the active replica has no such snapshot');
  return {};
}

/** Unmakes a snapshot: its exports, its data, its rows, and what it counted. */
const deletion = (step: NamedStep): Job<DrivenSnapshot, void> => ({
  kind: step.kind,
  deadlineMs: minutes(30),
  load: (run) => loadIn(run, step),
  async perform(snapshot, run) {
    if (await isBeingCloned(run.tools.db, snapshot.snapshotId)) {
      throw new TryAgain(`a share is just being made from snapshot ${snapshot.snapshotId}`, {
        counts: false,
      });
    }
    try {
      const driven = backendSnapshot(snapshot);
      const driver = snapshotsOf(run, snapshot);
      if (snapshot.mountable) await driver.syncAccess?.(driven, [], run.signal);
      await driver.delete(driven, run.signal);
    } catch (error) {
      if (run.row.payload.force !== true || run.signal.aborted) throw error;
      run.tools.log('warn', 'a snapshot is deleted by force, its back end may keep a rest', {
        snapshot: snapshot.snapshotId,
        error: (error as Error).message,
      });
    }
  },
  async succeed(tx, snapshot) {
    const wasLast = await removeSnapshotInstance(tx, snapshot.id, snapshot.snapshotId);
    // What was deferred has been given back when it began.
    if (!wasLast || step === snapshotLife.deferDelete) return;
    const owner = {
      projectId: snapshot.projectId,
      userId: snapshot.userId,
      shareTypeId: snapshot.share.shareTypeId,
    };
    await release(tx, owner, snapshotsQuota(snapshot.size));
  },
  async fail(tx, snapshot, _error, run) {
    await abandon(tx, step, 'share_snapshot_instances', snapshot.id);
    if (step === snapshotLife.delete) await tellOfSnapshot(tx, snapshot, run, 'delete');
  },
});
export const deleteSnapshot = deletion(snapshotLife.delete);
const deferredDeleteSnapshot = deletion(snapshotLife.deferDelete);

/** The instance, while it is still in the step's state. */
async function loadIn({ tools, row }: Run, step: NamedStep): Promise<DrivenSnapshot | undefined> {
  const snapshot = await findDrivenSnapshot(tools.db, row.payload.instanceId as string);
  return snapshot?.status === step.via ? snapshot : undefined;
}

/** What the snapshot's back end can do with snapshots; nothing is a failure of the job. */
export function snapshotsOf(run: Run, { share }: DrivenSnapshot): Snapshots {
  const { snapshots } = driverOf(run, share);
  if (!snapshots) throw new DriverError('unsupported', 'the back end takes no snapshots');
  return snapshots;
}

/** A user message about the snapshot, to the project it belongs to. */
export function tellOfSnapshot(
  tx: Tx,
  snapshot: DrivenSnapshot,
  run: Run,
  action: MessageAction,
): Promise<void> {
  const about = {
    projectId: snapshot.projectId,
    resourceType: 'SHARE_SNAPSHOT',
    resourceId: snapshot.snapshotId,
  } as const;
  return tell(tx, run, about, action, 'unknownError');
}

export const snapshotJobs = [createSnapshot, deleteSnapshot, deferredDeleteSnapshot];
