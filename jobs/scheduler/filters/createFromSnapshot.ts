/** A share from a snapshot: on its source's back end, or on one that replicates with it. */
import { backendOf } from '#domain/services.ts';
import type { Filter } from './filter.ts';

export const createFromSnapshot: Filter = {
  name: 'CreateFromSnapshotFilter',
  detail: 'filterCreateFromSnapshot',
  check(pool, { kind, source }) {
    if (kind !== 'createFromSnapshot' || !source) return null;
    if (backendOf(pool.host) === backendOf(source.host)) return null;
    const domain = pool.replicationDomain;
    const sourceDomain = source.replicationDomain ?? null;
    if (domain !== null && domain === sourceDomain) return null;
    return {
      reason: "neither on the snapshot's back end nor in its replication domain",
      numbers: { replication_domain: domain, source: sourceDomain },
    };
  },
};
