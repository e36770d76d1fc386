/** What the share group type asks of snapshots: of all shares of a pool, or of a host, at one moment. */
import type { Filter } from './filter.ts';

const CAPABILITY = 'consistent_snapshot_support';

export const consistentSnapshot: Filter = {
  name: 'ConsistentSnapshotFilter',
  detail: 'noValidHost',
  check(pool, { groupSpecs }) {
    const asked = groupSpecs?.[CAPABILITY] ?? null;
    const reported = pool.capabilities[`sg_${CAPABILITY}`] ?? null;
    if (asked === null || asked === reported) return null;
    const reports = typeof reported === 'string' ? reported : null;
    return { reason: 'its share groups are not snapshotted as asked for', numbers: { reports, asked } };
  },
};
