/**
 * Three back ends without storage, shaped as those that the recordings in contract-tests/ were made from: two
 * without share servers that replicate to each other, one with. Short intervals, so that nobody waits.
 */
import type { Profile } from './profile.ts';

export const recorded: Profile = {
  name: 'recorded',
  throwaway: true,
  config: {
    DEFAULT: {
      host: 'refhost',
      my_ip: '127.0.0.1',
      auth_strategy: 'noauth',
      enabled_share_backends: ['alpha', 'beta', 'gamma'],
      enabled_share_protocols: ['NFS', 'CIFS'],
      default_share_type: 'default',
      storage_availability_zone: 'nova',
      report_interval: 3,
      periodic_interval: 5,
      service_down_time: 60,
      replica_state_update_interval: 5,
      migration_driver_continue_update_interval: 2,
      data_access_wait_access_rules_timeout: 10,
    },
    alpha: {
      share_driver: 'fake',
      share_backend_name: 'alpha',
      driver_handles_share_servers: false,
      replication_domain: 'rd1',
    },
    beta: {
      share_driver: 'fake',
      share_backend_name: 'beta',
      driver_handles_share_servers: false,
      replication_domain: 'rd1',
    },
    gamma: {
      share_driver: 'fake',
      share_backend_name: 'gamma',
      driver_handles_share_servers: true,
      network_api_class: 'standalone',
      standalone_network_plugin_gateway: '10.254.0.1',
      standalone_network_plugin_mask: 24,
      standalone_network_plugin_allowed_ip_ranges: '10.254.0.10-10.254.0.200',
      admin_network_config_group: 'adminnet',
    },
    adminnet: {
      network_api_class: 'standalone',
      standalone_network_plugin_gateway: '11.0.0.1',
      standalone_network_plugin_mask: 24,
      standalone_network_plugin_allowed_ip_ranges: '11.0.0.10-11.0.0.250',
    },
  },
};
