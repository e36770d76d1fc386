/**
 * What a back end has already comes under management: it is asked where it is and how large, then it counts like any
 * other. Letting go forgets the rows and leaves the data.
 */
import type { Tx } from '#db/connection.ts';
import { recordShareManaged, recordSnapshotManaged } from '#db/managing.ts';
import { mergeMetadata, shareMetadata, snapshotMetadata } from '#db/metadata.ts';
import { count, makeUsage, type QuotaOwner, release, take } from '#db/quotas.ts';
import { backendShare, findInstance, type InstanceRow, removeInstance } from '#db/shareInstances.ts';
import { setReplicaState } from '#db/shareReplicas.ts';
import { keepUnused } from '#db/shareServers.ts';
import { lockShare, setShareSize } from '#db/shares.ts';
import { removeSnapshotInstance, replaceSnapshotExportLocations } from '#db/snapshotInstances.ts';
import { backendSnapshot, type DrivenSnapshot, findDrivenSnapshot, lockSnapshot } from '#db/snapshots.ts';
import { abandon, complete } from '#db/transition.ts';
import { Fault } from '#domain/faults.ts';
import { managedAt } from '#domain/managing.ts';
import { poolsIn, suitsType } from '#domain/pools.ts';
import type { Deltas, QuotaResource } from '#domain/quotas.ts';
import { backendOf } from '#domain/services.ts';
import { shareLife, sharesQuota } from '#domain/shares.ts';
import { handlesShareServers } from '#domain/shareTypes.ts';
import { snapshotLife, snapshotsQuota } from '#domain/snapshots.ts';
import { now } from '#domain/time.ts';
import { DriverError, type ExportLocation, type Managing } from '#drivers/driver.ts';
import { job, minutes, type Run } from './job.ts';
import { driverOf, tellOfShare } from './shares.ts';
import { tellOfSnapshot } from './snapshots.ts';

interface FoundShare {
  /** GiB */
  size: number;
  exportLocations: ExportLocation[];
}

const manageShare = job<InstanceRow, FoundShare>({
  kind: shareLife.manage.kind,
  deadlineMs: minutes(30),
  load: (run) => instanceIn(run, shareLife.manage.via),
  async perform(instance, run) {
    await refuseUnfit(instance, run);
    const found = await managingOf(run, instance).share(backendShare(instance), optionsOf(run), run.signal);
    await makeUsage(run.tools.db, ownerOf(instance), resourcesOf(sharesQuota(1, instance.replicationType)));
    return found;
  },
  async succeed(tx, instance, { size, exportLocations }, run) {
    await recordManagedAt(tx, instance);
    const counted = sharesQuota(size, instance.replicationType);
    const before = sharesQuota(0, instance.replicationType);
    const fits = await countAnew(tx, run, ownerOf(instance), before, {
      ...counted,
      per_share_gigabytes: size,
    });
    if (!fits) return failManaging(tx, instance, run);
    await setShareSize(tx, instance.shareId, size);
    await recordShareManaged(tx, instance, exportLocations);
    if (instance.replicationType !== null) await setReplicaState(tx, instance.id, 'active');
    await complete(tx, shareLife.manage, 'share_instances', instance.id);
  },
  async fail(tx, instance, _error, run) {
    await recordManagedAt(tx, instance);
    await failManaging(tx, instance, run);
  },
});

async function failManaging(tx: Tx, instance: InstanceRow, run: Run): Promise<void> {
  await abandon(tx, shareLife.manage, 'share_instances', instance.id);
  await tellOfShare(tx, instance, run, 'create', 'unknownError');
}

/** The pool must be one of the back end's and suit the type, as if the scheduler had chosen it. */
async function refuseUnfit(instance: InstanceRow, run: Run): Promise<void> {
  const { servers } = driverOf(run, instance);
  if ((servers !== undefined) !== (handlesShareServers(instance.extraSpecs) ?? false))
    throw new DriverError('invalid', 'the share type and the back end handle share servers differently');
  const report = (await run.tools.reports()).find(({ host }) => host === backendOf(instance.host!));
  if (!report) return;
  const pool = poolsIn(report).find(({ name }) => name === instance.host);
  if (!pool) throw new DriverError('invalid', `the back end has no pool ${instance.host}`);
  if (!suitsType(pool, instance.extraSpecs))
    throw new DriverError('invalid', `pool ${pool.name} doesn't suit the share type`);
}

/** Lets a share go: its rows and what it counted are gone, its data stays where it is. */
const unmanageShare = job<InstanceRow, void>({
  kind: shareLife.unmanage.kind,
  deadlineMs: minutes(30),
  load: (run) => instanceIn(run, shareLife.unmanage.via),
  async perform(instance, run) {
    const driver = driverOf(run, instance);
    const share = backendShare(instance);
    if (deniesAccess(run, instance)) await driver.access.sync(share, [], run.signal);
    // A back end that has nothing to do for it lets go by saying nothing.
    await driver.manage?.unmanageShare(share, run.signal);
  },
  async succeed(tx, instance) {
    // The share serves on, and so must what serves it.
    if (instance.shareServerId !== null) await keepUnused(tx, instance.shareServerId);
    if (!(await removeInstance(tx, instance.id, instance.shareId))) return;
    await release(tx, ownerOf(instance), sharesQuota(instance.size, instance.replicationType));
  },
  async fail(tx, instance, _error, run) {
    await abandon(tx, shareLife.unmanage, 'share_instances', instance.id);
    await tellOfShare(tx, instance, run, 'delete', 'unknownError');
  },
});

interface FoundSnapshot {
  size: number;
  providerLocation: string;
  exportLocations?: ExportLocation[];
}

const manageSnapshot = job<DrivenSnapshot, FoundSnapshot>({
  kind: snapshotLife.manage.kind,
  deadlineMs: minutes(30),
  load: (run) => snapshotIn(run, snapshotLife.manage.via),
  async perform(snapshot, run) {
    const driver = managingOf(run, snapshot.share);
    if (!driver.snapshot) throw new DriverError('unsupported', 'the back end manages no snapshots');
    const found = await driver.snapshot(backendSnapshot(snapshot), optionsOf(run), run.signal);
    await makeUsage(run.tools.db, snapshotOwner(snapshot), resourcesOf(snapshotsQuota(1)));
    return found;
  },
  async succeed(tx, snapshot, found, run) {
    await recordSnapshotManagedAt(tx, snapshot);
    const before = snapshotsQuota(snapshot.size);
    const fits = await countAnew(tx, run, snapshotOwner(snapshot), before, snapshotsQuota(found.size));
    if (!fits) return failSnapshot(tx, snapshot, run);
    await recordSnapshotManaged(tx, snapshot, found);
    if (snapshot.mountable)
      await replaceSnapshotExportLocations(tx, snapshot.id, found.exportLocations ?? []);
    await complete(tx, snapshotLife.manage, 'share_snapshot_instances', snapshot.id);
  },
  async fail(tx, snapshot, _error, run) {
    await recordSnapshotManagedAt(tx, snapshot);
    await failSnapshot(tx, snapshot, run);
  },
});

async function failSnapshot(tx: Tx, snapshot: DrivenSnapshot, run: Run): Promise<void> {
  await abandon(tx, snapshotLife.manage, 'share_snapshot_instances', snapshot.id);
  await tellOfSnapshot(tx, snapshot, run, 'create');
}

const unmanageSnapshot = job<DrivenSnapshot, void>({
  kind: snapshotLife.unmanage.kind,
  deadlineMs: minutes(30),
  load: (run) => snapshotIn(run, snapshotLife.unmanage.via),
  async perform(snapshot, run) {
    const driver = driverOf(run, snapshot.share);
    const driven = backendSnapshot(snapshot);
    if (deniesAccess(run, snapshot.share) && snapshot.mountable)
      await driver.snapshots?.syncAccess?.(driven, [], run.signal);
    await driver.manage?.unmanageSnapshot?.(driven, run.signal);
  },
  async succeed(tx, snapshot) {
    if (!(await removeSnapshotInstance(tx, snapshot.id, snapshot.snapshotId))) return;
    await release(tx, snapshotOwner(snapshot), snapshotsQuota(snapshot.size));
  },
  async fail(tx, snapshot, _error, run) {
    await abandon(tx, snapshotLife.unmanage, 'share_snapshot_instances', snapshot.id);
    await tellOfSnapshot(tx, snapshot, run, 'delete');
  },
});

async function instanceIn({ tools, row }: Run, status: string): Promise<InstanceRow | undefined> {
  const instance = await findInstance(tools.db, row.payload.instanceId as string);
  return instance?.status === status ? instance : undefined;
}

async function snapshotIn({ tools, row }: Run, status: string): Promise<DrivenSnapshot | undefined> {
  const snapshot = await findDrivenSnapshot(tools.db, row.payload.instanceId as string);
  return snapshot?.status === status ? snapshot : undefined;
}

function managingOf(run: Run, instance: InstanceRow): Managing {
  const { manage } = driverOf(run, instance);
  if (!manage) throw new DriverError('unsupported', 'the back end can not be asked what it has');
  return manage;
}

/** Do the operators want clients of this back end shut out from what is let go? */
const deniesAccess = ({ tools }: Run, { host }: InstanceRow): boolean =>
  tools.options(backendOf(host!))?.unmanage_remove_access_rules ?? false;

const optionsOf = ({ row }: Run) => (row.payload.driverOptions ?? {}) as Record<string, string>;

const ownerOf = ({ projectId, userId, shareTypeId }: InstanceRow): QuotaOwner => ({
  projectId,
  userId,
  shareTypeId,
});

const snapshotOwner = ({ projectId, userId, share }: DrivenSnapshot): QuotaOwner => ({
  projectId,
  userId,
  shareTypeId: share.shareTypeId,
});

const resourcesOf = (deltas: Deltas) => Object.keys(deltas) as QuotaResource[];

/** Since when it is managed stands in its metadata, whether that worked out or not. */
async function recordManagedAt(tx: Tx, { shareId }: InstanceRow): Promise<void> {
  await lockShare(tx, shareId);
  await mergeMetadata(tx, shareMetadata, shareId, managedAt(now()));
}

async function recordSnapshotManagedAt(tx: Tx, { snapshotId }: DrivenSnapshot): Promise<void> {
  await lockSnapshot(tx, snapshotId);
  await mergeMetadata(tx, snapshotMetadata, snapshotId, managedAt(now()));
}

/** Counts it as what it is, in place of what was counted so far; false, and all as before, when that doesn't fit. */
async function countAnew(
  tx: Tx,
  run: Run,
  owner: QuotaOwner,
  before: Deltas,
  after: Deltas,
): Promise<boolean> {
  await release(tx, owner, before);
  try {
    await take(tx, owner, after, run.tools.settings.quota);
    return true;
  } catch (error) {
    if (!(error instanceof Fault && error.code === 'overQuota')) throw error;
    run.tools.log('warn', 'what a back end has is more than the quota admits', { reason: error.message });
    await count(tx, owner, before);
    return false;
  }
}

export const managingJobs = [manageShare, unmanageShare, manageSnapshot, unmanageSnapshot];
