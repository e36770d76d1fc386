/** Shares: placed by the scheduler, made and unmade by the worker of their back end. */

import type { Queries, Tx } from '#db/connection.ts';
import type { MessageAction, MessageDetail } from '#db/messages.ts';
import { hasSnapshotsOn } from '#db/replicaSnapshots.ts';
import { forgetServer } from '#db/serverPlacement.ts';
import { endInstance } from '#db/shareDeletion.ts';
import { findDrivenMember } from '#db/shareGroupSnapshots.ts';
import { findShareGroup } from '#db/shareGroups.ts';
import {
  backendShare,
  findInstance,
  type InstanceRow,
  markLaunched,
  placeInstance,
  replaceExportLocations,
} from '#db/shareInstances.ts';
import { setReplicaState } from '#db/shareReplicas.ts';
import { backendSnapshot, type DrivenSnapshot, findDrivenSnapshot, findSnapshot } from '#db/snapshots.ts';
import { abandon, complete } from '#db/transition.ts';
import type { NamedStep } from '#domain/lifecycle.ts';
import { shareQueue } from '#domain/services.ts';
import { shareJobs, shareLife } from '#domain/shares.ts';
import { type Driver, DriverError, type ExportLocation } from '#drivers/driver.ts';
import { type Job, job, minutes, type Run } from './job.ts';
import { PATIENT_ATTEMPTS, placerOf, requestFor, resolveHints } from './placement.ts';
import type { Outcome } from './scheduler/schedule.ts';
import { NoShareServer } from './serverPlacement.ts';
import { isOnBackend, leave, shareOnServer } from './shareOnServer.ts';
import { tell } from './tell.ts';

interface CreatePayload {
  instanceId: string;
  zone: string | null;
  hints: Record<string, string>;
  isAdmin: boolean;
}

/** Finds the pool, then hands the share on to that pool's worker. */
export const scheduleShare = job<InstanceRow, Outcome>({
  kind: shareLife.create.kind,
  deadlineMs: minutes(1),
  load: creatingInstance,
  async perform(instance, { tools, row }) {
    const payload = row.payload as unknown as CreatePayload;
    const source =
      instance.snapshotId === null ? undefined : await findSnapshot(tools.db, instance.snapshotId);
    if (instance.host !== null) return placed(instance.host);
    const request = await requestFor(tools.db, instance, instance.size);
    const outcome = await placerOf(tools).place(
      {
        ...request,
        kind: source ? 'createFromSnapshot' : 'create',
        source: source?.host ? { host: source.host } : null,
        groupHost: await hostOfGroup(tools.db, instance),
        availabilityZone: payload.zone ?? request.availabilityZone,
        hints: await resolveHints(tools.db, payload.hints),
        isAdmin: payload.isAdmin,
      },
      row.attempts < PATIENT_ATTEMPTS,
    );
    await tools.explain?.(instance.shareId, outcome);
    return outcome;
  },
  async succeed(tx, instance, outcome, run) {
    if (outcome.refused) {
      await failCreation(tx, instance, run, 'allocateHost', outcome.detail);
      return;
    }
    await placeInstance(tx, instance.id, outcome.host);
    return { queue: shareQueue(outcome.host), kind: shareJobs.provision };
  },
  async fail(tx, instance, _error, run) {
    await failCreation(tx, instance, run, 'allocateHost', 'unknownError');
  },
});

/** The pool that all shares of the instance's group are on; null when it is in none. */
async function hostOfGroup(db: Queries, { shareGroupId }: InstanceRow): Promise<string | null> {
  if (shareGroupId === null) return null;
  return (await findShareGroup(db, shareGroupId))?.host ?? null;
}

function placed(host: string): Outcome {
  return { refused: false, host, weight: 0, explanation: [], warnings: [] };
}

async function creatingInstance({ tools, row }: Run): Promise<InstanceRow | undefined> {
  const instance = await findInstance(tools.db, row.payload.instanceId as string);
  return instance?.status === shareLife.create.via ? instance : undefined;
}

async function failCreation(
  tx: Tx,
  instance: InstanceRow,
  run: Run,
  action: MessageAction,
  detail: MessageDetail,
): Promise<void> {
  await abandon(tx, shareLife.create, 'share_instances', instance.id);
  await tellOfShare(tx, instance, run, action, detail);
}

/** A user message about the share, to the project it belongs to. */
export function tellOfShare(
  tx: Tx,
  instance: InstanceRow,
  run: Run,
  action: MessageAction,
  detail: MessageDetail,
): Promise<void> {
  const about = {
    projectId: instance.projectId,
    resourceType: 'SHARE',
    resourceId: instance.shareId,
  } as const;
  return tell(tx, run, about, action, detail);
}

/** The driver of an instance's back end; its absence is a failure of the job, not of the process. */
export function driverOf(run: Run, instance: InstanceRow): Driver {
  const driver = run.tools.driver(instance.host!.split('#')[0]!);
  if (!driver) throw new DriverError('failed', `the back end of ${instance.host} is not served here`);
  return driver;
}

interface Provisioning {
  instance: InstanceRow;
  /** what it is made from: a snapshot, or a member of a share group snapshot; undefined when that is gone */
  source: DrivenSnapshot | undefined;
}

const isFromSnapshot = ({ snapshotId, sourceMemberId }: InstanceRow): boolean =>
  (snapshotId ?? sourceMemberId) !== null;

async function sourceOf(
  db: Queries,
  { snapshotId, sourceMemberId }: InstanceRow,
): Promise<DrivenSnapshot | undefined> {
  if (sourceMemberId !== null) return findDrivenMember(db, sourceMemberId);
  const snapshot = snapshotId === null ? undefined : await findSnapshot(db, snapshotId);
  return snapshot && findDrivenSnapshot(db, snapshot.instance_id);
}

/** Makes a placed share on its back end. */
export const provisionShare = job<Provisioning, ExportLocation[]>({
  kind: shareJobs.provision,
  deadlineMs: minutes(30),
  async load(run) {
    const instance = await creatingInstance(run);
    if (!instance) return undefined;
    return { instance, source: await sourceOf(run.tools.db, instance) };
  },
  async perform({ instance, source }, run) {
    const driver = driverOf(run, instance);
    const { shares } = driver;
    if (!isFromSnapshot(instance))
      return shares.create(await shareOnServer(instance, driver, run), run.signal);
    if (!source) throw new DriverError('notFound', 'the snapshot that the share is made from is gone');
    if (!shares.createFromSnapshot)
      throw new DriverError('unsupported', 'the back end makes no shares from snapshots');
    const share = await shareOnServer(instance, driver, run, source.share);
    return shares.createFromSnapshot(share, backendSnapshot(source), run.signal);
  },
  async undo({ instance }, run) {
    const driver = driverOf(run, instance);
    // Read anew: it may have got a share server since.
    const now = driver.servers ? await findInstance(run.tools.db, instance.id) : instance;
    if (now && isOnBackend(now, driver)) await driver.shares.delete(backendShare(now), run.signal);
  },
  async succeed(tx, { instance }, locations) {
    await replaceExportLocations(tx, instance.id, locations);
    await markLaunched(tx, instance.id);
    // A share that can have replicas is its own first.
    if (instance.replicationType !== null) await setReplicaState(tx, instance.id, 'active');
    await complete(tx, shareLife.create, 'share_instances', instance.id);
  },
  async fail(tx, { instance }, error, run) {
    if (error instanceof NoShareServer) {
      await failWithoutServer(tx, instance, error, run);
      return;
    }
    const detail = isFromSnapshot(instance) ? 'driverFailedCreatingFromSnapshot' : 'unknownError';
    await failCreation(tx, instance, run, 'create', detail);
  },
});

/** The share never came onto a server; whoever tried to make one has told why, or else it is told here. */
async function failWithoutServer(
  tx: Tx,
  instance: InstanceRow,
  { told, detail }: NoShareServer,
  run: Run,
): Promise<void> {
  await abandon(tx, shareLife.create, 'share_instances', instance.id);
  await forgetServer(tx, instance.id);
  if (!told) await tellOfShare(tx, instance, run, 'create', detail);
}

/** Unmakes a share: its exports, its data, its rows, and what it counted. */
const deletion = (step: NamedStep): Job<InstanceRow, void> => ({
  kind: step.kind,
  deadlineMs: minutes(30),
  async load({ tools, row }) {
    const instance = await findInstance(tools.db, row.payload.instanceId as string);
    return instance?.status === step.via ? instance : undefined;
  },
  async perform(instance, run) {
    if (step === shareLife.deferDelete && (await hasSnapshotsOn(run.tools.db, instance.id)))
      throw new DriverError('failed', 'its snapshots could not be deleted yet');
    const driver = driverOf(run, instance);
    if (!isOnBackend(instance, driver)) return;
    const share = backendShare(instance);
    try {
      await driver.access.sync(share, [], run.signal);
      await driver.shares.delete(share, run.signal);
    } catch (error) {
      if (run.row.payload.force !== true) throw error;
      run.tools.log('warn', 'a share is deleted by force, its back end may keep a rest', {
        share: instance.shareId,
        error: (error as Error).message,
      });
    }
  },
  async succeed(tx, instance, _result, run) {
    await endInstance(tx, instance);
    await leave(tx, instance, run);
  },
  async fail(tx, instance, _error, run) {
    await abandon(tx, step, 'share_instances', instance.id);
    // Of one that was deferred the project has heard the last; it is tried again.
    if (step === shareLife.delete) await tellOfShare(tx, instance, run, 'delete', 'unknownError');
  },
});
export const deleteShare = deletion(shareLife.delete);
const deferredDeleteShare = deletion(shareLife.deferDelete);

export const shareJobList = [scheduleShare, provisionShare, deleteShare, deferredDeleteShare];
