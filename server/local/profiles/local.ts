/**
 * Back ends that serve NFS from this machine. Shares are there again at the next start, on the port that they were
 * mounted from. Backups go to a directory beside. `local` has one back end; `tenants` has a second pool in it, for
 * replicas and moves, and another back end with a server for each tenant's network, on loopback addresses.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { canOpenByHandle } from '#drivers/ganesha/privileges.ts';
import { rememberedPort } from '../ports.ts';
import type { Profile } from './profile.ts';

export const local: Profile = {
  name: 'local',
  throwaway: false,
  config: {
    DEFAULT: {
      host: 'localhost',
      my_ip: '127.0.0.1',
      auth_strategy: 'noauth',
      enabled_share_backends: ['ganesha'],
      enabled_share_protocols: ['NFS'],
      default_share_type: 'default',
      report_interval: 5,
      periodic_interval: 15,
    },
    ganesha: {
      share_driver: 'ganesha',
      share_backend_name: 'ganesha',
      driver_handles_share_servers: false,
    },
  },
  async prepare(directory) {
    if (!(await canOpenByHandle()))
      throw new Error(
        'NFS-Ganesha needs root: run this as root, or `make stack` for a service without storage',
      );
    const backups = join(directory, 'backups');
    await mkdir(backups, { recursive: true, mode: 0o700 });
    return {
      DEFAULT: {
        backup_mount_export: backups,
        backup_continue_update_interval: 1,
        restore_continue_update_interval: 1,
      },
      ganesha: { ganesha_service_port: await rememberedPort(join(directory, 'nfs-port')) },
    };
  },
};

export const tenants: Profile = {
  ...local,
  name: 'tenants',
  config: {
    ...local.config,
    DEFAULT: { ...local.config.DEFAULT, enabled_share_backends: ['ganesha', 'tenants'] },
    ganesha: {
      ...local.config.ganesha,
      ganesha_more_pools: 'second',
      replication_domain: 'ganesha',
      replica_state_update_interval: 15,
      migration_driver_continue_update_interval: 1,
    },
    tenants: {
      share_driver: 'ganesha',
      share_backend_name: 'tenants',
      driver_handles_share_servers: true,
      network_api_class: 'standalone',
      standalone_network_plugin_gateway: '127.100.0.1',
      standalone_network_plugin_mask: 16,
      server_migration_driver_continue_update_interval: 1,
      standalone_network_plugin_allowed_ip_ranges: '127.100.1.1-127.100.254.254',
    },
  },
};
