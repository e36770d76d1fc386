/** Promotion: another replica becomes the active one, and the rules of all follow. */
import type { Tx } from '#db/connection.ts';
import { heldRules } from '#db/heldRules.ts';
import { enqueue } from '#db/outbox.ts';
import { type InstanceRow, instancesOf, replaceExportLocations } from '#db/shareInstances.ts';
import { backendReplica, castRules, setReplicaState } from '#db/shareReplicas.ts';
import { abandon, complete } from '#db/transition.ts';
import { shareQueue } from '#domain/services.ts';
import { castsToReadonly, replicaLife, statesAfterPromotion } from '#domain/shareReplicas.ts';
import { shareJobs } from '#domain/shares.ts';
import { DriverError, type ReplicaChange } from '#drivers/driver.ts';
import { job, minutes, type Run } from './job.ts';
import { loadIn, replicationOf, tellOfReplica } from './shareReplicas.ts';

interface Promotion {
  replica: InstanceRow;
  /** the share's replicas that pools have, the promoted one among them */
  all: InstanceRow[];
}

export const promoteReplica = job<Promotion, ReplicaChange[]>({
  kind: replicaLife.promote.kind,
  deadlineMs: minutes(60),
  async load(run) {
    const replica = await loadIn(run, replicaLife.promote);
    if (!replica) return undefined;
    const instances = await instancesOf(run.tools.db, replica.shareId);
    return {
      replica,
      all: instances.filter(({ host, replicaState }) => host !== null && replicaState !== null),
    };
  },
  async perform({ replica, all }, run) {
    const changes = await replicationOf(run, replica).promote(
      backendReplica(replica),
      all.map(backendReplica),
      await heldRules(run.tools.db, replica.id, { asActive: true }),
      run.row.payload.quiesceSeconds as number | null,
      run.signal,
    );
    const own = changes.find(({ id }) => id === replica.id);
    if (own && own.replicaState !== 'active')
      throw new DriverError('failed', `after its promotion the replica is ${own.replicaState}`);
    return changes;
  },
  async succeed(tx, { replica, all }, changes, run) {
    const told = new Map(changes.map(({ id, replicaState }) => [id, replicaState]));
    const states = statesAfterPromotion(all, replica.id, told, replica.replicationType);
    for (const each of all) {
      const state = states.get(each.id) ?? null;
      await setReplicaState(tx, each.id, state);
      const locations = changes.find(({ id }) => id === each.id)?.exportLocations;
      if (locations) await replaceExportLocations(tx, each.id, locations);
      if (each.replicaState !== state) await followWithRules(tx, each, state, run);
    }
    await complete(tx, replicaLife.promote, 'share_instances', replica.id);
  },
  async fail(tx, { replica }, _error, run) {
    await abandon(tx, replicaLife.promote, 'share_instances', replica.id);
    await tellOfReplica(tx, replica, run, 'promote', 'unknownError');
  },
});

/** What may be written to changed places: the rules of a replica that became active, or no longer is, are told anew. */
async function followWithRules(tx: Tx, replica: InstanceRow, state: string | null, run: Run): Promise<void> {
  if (replica.replicationType === 'writable') return;
  await castRules(tx, replica.id, castsToReadonly(replica.replicationType, state));
  await enqueue(tx, {
    kind: shareJobs.access,
    queue: shareQueue(replica.host!),
    resource: replica.shareId,
    payload: { ...run.requester, instanceId: replica.id },
  });
}

export const replicaPromotionJobs = [promoteReplica];
