/** The part of the configuration that jobs need, by the names of the options. */
import type { QuotaDefaults } from '#domain/quotas.ts';

export interface JobSettings {
  service_down_time: number;
  periodic_interval: number;
  message_ttl: number;
  scheduler_default_filters: readonly string[];
  scheduler_default_weighers: readonly string[];
  scheduler_default_extend_filters: readonly string[];
  scheduler_default_share_group_filters: readonly string[];
  capacity_weight_multiplier: number;
  use_scheduler_creating_share_from_snapshot: boolean;
  check_for_expired_shares_in_recycle_bin_interval: number;
  check_for_expired_transfers: number;
  update_shares_status_on_ensure: boolean;
  is_deferred_deletion_enabled: boolean;
  message_reap_interval: number;
  mount_tmp_location: string;
  check_hash: boolean;
  backup_mount_export: string | null;
  backup_mount_template: string;
  backup_unmount_template: string;
  backup_mount_options: string;
  backup_mount_proto: string;
  backup_mount_tmp_location: string;
  backup_continue_update_interval: number;
  restore_continue_update_interval: number;
  data_node_mount_options: Readonly<Record<string, string>>;
  quota: QuotaDefaults & { reservation_expire: number };
}

/** What jobs need of a back end's own section, by the names of the options. */
export interface BackendSettings {
  max_shares_per_share_server: number;
  max_share_server_size: number;
  delete_share_server_with_last_share: boolean;
  automatic_share_server_cleanup: boolean;
  /** minutes */
  unused_share_server_cleanup_interval: number;
  /** seconds */
  server_migration_driver_continue_update_interval: number;
  unmanage_remove_access_rules: boolean;
  /** seconds */
  migration_driver_continue_update_interval: number;
  migration_ignore_files: readonly string[];
}
