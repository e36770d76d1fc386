/** What the gateway reports of itself. */
import { isIP } from 'node:net';
import type { BackendStats, PoolStats } from '../driver.ts';
import type { Gateway } from './gateway.ts';
import { type GaneshaOptions, GiB } from './settings.ts';
import type { Storage } from './storage.ts';

export async function gatewayStats(gateway: Gateway, signal: AbortSignal): Promise<BackendStats> {
  const { options } = gateway;
  const storages = [...gateway.storages.values()];
  const { handlesShareServers } = options.common;
  const ipv6 = isIP(options.address) === 6;
  return {
    share_backend_name: options.common.backendName,
    driver_handles_share_servers: handlesShareServers,
    vendor_name: 'Shoal',
    driver_version: '1.0',
    storage_protocol: 'NFS',
    snapshot_support: true,
    create_share_from_snapshot_support: true,
    revert_to_snapshot_support: true,
    mount_snapshot_support: true,
    snapshot_inherit_share_access_support: false,
    dedupe: false,
    compression: false,
    replication_type: options.replicates ? 'readable' : null,
    replication_domain: options.replicates ? options.common.replicationDomain : null,
    sg_consistent_snapshot_support: storages.every((storage) => storage.instantSnapshots) ? 'pool' : null,
    qos_type_support: false,
    security_service_update_support: false,
    network_allocation_update_support: false,
    share_server_multiple_subnet_support: false,
    ipv4_support: handlesShareServers || !ipv6 || options.address === '::',
    ipv6_support: handlesShareServers || ipv6,
    // beyond the field: whether a share can outgrow its size
    size_enforcement: storages.every((storage) => storage.enforcesSize),
    ...options.common.functions,
    pools: await Promise.all(
      [...gateway.storages].map(([pool, storage]) => poolStats(pool, storage, options, signal)),
    ),
  };
}

async function poolStats(
  pool: string,
  storage: Storage,
  options: GaneshaOptions,
  signal: AbortSignal,
): Promise<PoolStats> {
  await storage.tidy(signal);
  const capacity = await storage.capacity();
  return {
    pool_name: pool,
    total_capacity_gb: gib(capacity.total),
    // a thick pool has promised each share its whole size
    free_capacity_gb: gib(options.thin ? capacity.free : capacity.unpromised),
    allocated_capacity_gb: gib(capacity.provisioned),
    provisioned_capacity_gb: gib(capacity.provisioned),
    thin_provisioning: options.thin,
    qos: false,
    ...options.common.pool,
  };
}

/** Rounded down: what is reported as free can be had. */
const gib = (bytes: number): number => Math.floor((bytes / GiB) * 100) / 100;
