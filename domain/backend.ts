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
  /** `host@backend`, where it matters that it may be another one than the one that is asked */
  backend?: string | null;
  /** pool name within the back end, the part after `#` in the host */
  pool: string;
  shareTypeId: string | null;
  extraSpecs: Readonly<Record<string, string>>;
  /** of the QoS type: what service the share is to get; empty without one */
  qosSpecs?: Readonly<Record<string, string>>;
  metadata: Readonly<Record<string, string>>;
  snapshotSupport: boolean;
  exportLocations?: readonly ExportLocation[];
  /** what the last part of the export's path is to be, where the back end can */
  mountPointName?: string | null;
  /** reference of a key in the key manager, where shares are encrypted with their owner's */
  encryptionKeyRef?: string | null;
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

/** A share server as a driver sees it: where a tenant's shares are served from. */
export interface BackendShareServer {
  id: string;
  projectId: string | null;
  /** what the back end itself calls it */
  identifier: string | null;
  details: Readonly<Record<string, string>>;
  /** one for each subnet that it serves */
  networks: readonly BackendNetwork[];
  securityServices: readonly BackendSecurityService[];
}

/** What is known of a subnet of a tenant's. */
export interface SubnetFacts {
  neutronNetId: string | null;
  neutronSubnetId: string | null;
  /** flat, vlan, vxlan, gre, geneve, local; null when it has none */
  networkType: string | null;
  segmentationId: number | null;
  cidr: string | null;
  gateway: string | null;
  mtu: number | null;
  ipVersion: number | null;
}

/** A tenant's subnet and the server's ports in it. */
export interface BackendNetwork extends SubnetFacts {
  subnetId: string;
  metadata: Readonly<Record<string, string>>;
  ports: readonly NetworkPort[];
  /** ports in the network of the administrators, where there is one */
  adminPorts: readonly NetworkPort[];
}

export interface NetworkPort {
  id: string;
  ipAddress: string;
  macAddress: string | null;
}

/** A directory or authentication service of the tenant's. The password is a secret: never logged. */
export interface BackendSecurityService {
  id: string;
  type: 'active_directory' | 'ldap' | 'kerberos';
  dnsIp: string | null;
  ou: string | null;
  server: string | null;
  domain: string | null;
  user: string | null;
  password: string | null;
  defaultAdSite: string | null;
}

/** A replica is a share instance in a state of its own. */
export interface BackendReplica extends BackendShare {
  replicaState: ReplicaState | null;
}

export type ReplicaState = 'active' | 'in_sync' | 'out_of_sync' | 'error';

/** A snapshot as a replica is to have it too. */
export interface ReplicaSnapshot extends BackendSnapshot {
  /** the same snapshot on the active replica */
  source: BackendSnapshot;
}

/** Shares that are snapshotted together. */
export interface BackendGroup {
  id: string;
  projectId: string;
  pool: string;
  server?: BackendShareServer;
}

export interface BackendGroupSnapshot {
  id: string;
  group: BackendGroup;
  members: readonly BackendSnapshot[];
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
