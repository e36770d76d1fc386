/** Shares that may have replicas need a replication domain; replicas the active one's, and a pool of their own. */
import type { Filter, Refusal } from './filter.ts';

export const shareReplication: Filter = {
  name: 'ShareReplicationFilter',
  detail: 'filterReplication',
  check(pool, request): Refusal | null {
    if (!request.shareType?.extraSpecs.replication_type) return null;
    const domain = pool.replicationDomain;
    if (domain === null)
      return { reason: 'the pool is in no replication domain', numbers: { replication_domain: null } };
    if (request.kind !== 'replica' || !request.replicas) return null;
    const { active, hosts } = request.replicas;
    if (domain !== (active.replicationDomain ?? null)) {
      return {
        reason: "in another replication domain than the share's active replica",
        numbers: { replication_domain: domain, active_replica: active.replicationDomain ?? null },
      };
    }
    if (pool.host !== active.host && !hosts.includes(pool.host)) return null;
    return { reason: 'the pool has a replica of this share already', numbers: { host: pool.host } };
  },
};
