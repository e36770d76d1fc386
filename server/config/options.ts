/**
 * Every option there is: the field's names and sections, their kinds, defaults and meaning. The type of the
 * configuration follows from this table; an option is added here and nowhere else.
 */
import { hostname } from 'node:os';
import { backendOptions } from './backendOptions.ts';
import { DatabaseUrl } from './databaseUrl.ts';
import { boolean, choice, dict, float, host, integer, list, parsed, port, secret, text } from './option.ts';

const atLeastOne = { min: 1 };
const quotaBounds = { min: -1 };

const api = {
  osapi_share_listen: host('127.0.0.1', 'Address that the API listens on.'),
  osapi_share_listen_port: port(8786, 'Port that the API listens on; 0 takes a free one.'),
  osapi_share_workers: integer(1, 'Processes that serve the API on one port.', atLeastOne),
  osapi_share_base_URL: text(null, 'Base of the links in answers; taken from the request by default.'),
  osapi_max_limit: integer(1000, 'Most items in one page of a list.', atLeastOne),
  api_rate_limit: boolean(true, 'Whether the limits resource tells rate limits.'),
  project_id_regex: parsed(
    'a regular expression',
    '[0-9a-f\\-]+',
    'What a project id in a path looks like.',
    (value) => {
      new RegExp(value);
      return value;
    },
  ),
  auth_strategy: choice(['keystone', 'noauth'], 'keystone', 'How a token becomes an identity.'),
  noauth_allow_remote: boolean(
    false,
    'Allows noauth, which trusts every caller, beyond the loopback address.',
  ),
} as const;

const service = {
  host: host(hostname, 'Name of this machine in the names of its services.'),
  my_ip: host('127.0.0.1', 'Address of this machine.'),
  state_path: text('/var/lib/shoal', 'Where the service keeps its files.'),
  debug: boolean(false, 'Logs at level debug.'),
  show_statements: boolean(
    false,
    'Tells in each answer, by X-Shoal-Statements, how many SQL statements it took.',
  ),
  log_level: choice(
    ['trace', 'debug', 'info', 'warn', 'error', 'fatal'],
    'info',
    'Least level that is logged.',
  ),
  storage_availability_zone: text('nova', 'Availability zone of this machine’s services.'),
  default_share_type: text(null, 'Share type of a share that names none.'),
  default_share_group_type: text(null, 'Share group type of a share group that names none.'),
  enabled_share_backends: list([], 'Sections of the back ends that this machine’s share worker serves.'),
  enabled_share_protocols: list(['NFS', 'CIFS'], 'Protocols that a share may have.'),
  service_down_time: integer(
    60,
    'Seconds without a heartbeat after which a service counts as down.',
    atLeastOne,
  ),
  report_interval: integer(10, 'Seconds between heartbeats.', atLeastOne),
  periodic_interval: integer(
    60,
    'Seconds between periodic tasks, capability reports among them.',
    atLeastOne,
  ),
  graceful_shutdown_timeout: integer(
    10,
    'Seconds that running work has to end when a process stops; 0 for no limit.',
    { min: 0 },
  ),
} as const;

const lifecycles = {
  soft_deleted_share_retention_time: integer(604800, 'Seconds that a soft-deleted share is kept.', {
    min: 0,
  }),
  check_for_expired_shares_in_recycle_bin_interval: integer(
    3600,
    'Seconds between looks for those.',
    atLeastOne,
  ),
  transfer_retention_time: integer(300, 'Seconds after which a transfer that nobody accepted ends.', {
    min: 0,
  }),
  check_for_expired_transfers: integer(300, 'Seconds between looks for those.', atLeastOne),
  message_ttl: integer(2592000, 'Seconds that a user message is kept.', { min: 0 }),
  message_reap_interval: integer(86400, 'Seconds between looks for old ones.', atLeastOne),
  is_deferred_deletion_enabled: boolean(false, 'Whether deleted shares give their quota back at once.'),
  update_shares_status_on_ensure: boolean(true, 'Whether shares show `ensuring` while they are ensured.'),
  admin_only_metadata: list(
    ['__affinity_same_host', '__affinity_different_host', '__managed_at'],
    'Metadata keys of shares that admins alone may change.',
  ),
  admin_only_el_metadata: list(['preferred'], 'The same for export locations.'),
  driver_updatable_metadata: list([], 'Metadata keys whose changes are passed on to the driver.'),
} as const;

const scheduler = {
  scheduler_max_attempts: integer(3, 'Placements tried for a share.', atLeastOne),
  scheduler_default_filters: list(
    [
      'OnlyHostFilter',
      'AvailabilityZoneFilter',
      'CapacityFilter',
      'CapabilitiesFilter',
      'DriverFilter',
      'ShareReplicationFilter',
      'CreateFromSnapshotFilter',
      'AffinityFilter',
      'AntiAffinityFilter',
    ],
    'Filters of pools, in their order.',
  ),
  scheduler_default_weighers: list(
    ['CapacityWeigher', 'GoodnessWeigher', 'HostAffinityWeigher'],
    'Weighers of the pools that passed.',
  ),
  scheduler_default_share_group_filters: list(
    ['AvailabilityZoneFilter', 'ConsistentSnapshotFilter'],
    'Filters of pools for share groups.',
  ),
  scheduler_default_extend_filters: list(['CapacityFilter', 'DriverFilter'], 'Filters for an extension.'),
  capacity_weight_multiplier: float(1, 'Multiplies the weight of free capacity; negative ones stack.'),
  pool_weight_multiplier: float(1, 'Multiplies the weight of share servers already in a pool.'),
  use_scheduler_creating_share_from_snapshot: boolean(
    false,
    'Whether a share from a snapshot may be placed elsewhere than its source.',
  ),
} as const;

const dataWorker = {
  data_access_wait_access_rules_timeout: integer(180, 'Seconds to wait for temporary access.', atLeastOne),
  data_node_access_ips: list([], 'Addresses of the data workers, for temporary access.'),
  data_node_access_cert: text(null, 'Certificate name of the data workers.'),
  data_node_access_admin_user: text(null, 'User name of the data workers.'),
  data_node_mount_options: dict({}, 'Mount options by protocol.'),
  mount_tmp_location: text('/tmp/', 'Where shares are mounted for copying.'),
  backup_mount_tmp_location: text('/tmp/', 'Where backups are mounted.'),
  backup_mount_export: text(
    null,
    'Where backups go: an export (host:/path), or a directory of this machine.',
  ),
  backup_mount_template: text(
    'mount -vt %(proto)s %(options)s %(export)s %(path)s',
    'The command that mounts it.',
  ),
  backup_unmount_template: text('umount -v %(path)s', 'The command that unmounts it.'),
  backup_mount_options: text('', 'Options of the mount, as in -o vers=4.2.'),
  backup_mount_proto: text('nfs', 'Type of the mount.'),
  check_hash: boolean(false, 'Whether copied files are compared by checksum.'),
  backup_driver: text('manila.data.drivers.nfs.NFSBackupDriver', 'Where backups go.'),
  backup_continue_update_interval: integer(
    10,
    'Seconds between looks at the progress of a backup.',
    atLeastOne,
  ),
  restore_continue_update_interval: integer(
    10,
    'Seconds between looks at the progress of a restore.',
    atLeastOne,
  ),
} as const;

const quota = {
  driver: text('manila.quota.DbQuotaDriver', 'Kept for the files that name it; there is one way to count.'),
  shares: integer(50, 'Shares of a project.', quotaBounds),
  snapshots: integer(50, 'Snapshots of a project.', quotaBounds),
  gigabytes: integer(1000, 'GiB in shares of a project.', quotaBounds),
  per_share_gigabytes: integer(-1, 'GiB of one share.', quotaBounds),
  snapshot_gigabytes: integer(1000, 'GiB in snapshots of a project.', quotaBounds),
  share_networks: integer(10, 'Share networks of a project.', quotaBounds),
  share_replicas: integer(100, 'Share replicas of a project.', quotaBounds),
  replica_gigabytes: integer(1000, 'GiB in share replicas of a project.', quotaBounds),
  share_groups: integer(50, 'Share groups of a project.', quotaBounds),
  share_group_snapshots: integer(50, 'Share group snapshots of a project.', quotaBounds),
  backups: integer(10, 'Share backups of a project.', quotaBounds),
  backup_gigabytes: integer(1000, 'GiB in share backups of a project.', quotaBounds),
  encryption_keys: integer(100, 'Encryption keys of a project.', quotaBounds),
  reservation_expire: integer(86400, 'Seconds after which a reservation that nothing holds is given back.', {
    min: 0,
  }),
  until_refresh: integer(0, 'Reservations after which usage is counted anew; 0 for never.', { min: 0 }),
  max_age: integer(0, 'Seconds after which usage is counted anew; 0 for never.', { min: 0 }),
} as const;

export const sections = {
  DEFAULT: { ...api, ...service, ...lifecycles, ...scheduler, ...dataWorker, ...backendOptions },
  quota,
  database: {
    connection: secret(
      parsed(
        'a URL of the form mysql+pymysql://user:password@host:port/database',
        new DatabaseUrl('mysql://shoal@127.0.0.1:3306/shoal'),
        'Where the database is.',
        (url) => new DatabaseUrl(url),
      ),
    ),
    max_pool_size: integer(10, 'Connections that one process keeps open.', atLeastOne),
    pool_timeout: integer(30, 'Seconds that a query waits for a connection.', atLeastOne),
    max_retries: integer(10, 'Attempts to reach the database at start; -1 for no end.', { min: -1 }),
    retry_interval: integer(2, 'Seconds between those.', atLeastOne),
  },
  redis: {
    url: secret(
      parsed(
        'a URL of the form redis://host:port/number',
        'redis://127.0.0.1:6379/0',
        'Where Redis is.',
        readRedisUrl,
      ),
    ),
    prefix: text('shoal', 'Start of the names of all keys.'),
  },
  oslo_policy: {
    policy_file: text(null, 'YAML file of policies that differ from the defaults.'),
    enforce_scope: boolean(true, 'Whether a token of another scope than the policy’s is refused.'),
    enforce_new_defaults: boolean(true, 'Whether the deprecated form of a policy no longer admits.'),
  },
  oslo_middleware: {
    max_request_body_size: integer(114688, 'Most bytes in the body of a request.', atLeastOne),
    enable_proxy_headers_parsing: boolean(false, 'Whether X-Forwarded-* headers are believed.'),
  },
  cors: {
    allowed_origin: list([], 'Origins whose pages may call the API; * for any.'),
    allow_credentials: boolean(true, 'Whether those may send credentials.'),
    max_age: integer(3600, 'Seconds that a browser may keep the answer.', { min: 0 }),
  },
} as const;

function readRedisUrl(url: string): string {
  if (!/^(rediss?|unix):\/\//.test(url) || !URL.canParse(url)) throw new Error('not a redis:// URL');
  return url;
}
