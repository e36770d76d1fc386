/** Replicas are looked at now and then, or when an administrator asks: how near are they to the active one? */
import { heldRules } from '#db/heldRules.ts';
import { enqueue } from '#db/outbox.ts';
import { recordReplicaSnapshots, snapshotsOfReplica } from '#db/replicaSnapshots.ts';
import { findInstance, type InstanceRow, instancesOf } from '#db/shareInstances.ts';
import { backendReplica, quietReplicas, setReplicaState } from '#db/shareReplicas.ts';
import type { ReplicaSnapshot, ReplicaState } from '#domain/backend.ts';
import { shareQueue } from '#domain/services.ts';
import { replicaJobs } from '#domain/shareReplicas.ts';
import { job, minutes, type Run, type Tools } from './job.ts';
import type { PeriodicTask } from './periodic.ts';
import { activeOf, detailOf, replicationOf, tellOfReplica } from './shareReplicas.ts';

interface Look {
  state: ReplicaState;
  snapshots: readonly ReplicaSnapshot[];
}

/** States of the row in which its back end can be asked. */
const settled = ['available', 'error'];

export const updateReplica = job<InstanceRow, Look>({
  kind: replicaJobs.update,
  deadlineMs: minutes(60),
  async load({ tools, row }) {
    const replica = await findInstance(tools.db, row.payload.replicaId as string);
    if (!replica?.host || replica.replicaState === 'active') return undefined;
    return settled.includes(replica.status) ? replica : undefined;
  },
  perform: look,
  async succeed(tx, replica, { state, snapshots }) {
    await recordReplicaSnapshots(tx, replica.id, snapshots);
    if (state !== replica.replicaState) await setReplicaState(tx, replica.id, state);
  },
  async fail(tx, replica, error, run) {
    // Told once, not every time that it is looked at.
    const before = await setReplicaState(tx, replica.id, 'error');
    if (before === 'error' && run.row.payload.asked !== true) return;
    await tellOfReplica(tx, replica, run, 'update', detailOf(error));
  },
});

/** Brings a replica nearer to the active one, with the share's snapshots, and answers how it is. */
export async function look(replica: InstanceRow, run: Run): Promise<Look> {
  const { db } = run.tools;
  const active = activeOf(await instancesOf(db, replica.shareId));
  const snapshots = await snapshotsOfReplica(db, replica, active);
  const state = await replicationOf(run, replica).update(
    backendReplica(replica),
    backendReplica(active),
    await heldRules(db, replica.id),
    snapshots,
    run.signal,
  );
  return { state, snapshots };
}

/** Queues a look at each replica of a back end, `host@backend`, whose share nothing is at work on. */
export async function lookAtReplicas({ db }: Pick<Tools, 'db'>, backend: string): Promise<void> {
  for (const { id, shareId, host } of await quietReplicas(db, backend)) {
    await db.transaction((tx) =>
      enqueue(tx, {
        kind: replicaJobs.update,
        queue: shareQueue(host),
        resource: shareId,
        payload: { replicaId: id },
      }),
    );
  }
}

/** The look at the replicas of one back end, `host@backend`, every so many seconds. */
export function replicaStateTask(tools: Tools, backend: string, seconds: number): PeriodicTask {
  return {
    name: `replicas of ${backend}`,
    intervalMs: seconds * 1000,
    run: () => lookAtReplicas(tools, backend),
  };
}

export const replicaStateJobs = [updateReplica];
