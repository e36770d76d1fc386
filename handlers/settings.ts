/** The part of the configuration that handlers need, by the names of the options. */
import type { QuotaDefaults } from '#domain/quotas.ts';

export interface Settings {
  osapi_max_limit: number;
  default_share_type: string | null;
  default_share_group_type: string | null;
  enabled_share_protocols: readonly string[];
  admin_only_metadata: readonly string[];
  admin_only_el_metadata: readonly string[];
  use_scheduler_creating_share_from_snapshot: boolean;
  soft_deleted_share_retention_time: number;
  transfer_retention_time: number;
  is_deferred_deletion_enabled: boolean;
  service_down_time: number;
  quota: QuotaDefaults & { reservation_expire: number };
}
