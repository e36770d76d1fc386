/**
 * Snapshots of share groups: of all shares at one moment where the back end can, else one after the other. They are
 * taken and removed by the worker of the group's back end.
 */
import { release } from '#db/quotas.ts';
import {
  findDrivenMember,
  findShareGroupSnapshot,
  isAnyMemberBeingCloned,
  removeShareGroupSnapshot,
  type ShareGroupSnapshotRow,
} from '#db/shareGroupSnapshots.ts';
import { findShareGroup, type ShareGroupRow } from '#db/shareGroups.ts';
import { recordSnapshotMade } from '#db/snapshotInstances.ts';
import { backendSnapshot, type DrivenSnapshot } from '#db/snapshots.ts';
import { abandon, complete } from '#db/transition.ts';
import type { BackendGroupSnapshot } from '#domain/backend.ts';
import type { NamedStep } from '#domain/lifecycle.ts';
import { shareGroupSnapshotLife } from '#domain/shareGroups.ts';
import { snapshotLife } from '#domain/snapshots.ts';
import { DriverError, type SnapshotCreated, type Snapshots } from '#drivers/driver.ts';
import { job, minutes, type Run, TryAgain } from './job.ts';
import { driverOfGroup, groupOnServer, tellOfGroup } from './shareGroups.ts';

interface Subject {
  snapshot: ShareGroupSnapshotRow;
  group: ShareGroupRow;
  members: DrivenSnapshot[];
}

export const createShareGroupSnapshot = job<Subject, ReadonlyMap<string, SnapshotCreated>>({
  kind: shareGroupSnapshotLife.create.kind,
  deadlineMs: minutes(30),
  load: (run) => loadIn(run, shareGroupSnapshotLife.create),
  async perform(subject, run) {
    const { groups } = driverOfGroup(run, subject.group);
    if (groups) return groups.createSnapshot(await backendGroupSnapshot(subject, run), run.signal);
    const snapshots = subject.members.length === 0 ? undefined : snapshotsOf(run, subject);
    const made = new Map<string, SnapshotCreated>();
    for (const member of subject.members)
      made.set(member.id, await snapshots!.create(backendSnapshot(member), run.signal));
    return made;
  },
  undo: removeFromBackend,
  async succeed(tx, { snapshot, members }, made) {
    for (const { id } of members) {
      await recordSnapshotMade(tx, id, made.get(id)?.providerLocation ?? null);
      await complete(tx, snapshotLife.create, 'share_snapshot_instances', id);
    }
    await complete(tx, shareGroupSnapshotLife.create, 'share_group_snapshots', snapshot.id);
  },
  async fail(tx, { snapshot, group, members }, _error, run) {
    for (const { id } of members) await abandon(tx, snapshotLife.create, 'share_snapshot_instances', id);
    await abandon(tx, shareGroupSnapshotLife.create, 'share_group_snapshots', snapshot.id);
    await tellOfGroup(tx, group, run, 'create', 'unknownError');
  },
});

/** Unmakes a snapshot with its members: the data, the rows, and what it counted. */
export const deleteShareGroupSnapshot = job<Subject, void>({
  kind: shareGroupSnapshotLife.delete.kind,
  deadlineMs: minutes(30),
  load: (run) => loadIn(run, shareGroupSnapshotLife.delete),
  async perform(subject, run) {
    const { id } = subject.snapshot;
    if (await isAnyMemberBeingCloned(run.tools.db, id))
      throw new TryAgain(`a share is just being made from share group snapshot ${id}`, { counts: false });
    try {
      await removeFromBackend(subject, run);
    } catch (error) {
      if (run.row.payload.force !== true || run.signal.aborted) throw error;
      run.tools.log('warn', 'a share group snapshot is deleted by force, its back end may keep a rest', {
        shareGroupSnapshot: id,
        error: (error as Error).message,
      });
    }
  },
  async succeed(tx, { snapshot }) {
    if (!(await removeShareGroupSnapshot(tx, snapshot.id))) return;
    const owner = { projectId: snapshot.project_id, userId: snapshot.user_id, shareTypeId: null };
    await release(tx, owner, { share_group_snapshots: 1 });
  },
  async fail(tx, { snapshot, group }, _error, run) {
    await abandon(tx, shareGroupSnapshotLife.delete, 'share_group_snapshots', snapshot.id);
    await tellOfGroup(tx, group, run, 'delete', 'unknownError');
  },
});

async function removeFromBackend(subject: Subject, run: Run): Promise<void> {
  const { groups } = driverOfGroup(run, subject.group);
  if (groups) return groups.deleteSnapshot(await backendGroupSnapshot(subject, run), run.signal);
  for (const member of subject.members)
    await snapshotsOf(run, subject).delete(backendSnapshot(member), run.signal);
}

/** The snapshot with its group and members, while it is still in the step's state. */
async function loadIn({ tools: { db }, row }: Run, step: NamedStep): Promise<Subject | undefined> {
  const snapshot = await findShareGroupSnapshot(db, row.payload.groupSnapshotId as string);
  if (snapshot?.status !== step.via) return undefined;
  const group = await findShareGroup(db, snapshot.share_group_id);
  if (!group) return undefined;
  const members = await Promise.all(snapshot.members.map(({ id }) => findDrivenMember(db, id)));
  return { snapshot, group, members: members.filter((member) => member !== undefined) };
}

function snapshotsOf(run: Run, { group }: Subject): Snapshots {
  const { snapshots } = driverOfGroup(run, group);
  if (!snapshots) throw new DriverError('unsupported', 'the back end takes no snapshots');
  return snapshots;
}

async function backendGroupSnapshot(
  { snapshot, group, members }: Subject,
  run: Run,
): Promise<BackendGroupSnapshot> {
  return { id: snapshot.id, group: await groupOnServer(group, run), members: members.map(backendSnapshot) };
}

export const shareGroupSnapshotJobs = [createShareGroupSnapshot, deleteShareGroupSnapshot];
