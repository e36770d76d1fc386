/** What drivers are told and what they tell: shares, rules, snapshots and reports, as a back end sees them. */

/** A share instance as a driver sees it. Sizes in GiB. */
export interface BackendShare {
  /** share instance id: what the back end names things by */
  id: string;
  shareId: string;
  projectId: string;
  size: number;
  /** upper case: NFS, CIFS… */
  protocol: string;
  /** pool name within the back end, the part after `#` in the host */
  pool: string;
  shareTypeId: string | null;
  extraSpecs: Readonly<Record<string, string>>;
  metadata: Readonly<Record<string, string>>;
  snapshotSupport: boolean;
  exportLocations?: readonly ExportLocation[];
  /** present with driver_handles_share_servers */
  server?: BackendShareServer;
}

export interface ExportLocation {
  path: string;
  isAdminOnly: boolean;
  metadata?: Readonly<Record<string, string>>;
}

/** A snapshot instance as a driver sees it. Sizes in GiB. */
export interface BackendSnapshot {
  id: string;
  snapshotId: string;
  share: BackendShare;
  size: number;
  providerLocation: string | null;
}

export type AccessLevel = 'rw' | 'ro';

export interface AccessRule {
  id: string;
  accessType: string;
  accessTo: string;
  accessLevel: AccessLevel;
}

/** What became of one rule. An accessKey is a secret: it is stored and shown, never logged. */
export interface AccessRuleResult {
  state: 'active' | 'error';
  reason?: string;
  accessKey?: string | null;
}

export interface BackendShareServer {
  id: string;
  identifier: string | null;
  details: Readonly<Record<string, string>>;
}

/** Capacities in GiB; 'unknown' and 'infinite' as in the scheduler. Keys as the field reports them. */
export interface PoolStats {
  pool_name: string;
  total_capacity_gb: number | 'unknown' | 'infinite';
  free_capacity_gb: number | 'unknown' | 'infinite';
  allocated_capacity_gb?: number;
  provisioned_capacity_gb?: number;
  reserved_percentage: number;
  reserved_snapshot_percentage: number;
  reserved_share_extend_percentage: number;
  max_over_subscription_ratio?: number;
  thin_provisioning?: boolean | boolean[];
  qos?: boolean;
  dedupe?: boolean | boolean[];
  compression?: boolean | boolean[];
  [capability: string]: unknown;
}

/** One capability report. Keys as the field reports them. */
export interface BackendStats {
  share_backend_name: string;
  driver_handles_share_servers: boolean;
  vendor_name: string;
  driver_version: string;
  storage_protocol: string;
  snapshot_support: boolean;
  create_share_from_snapshot_support: boolean;
  revert_to_snapshot_support: boolean;
  mount_snapshot_support: boolean;
  pools: PoolStats[];
  [capability: string]: unknown;
}
