/**
 * Options of a back end. They stand in the back end's own section; what is set in [DEFAULT] holds for every back
 * end whose section doesn't set it. Options named `<driver>_…` are the driver's own: it gets and judges their text.
 */
import { driverNames } from '#drivers/index.ts';
import { boolean, choice, float, integer, list, text } from './option.ts';

const percentage = { min: 0, max: 100 };

export const backendOptions = {
  share_driver: choice(
    driverNames,
    null,
    `The driver that serves the back end: ${driverNames.join(' or ')}.`,
  ),
  share_backend_name: text(null, 'What the back end reports as its name; its section’s name by default.'),
  driver_handles_share_servers: boolean(null, 'Whether shares live on share servers of their networks.'),
  backend_host: text(null, 'Takes the place of `host` in the name of this back end’s service.'),
  backend_availability_zone: text(null, 'Takes the place of `storage_availability_zone` for this back end.'),
  replication_domain: text(null, 'Back ends with the same name here replicate to each other.'),
  filter_function: text(null, 'An expression that a share has to satisfy to be placed here.'),
  goodness_function: text(null, 'An expression, 0 to 100, for how well a share would be placed here.'),
  reserved_share_percentage: integer(0, 'Part of the capacity kept free of new shares.', percentage),
  reserved_share_from_snapshot_percentage: integer(
    0,
    'Part of the capacity kept free of shares from snapshots; 0 takes reserved_share_percentage.',
    percentage,
  ),
  reserved_share_extend_percentage: integer(
    0,
    'Part of the capacity kept free of extensions; 0 takes reserved_share_percentage.',
    percentage,
  ),
  max_over_subscription_ratio: float(20, 'How often a thin pool may be promised over.', { min: 1 }),
  migration_ignore_files: list(['lost+found'], 'Names that a host-assisted migration leaves behind.'),
  network_config_group: text(null, 'Section with the network options of this back end.'),
  admin_network_config_group: text(null, 'Section with the options of its administrative network.'),
  max_shares_per_share_server: integer(-1, 'Most shares on one share server; -1 for no limit.', { min: -1 }),
  max_share_server_size: integer(-1, 'Most GiB on one share server; -1 for no limit.', { min: -1 }),
  suppress_post_hooks_errors: boolean(false, 'Whether failing hooks after a call are passed over.'),
  periodic_hooks_interval: float(300, 'Seconds between periodic hooks.', { min: 0 }),
  delete_share_server_with_last_share: boolean(false, 'Whether a share server goes with its last share.'),
  unmanage_remove_access_rules: boolean(false, 'Whether unmanaging a share denies its access first.'),
  automatic_share_server_cleanup: boolean(true, 'Whether unused share servers are deleted.'),
  unused_share_server_cleanup_interval: integer(10, 'Minutes a share server may be unused.', {
    min: 10,
    max: 60,
  }),
  replica_state_update_interval: integer(300, 'Seconds between looks at the replicas’ state.', { min: 1 }),
  migration_driver_continue_update_interval: integer(60, 'Seconds between looks at a migration.', { min: 1 }),
  server_migration_driver_continue_update_interval: integer(
    900,
    'Seconds between looks at a share server’s migration.',
    { min: 1 },
  ),
  server_migration_extend_neutron_network: boolean(
    false,
    'Whether a migration may stretch a Neutron network over several segments.',
  ),
} as const;

/** Options of a section that a back end's network_config_group or admin_network_config_group names. */
export const networkOptions = {
  network_api_class: text(null, 'The plug-in that gives share servers their ports.'),
  standalone_network_plugin_gateway: text(null, 'Gateway of the network.'),
  standalone_network_plugin_mask: text(null, 'Netmask of the network, dotted or as a prefix length.'),
  standalone_network_plugin_network_type: text(null, 'flat, vlan, vxlan or gre.'),
  standalone_network_plugin_segmentation_id: integer(null, 'Segment of the network.'),
  standalone_network_plugin_allowed_ip_ranges: list(null, 'Addresses to give out, as first-last.'),
  standalone_network_plugin_mtu: integer(1500, 'Maximum transmission unit of the network.'),
} as const;
