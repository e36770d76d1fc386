/**
 * Options that operators' files hold for parts that Shoal doesn't have: a message bus, WSGI, privileged helpers.
 * They are read over with a note, not taken for mistakes. And those that it will have, which are checked but
 * change nothing so far.
 */

const names = new Set([
  'api_paste_config',
  'transport_url',
  'control_exchange',
  'rpc_backend',
  'rpc_response_timeout',
  'executor_thread_pool_size',
  'rootwrap_config',
  'share_api_class',
  'data_api_class',
  'compute_api_class',
  'image_api_class',
  'volume_api_class',
  'network_api_class',
  'sql_idle_timeout',
  'sql_max_retries',
  'db_backend',
  'lock_path',
  'log_file',
  'log_dir',
  'use_syslog',
  'use_stderr',
  'use_json',
  'default_log_levels',
  'logging_context_format_string',
  'logging_default_format_string',
  'num_shell_tries',
  'wsgi_keep_alive',
  'tcp_keepalive',
  'enable_gathering_share_usage_size',
  'share_usage_size_update_interval',
  'enable_pre_hooks',
  'enable_post_hooks',
  'enable_periodic_hooks',
  'hook_drivers',
  'quota_driver',
]);

const prefixes = ['dummy_driver_', 'scheduler_driver', 'scheduler_host_manager', 'scheduler_json_'];

const wholeSections = new Set([
  'oslo_messaging_rabbit',
  'oslo_messaging_notifications',
  'oslo_messaging_kafka',
  'oslo_concurrency',
  'oslo_reports',
  'oslo_versionedobjects',
  'coordination',
  'healthcheck',
  'profiler',
  'privsep',
  'ssl',
  'nova',
  'cinder',
  'glance',
  'barbican',
  'keystone_authtoken',
  'neutron',
  'service_user',
]);

const inSections: Readonly<Record<string, ReadonlySet<string>>> = {
  database: new Set([
    'backend',
    'slave_connection',
    'max_overflow',
    'min_pool_size',
    'connection_recycle_time',
    'db_max_retries',
    'db_retry_interval',
    'mysql_sql_mode',
    'sqlite_synchronous',
  ]),
  oslo_policy: new Set(['policy_dirs', 'policy_default_rule']),
  cors: new Set(['allow_headers', 'allow_methods', 'expose_headers']),
};

export function isIgnored(section: string, name: string): boolean {
  if (wholeSections.has(section)) return true;
  if (inSections[section]) return inSections[section].has(name);
  return names.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

/** By section; what a back end's section sets is under DEFAULT, as its default is. */
const withoutEffect: Readonly<Record<string, readonly string[]>> = {
  DEFAULT: [
    'osapi_share_workers',
    'api_rate_limit',
    'scheduler_max_attempts',
    'pool_weight_multiplier',
    'driver_updatable_metadata',
    'data_node_access_ips',
    'data_node_access_cert',
    'data_node_access_admin_user',
    'backup_driver',
    'backend_host',
    'backend_availability_zone',
    'suppress_post_hooks_errors',
    'periodic_hooks_interval',
    'server_migration_extend_neutron_network',
  ],
  quota: ['until_refresh', 'max_age'],
  database: ['max_pool_size', 'pool_timeout', 'max_retries', 'retry_interval'],
  redis: ['prefix'],
  oslo_policy: ['enforce_scope', 'enforce_new_defaults'],
  oslo_middleware: ['max_request_body_size', 'enable_proxy_headers_parsing'],
  cors: ['allow_credentials', 'max_age'],
};

/** Is it an option that nothing reads yet? */
export function hasNoEffect(section: string, name: string, isBackend: boolean): boolean {
  return withoutEffect[isBackend ? 'DEFAULT' : section]?.includes(name) ?? false;
}
