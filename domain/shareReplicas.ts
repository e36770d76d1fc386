/** The life of a share replica, and the rules of what may be asked of one. A replica is a share instance. */
import type { ReplicaState } from './backend.ts';
import { fault } from './faults.ts';
import { gone, lifecycle } from './lifecycle.ts';
import type { Deltas } from './quotas.ts';

export const replicaLife = lifecycle('replica', {
  create: { from: null, via: 'creating', to: 'available', onError: 'error' },
  delete: {
    from: ['available', 'error', 'error_deleting', 'creating', 'deleting', 'inactive'],
    via: 'deleting',
    to: gone,
    onError: 'error_deleting',
    refused: 'invalidReplica',
  },
  promote: {
    from: ['available'],
    via: 'replication_change',
    to: 'available',
    onError: 'error',
    refused: 'invalidReplica',
  },
});

/** Kinds of jobs beside the steps. */
export const replicaJobs = {
  /** a replica that has been placed is made */
  provision: 'replica.provision',
  /** a replica is brought nearer to the active one, and its state is asked for */
  update: 'replica.update',
} as const;

/** What is known of a replica when something is asked of it. */
export interface ReplicaStanding {
  id: string;
  replica_state: string | null;
  host: string | null;
}

export const isActive = (replica: { replica_state: string | null }): boolean =>
  replica.replica_state === ('active' satisfies ReplicaState);

/** A share keeps an active replica for as long as it lives. Throws invalidReplica for the last one. */
export function assertNotLastActive(replica: ReplicaStanding, activeCount: number): void {
  if (!isActive(replica) || activeCount > 1) return;
  throw fault('invalidReplica', {
    reason: `replica ${replica.id} is the only active one of its share; promote another first, or delete the share`,
  });
}

/** What is behind the active replica may lack data: only administrators promote it. */
export function assertPromotable(replica: ReplicaStanding, isAdmin: boolean): void {
  if (isAdmin || replica.replica_state === 'in_sync') return;
  throw fault('notAllowed', {
    reason: `Replica ${replica.id} is ${replica.replica_state}: only administrators can promote one that isn't in_sync.`,
  });
}

/**
 * The seconds to wait for writes to settle, as `promote` takes them; null when it has none. Throws 400 for what is
 * no whole number of seconds.
 */
export function readQuiesceTime(promote: unknown): number | null {
  const asked = (promote as { quiesce_wait_time?: unknown } | null)?.quiesce_wait_time;
  if (asked === undefined || asked === null) return null;
  const seconds = typeof asked === 'string' && /^\d+$/.test(asked) ? Number(asked) : asked;
  if (typeof seconds === 'number' && Number.isSafeInteger(seconds) && seconds >= 0) return seconds;
  throw fault('invalidBody', {
    where: 'promote.quiesce_wait_time',
    reason: `must be a whole number of seconds, not ${JSON.stringify(asked)}`,
  });
}

/** Rules of a readable share's other replicas are for reading, whatever they say. */
export function castsToReadonly(replicationType: string | null, state: string | null): boolean {
  return replicationType === 'readable' && state !== 'active';
}

/**
 * The states of all replicas after a promotion. The back end tells those it knows of; what was active and isn't
 * told of is no longer, unless all replicas of the share are written to.
 */
export function statesAfterPromotion(
  replicas: readonly { id: string; replicaState: string | null }[],
  promotedId: string,
  told: ReadonlyMap<string, string>,
  replicationType: string | null,
): Map<string, string | null> {
  const others = (replica: { id: string; replicaState: string | null }) =>
    replica.replicaState === 'active' && replicationType !== 'writable'
      ? 'out_of_sync'
      : replica.replicaState;
  return new Map(
    replicas.map((replica) => [
      replica.id,
      replica.id === promotedId ? 'active' : (told.get(replica.id) ?? others(replica)),
    ]),
  );
}

/** What a replica of this size counts against its project, user and type, beyond the share itself. */
export function replicasQuota(size: number): Deltas {
  return { share_replicas: 1, replica_gigabytes: size };
}
