/**
 * What the fake back end says of itself. The defaults are those of the service that the recordings were made
 * from, down to the capabilities that come with replication and share servers.
 *
 *   fake_driver_pools = name:total:free,…            GiB, or unknown or infinite; default
 *                                                    fake_pool_for_<share_backend_name>:1230:1210
 *   fake_driver_capabilities = {"dedupe": true}      JSON, laid over the back end's report
 *   fake_driver_pool_capabilities = {"thin_provisioning": true}   JSON, laid over every pool's
 */
import type { BackendStats, PoolStats } from '../driver.ts';
import type { CommonReport, Options } from '../options.ts';

type Capacity = number | 'unknown' | 'infinite';

export function fakeStats(options: Options, common: CommonReport): BackendStats {
  return {
    share_backend_name: common.backendName,
    driver_handles_share_servers: common.handlesShareServers,
    vendor_name: 'Open Source',
    driver_version: '1.0',
    storage_protocol: 'NFS_CIFS',
    snapshot_support: true,
    create_share_from_snapshot_support: true,
    revert_to_snapshot_support: true,
    mount_snapshot_support: true,
    snapshot_inherit_share_access_support: false,
    dedupe: false,
    compression: false,
    // replicas need a back end whose servers aren't per share network
    replication_type: common.handlesShareServers ? null : 'readable',
    replication_domain: common.replicationDomain,
    sg_consistent_snapshot_support: 'pool',
    security_service_update_support: true,
    network_allocation_update_support: true,
    share_server_multiple_subnet_support: true,
    share_replicas_migration_support: true,
    ...(common.handlesShareServers ? { share_server_migration_support: serverMigration } : {}),
    encryption_support: ['share_server'],
    qos_type_support: true,
    ipv4_support: true,
    ipv6_support: false,
    ...common.functions,
    ...options.object('fake_driver_capabilities'),
    pools: fakePools(options, common),
  };
}

/** What the migration of a share server can do, as ShareServerMigration.check answers it. */
const serverMigration = {
  writable: true,
  nondisruptive: false,
  preserve_snapshots: true,
  migration_cancel: true,
  migration_get_progress: true,
};

function fakePools(options: Options, common: CommonReport): PoolStats[] {
  const described = options.text('fake_driver_pools', `fake_pool_for_${common.backendName}:1230:1210`);
  const extra = options.object('fake_driver_pool_capabilities');
  return described
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean)
    .map((item) => {
      const [name = '', total = '1230', free = total] = item.split(':');
      if (!/^[\w.-]+$/.test(name)) options.refuse('fake_driver_pools', `'${name}' can't name a pool`);
      return {
        pool_name: name,
        total_capacity_gb: capacity(options, total),
        free_capacity_gb: capacity(options, free),
        ...common.pool,
        ...extra,
      };
    });
}

function capacity(options: Options, text: string): Capacity {
  if (text === 'unknown' || text === 'infinite') return text;
  const gib = Number(text);
  if (text === '' || !(gib >= 0)) options.refuse('fake_driver_pools', `'${text}' is not a capacity in GiB`);
  return gib;
}
