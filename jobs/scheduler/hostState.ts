/**
 * The pools as the scheduler sees them: each service row with its last capability report, and what has been
 * placed since. A newer report knows better and wipes what was counted on top of the older one, but for what
 * was placed after it was made.
 */
import { type Capabilities, parseNumber } from '#domain/extraSpecs.ts';
import { type BackendReport, splitHost } from '#domain/services.ts';

/** GiB; 'unknown' and 'infinite' as back ends report them. */
export type Capacity = number | 'unknown' | 'infinite';

/** A share service: `host` is host@backend, `up` says whether its heartbeat is recent enough. */
export interface ServiceState {
  host: string;
  availabilityZone: string | null;
  up: boolean;
  disabled: boolean;
}

/** A service, what it last reported (null: nothing yet), and what our own rows say is on its pools. */
export interface ServiceEntry {
  service: ServiceState;
  report: BackendReport | null;
  /** sum of the sizes of the shares on each pool, GiB, by full host; used where a pool doesn't report it */
  sharesOn?: ReadonlyMap<string, number>;
}

export interface PoolState extends ServiceState {
  /** full host: host@backend#pool */
  host: string;
  backend: string;
  pool: string;
  /** milliseconds since the epoch */
  reportedAt: number;
  /** as reported, the back end's own values beneath the pool's */
  capabilities: Capabilities;
  totalCapacity: Capacity;
  freeCapacity: Capacity;
  allocatedCapacity: number;
  provisionedCapacity: number;
  reservedPercentage: number;
  reservedSnapshotPercentage: number;
  reservedExtendPercentage: number;
  /** null: not reported */
  maxOverSubscriptionRatio: number | null;
  /** the pool can hold thin shares */
  thin: boolean;
  replicationDomain: string | null;
}

function capacity(value: unknown): Capacity {
  if (value === 'infinite' || value === Infinity) return 'infinite';
  return parseNumber(value) ?? 'unknown';
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Reports bear UTC times, as all times of ours without naming the zone. */
function madeAt(report: BackendReport): number {
  return Date.parse(/Z$|[+-]\d\d:\d\d$/.test(report.at) ? report.at : `${report.at}Z`);
}

function poolState(entry: ServiceEntry, report: BackendReport, pool: Record<string, unknown>): PoolState {
  const { service } = entry;
  const { pools: _, ...backendWide } = report.stats;
  const capabilities: Capabilities = { ...backendWide, ...pool };
  const number = (key: string) => parseNumber(capabilities[key]);
  const name = String(pool.pool_name);
  const host = `${service.host}#${name}`;
  const allocated = number('allocated_capacity_gb');
  const reserved = number('reserved_percentage') ?? 0;
  return {
    ...service,
    host,
    backend: splitHost(service.host).backend ?? '',
    pool: name,
    reportedAt: madeAt(report),
    capabilities,
    totalCapacity: capacity(capabilities.total_capacity_gb),
    freeCapacity: capacity(capabilities.free_capacity_gb),
    allocatedCapacity: allocated ?? entry.sharesOn?.get(host) ?? 0,
    provisionedCapacity: number('provisioned_capacity_gb') ?? entry.sharesOn?.get(host) ?? allocated ?? 0,
    reservedPercentage: reserved,
    reservedSnapshotPercentage: number('reserved_snapshot_percentage') ?? reserved,
    reservedExtendPercentage: number('reserved_share_extend_percentage') ?? reserved,
    maxOverSubscriptionRatio: number('max_over_subscription_ratio'),
    thin: [capabilities.thin_provisioning].flat().includes(true),
    replicationDomain: text(capabilities.replication_domain),
  };
}

/** The pools of a service by its last report: none without one. */
export function poolStates(entry: ServiceEntry): PoolState[] {
  const { report } = entry;
  return report === null ? [] : report.stats.pools.map((pool) => poolState(entry, report, pool));
}

/** Counts a share of `size` GiB as placed on the pool, until its next report. */
export function consume(pool: PoolState, size: number): void {
  if (typeof pool.freeCapacity === 'number') pool.freeCapacity -= size;
  pool.allocatedCapacity += size;
  pool.provisionedCapacity += size;
}

interface Placed {
  host: string;
  size: number;
  /** milliseconds since the epoch */
  at: number;
}

/** All pools between reports. One process's memory: what it lost is in the back ends' next reports. */
export class HostStates {
  private readonly services = new Map<string, PoolState[]>();
  private placements: Placed[] = [];

  /** Takes in the services as they are now; those not among them are forgotten. */
  refresh(entries: readonly ServiceEntry[]): void {
    const present = new Set(entries.map((entry) => entry.service.host));
    for (const host of this.services.keys()) if (!present.has(host)) this.services.delete(host);
    for (const entry of entries) this.services.set(entry.service.host, this.updated(entry));
    const reportedAt = new Map(this.pools().map((pool) => [pool.host, pool.reportedAt]));
    this.placements = this.placements.filter(({ host, at }) => at > (reportedAt.get(host) ?? Infinity));
  }

  /** The pools, in the order of their names. */
  pools(): PoolState[] {
    return [...this.services.values()].flat().sort((a, b) => (a.host < b.host ? -1 : 1));
  }

  /** Counts a placement made at `at` (ms) on a pool, until a report made later than that. */
  consume(fullHost: string, size: number, at: number): void {
    this.placements.push({ host: fullHost, size, at });
    for (const pool of this.pools()) if (pool.host === fullHost) consume(pool, size);
  }

  private updated(entry: ServiceEntry): PoolState[] {
    const known = this.services.get(entry.service.host) ?? [];
    const isSameReport =
      known.length > 0 && entry.report !== null && known[0]!.reportedAt === madeAt(entry.report);
    const { availabilityZone, up, disabled } = entry.service;
    if (isSameReport) return known.map((pool) => Object.assign(pool, { availabilityZone, up, disabled }));
    const pools = poolStates(entry);
    for (const { host, size, at } of this.placements) {
      // a report on its way while we placed doesn't know of it yet
      for (const pool of pools) if (pool.host === host && at > pool.reportedAt) consume(pool, size);
    }
    return pools;
  }
}
