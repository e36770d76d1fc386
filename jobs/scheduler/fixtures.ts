/** Pools and requests for the scheduler's tests, plain unless a test says otherwise. */
import { type PoolState, poolStates, type ServiceEntry, type ServiceState } from './hostState.ts';
import type { ScheduleRequest } from './request.ts';

export const REPORTED_AT = '2026-01-01T00:00:00.000000';

export function entry(
  backend: string,
  pools: Record<string, unknown>[],
  service: Partial<ServiceState> = {},
  at = REPORTED_AT,
): ServiceEntry {
  const host = `h@${backend}`;
  const stats = {
    share_backend_name: backend,
    driver_handles_share_servers: false,
    snapshot_support: true,
    storage_protocol: 'NFS_CIFS',
    pools: pools.map((pool, i) => ({
      pool_name: `p${i + 1}`,
      total_capacity_gb: 1000,
      free_capacity_gb: 1000,
      reserved_percentage: 0,
      ...pool,
    })),
  };
  return {
    service: { host, availabilityZone: 'nova', up: true, disabled: false, ...service },
    report: { host, at, stats },
  };
}

/** The pool h@a#p1. */
export function pool(reported: Record<string, unknown> = {}, service: Partial<ServiceState> = {}): PoolState {
  return poolStates(entry('a', [reported], service))[0]!;
}

export function request(given: Partial<ScheduleRequest> = {}): ScheduleRequest {
  const shareType = { name: 'plain', extraSpecs: { driver_handles_share_servers: 'False' } };
  return { kind: 'create', id: 'i1', size: 10, protocol: 'NFS', shareType, availabilityZone: null, ...given };
}

/** A request whose type has these specs. */
export function typed(
  extraSpecs: Record<string, string>,
  given: Partial<ScheduleRequest> = {},
): ScheduleRequest {
  return request({ shareType: { name: 'typed', extraSpecs }, ...given });
}
