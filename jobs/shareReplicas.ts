/** Share replicas: placed by the scheduler near the active one, made and unmade by the worker of their back end. */

import { settleRules } from '#db/accessStates.ts';
import type { Tx } from '#db/connection.ts';
import { heldRules } from '#db/heldRules.ts';
import type { MessageAction, MessageDetail } from '#db/messages.ts';
import { recordReplicaSnapshots, snapshotsOfReplica } from '#db/replicaSnapshots.ts';
import { endInstance } from '#db/shareDeletion.ts';
import {
  findInstance,
  type InstanceRow,
  instancesOf,
  markLaunched,
  placeInstance,
  replaceExportLocations,
} from '#db/shareInstances.ts';
import { backendReplica, setReplicaState } from '#db/shareReplicas.ts';
import { abandon, complete } from '#db/transition.ts';
import type { AccessRuleResult, ReplicaSnapshot, ReplicaState } from '#domain/backend.ts';
import type { NamedStep } from '#domain/lifecycle.ts';
import { shareQueue } from '#domain/services.ts';
import { replicaJobs, replicaLife } from '#domain/shareReplicas.ts';
import { DriverError, type ExportLocation, type Replication } from '#drivers/driver.ts';
import { syncAccess } from './access.ts';
import { job, minutes, type Run } from './job.ts';
import { PATIENT_ATTEMPTS, placerOf, requestFor } from './placement.ts';
import type { Outcome } from './scheduler/schedule.ts';
import { driverOf } from './shares.ts';
import { tell } from './tell.ts';

interface CreatePayload {
  replicaId: string;
  onlyHost: string | null;
  isAdmin: boolean;
}

/** Finds a pool that replicates with the active one's, then hands the replica on to that pool's worker. */
export const scheduleReplica = job<InstanceRow, Outcome>({
  kind: replicaLife.create.kind,
  deadlineMs: minutes(1),
  load: (run) => loadIn(run, replicaLife.create),
  async perform(replica, { tools, row }) {
    const { onlyHost, isAdmin } = row.payload as unknown as CreatePayload;
    const others = (await instancesOf(tools.db, replica.shareId)).filter(
      ({ id, replicaState }) => id !== replica.id && replicaState !== null,
    );
    const active = activeOf(others);
    const outcome = await placerOf(tools).place(
      {
        ...(await requestFor(tools.db, replica, replica.size)),
        kind: 'replica',
        replicas: {
          active: { host: active.host!, availabilityZone: active.availabilityZone },
          hosts: others.flatMap(({ host }) => (host === null ? [] : [host])),
        },
        hints: { onlyHost },
        isAdmin,
      },
      row.attempts < PATIENT_ATTEMPTS,
    );
    await tools.explain?.(replica.shareId, outcome);
    return outcome;
  },
  async succeed(tx, replica, outcome, run) {
    if (outcome.refused) return failCreation(tx, replica, run, 'allocateHost', outcome.detail);
    await placeInstance(tx, replica.id, outcome.host);
    return { queue: shareQueue(outcome.host), kind: replicaJobs.provision };
  },
  fail: (tx, replica, error, run) => failCreation(tx, replica, run, 'allocateHost', detailOf(error)),
});

interface Made {
  exportLocations: ExportLocation[];
  replicaState: ReplicaState;
  snapshots: readonly ReplicaSnapshot[];
  access: ReadonlyMap<string, AccessRuleResult>;
}

/** Makes a placed replica on its back end, with the snapshots and the access rules of the share. */
export const provisionReplica = job<InstanceRow, Made>({
  kind: replicaJobs.provision,
  deadlineMs: minutes(60),
  load: (run) => loadIn(run, replicaLife.create),
  async perform(replica, run) {
    const { db } = run.tools;
    const driver = driverOf(run, replica);
    const active = activeOf(await instancesOf(db, replica.shareId));
    const snapshots = await snapshotsOfReplica(db, replica, active);
    const made = await replicationOf(run, replica).create(
      backendReplica(replica),
      backendReplica(active),
      await heldRules(db, replica.id),
      snapshots,
      run.signal,
    );
    return { ...made, snapshots, access: await syncAccess(db, replica, driver, run.signal) };
  },
  async undo(replica, run) {
    const active = (await instancesOf(run.tools.db, replica.shareId)).find(isActive);
    const snapshots = active ? await snapshotsOfReplica(run.tools.db, replica, active) : [];
    await replicationOf(run, replica).delete(backendReplica(replica), snapshots, run.signal);
  },
  async succeed(tx, replica, made) {
    await replaceExportLocations(tx, replica.id, made.exportLocations);
    await recordReplicaSnapshots(tx, replica.id, made.snapshots);
    await settleRules(tx, replica.id, made.access);
    await markLaunched(tx, replica.id);
    await setReplicaState(tx, replica.id, made.replicaState);
    await complete(tx, replicaLife.create, 'share_instances', replica.id);
  },
  fail: (tx, replica, error, run) => failCreation(tx, replica, run, 'create', detailOf(error)),
});

/** Unmakes a replica: its exports, its data, its snapshots, its rows, and what it counted. */
export const deleteReplica = job<InstanceRow, void>({
  kind: replicaLife.delete.kind,
  deadlineMs: minutes(30),
  load: (run) => loadIn(run, replicaLife.delete),
  async perform(replica, run) {
    try {
      const active = (await instancesOf(run.tools.db, replica.shareId)).find(isActive);
      const snapshots = active ? await snapshotsOfReplica(run.tools.db, replica, active) : [];
      await replicationOf(run, replica).delete(backendReplica(replica), snapshots, run.signal);
    } catch (error) {
      if (run.row.payload.force !== true || run.signal.aborted) throw error;
      run.tools.log('warn', 'a replica is deleted by force, its back end may keep a rest', {
        share: replica.shareId,
        replica: replica.id,
        error: (error as Error).message,
      });
    }
  },
  succeed: (tx, replica) => endInstance(tx, replica),
  async fail(tx, replica, error, run) {
    await abandon(tx, replicaLife.delete, 'share_instances', replica.id);
    await tellOfReplica(tx, replica, run, 'delete', detailOf(error));
  },
});

/** The replica, while it is still in the step's state. */
export async function loadIn({ tools, row }: Run, step: NamedStep): Promise<InstanceRow | undefined> {
  const replica = await findInstance(tools.db, row.payload.replicaId as string);
  return replica?.status === step.via ? replica : undefined;
}

const isActive = ({ replicaState }: InstanceRow): boolean => replicaState === 'active';

/** That there is no active replica is a failure of its own: see detailOf. */
class NoActiveReplica extends DriverError {
  constructor() {
    super('notFound', 'the share has no active replica on any pool');
  }
}

/** The active one of a share's replicas. Throws when there is none that a pool has. */
export function activeOf(replicas: readonly InstanceRow[]): InstanceRow {
  const active = replicas.find(isActive);
  if (!active?.host) throw new NoActiveReplica();
  return active;
}

/** What the replica's back end can do with replicas; nothing is a failure of the job. */
export function replicationOf(run: Run, replica: InstanceRow): Replication {
  const { replication } = driverOf(run, replica);
  if (!replication) throw new DriverError('unsupported', 'the back end replicates no shares');
  return replication;
}

/** What a user is told of a failure. */
export function detailOf(error: unknown): MessageDetail {
  return error instanceof NoActiveReplica ? 'noActiveReplica' : 'unknownError';
}

async function failCreation(
  tx: Tx,
  replica: InstanceRow,
  run: Run,
  action: MessageAction,
  detail: MessageDetail,
): Promise<void> {
  await setReplicaState(tx, replica.id, 'error');
  await abandon(tx, replicaLife.create, 'share_instances', replica.id);
  await tellOfReplica(tx, replica, run, action, detail);
}

/** A user message about the replica, to the project of its share. */
export function tellOfReplica(
  tx: Tx,
  replica: InstanceRow,
  run: Run,
  action: MessageAction,
  detail: MessageDetail,
): Promise<void> {
  const about = {
    projectId: replica.projectId,
    resourceType: 'SHARE_REPLICA',
    resourceId: replica.id,
  } as const;
  return tell(tx, run, about, action, detail);
}

export const replicaJobList = [scheduleReplica, provisionReplica, deleteReplica];
