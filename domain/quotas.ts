/** Quotas: which resources are counted and how a request is measured against the limits. */

/** Every counted resource, by the name in the database and the API. -1 is no limit. */
export const quotaResources = [
  'shares',
  'gigabytes',
  'snapshots',
  'snapshot_gigabytes',
  'share_networks',
  'share_groups',
  'share_group_snapshots',
  'share_replicas',
  'replica_gigabytes',
  'per_share_gigabytes',
  'backups',
  'backup_gigabytes',
  'encryption_keys',
] as const;

export type QuotaResource = (typeof quotaResources)[number];

/** Counted per share type as well as per project and user. */
export const shareTypeResources = [
  'shares',
  'gigabytes',
  'snapshots',
  'snapshot_gigabytes',
  'share_replicas',
  'replica_gigabytes',
] as const satisfies readonly QuotaResource[];

/** Limits in force when nobody set others: the `[quota]` section. */
export type QuotaDefaults = Readonly<Record<QuotaResource, number>>;

/** How much more of what: positive takes, negative gives back. */
export type Deltas = Partial<Record<QuotaResource, number>>;

export interface Usage {
  in_use: number;
  reserved: number;
}

/** The first resource whose limit `deltas` would pass; giving back is always allowed. */
export function exceeded(
  deltas: Deltas,
  limits: Readonly<Record<string, number>>,
  usages: ReadonlyMap<string, Usage>,
): { resource: QuotaResource; requested: number; used: number; limit: number } | undefined {
  for (const [resource, delta] of Object.entries(deltas) as [QuotaResource, number][]) {
    const limit = limits[resource] ?? -1;
    const usage = usages.get(resource);
    const used = (usage?.in_use ?? 0) + (usage?.reserved ?? 0);
    if (delta > 0 && limit >= 0 && used + delta > limit) return { resource, requested: delta, used, limit };
  }
  return undefined;
}
