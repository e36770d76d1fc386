/**
 * What a back end can be asked. A driver is a few small objects by capability; the presence of one is the
 * capability. Every call is idempotent by id: asked twice, it leaves what asking once leaves. Calls take an
 * AbortSignal (their deadline) and fail with a DriverError. No database, request or HTTP in here.
 */

import type {
  AccessRule,
  AccessRuleResult,
  BackendGroup,
  BackendGroupSnapshot,
  BackendReplica,
  BackendShare,
  BackendSnapshot,
  BackendStats,
  ExportLocation,
  ReplicaSnapshot,
  ReplicaState,
} from '#domain/backend.ts';

import type { ShareServers } from './shareServers.ts';

export type {
  AccessLevel,
  AccessRule,
  AccessRuleResult,
  BackendGroup,
  BackendGroupSnapshot,
  BackendReplica,
  BackendShare,
  BackendShareServer,
  BackendSnapshot,
  BackendStats,
  ExportLocation,
  PoolStats,
  ReplicaSnapshot,
  ReplicaState,
} from '#domain/backend.ts';

export type { ShareServerMigration, ShareServers } from './shareServers.ts';

/** Why a back end refused or failed. The code decides the state and the user message that follow. */
export type DriverErrorCode =
  | 'failed' // anything not named below
  | 'unsupported' // the back end can't do this at all
  | 'invalid' // asked for something that makes no sense here
  | 'noSpace' // not enough room in the pool
  | 'possibleDataLoss' // a shrink below what is used
  | 'notFound' // what should be there isn't
  | 'timeout'; // the deadline passed

export class DriverError extends Error {
  readonly code: DriverErrorCode;
  /** of a share server that could not be set up: what is to be known for its clean-up */
  readonly details: Readonly<Record<string, string>>;
  constructor(
    code: DriverErrorCode,
    message: string,
    options?: { cause?: unknown; details?: Readonly<Record<string, string>> },
  ) {
    super(message, options);
    this.name = 'DriverError';
    this.code = code;
    this.details = options?.details ?? {};
  }
}

export interface Shares {
  create(share: BackendShare, signal: AbortSignal): Promise<ExportLocation[]>;
  createFromSnapshot?(
    share: BackendShare,
    snapshot: BackendSnapshot,
    signal: AbortSignal,
  ): Promise<ExportLocation[]>;
  /** Removes the share, its exports and its data. A share that isn't there is a success. */
  delete(share: BackendShare, signal: AbortSignal): Promise<void>;
  extend(share: BackendShare, newSize: number, signal: AbortSignal): Promise<void>;
  /** Fails with 'possibleDataLoss', nothing touched, when more than newSize is used. */
  shrink?(share: BackendShare, newSize: number, signal: AbortSignal): Promise<void>;
  /** After a restart: serve the share as before; answers its export locations when they changed, else null. */
  ensure(
    share: BackendShare,
    rules: readonly AccessRule[],
    signal: AbortSignal,
  ): Promise<ExportLocation[] | null>;
}

export interface Access {
  /**
   * Makes exactly `rules` hold on the share. One bad rule becomes 'error' and the others work.
   * Answers a result for each rule, by rule id. When it returns, an 'active' rule can mount.
   */
  sync(
    share: BackendShare,
    rules: readonly AccessRule[],
    signal: AbortSignal,
  ): Promise<Map<string, AccessRuleResult>>;
}

export interface SnapshotCreated {
  providerLocation?: string | null;
  exportLocations?: ExportLocation[];
}

export interface Snapshots {
  create(snapshot: BackendSnapshot, signal: AbortSignal): Promise<SnapshotCreated>;
  delete(snapshot: BackendSnapshot, signal: AbortSignal): Promise<void>;
  /** mount_snapshot_support: access rules of a snapshot, always read-only. */
  syncAccess?(
    snapshot: BackendSnapshot,
    rules: readonly AccessRule[],
    signal: AbortSignal,
  ): Promise<Map<string, AccessRuleResult>>;
}

export interface Reverts {
  /** Puts the share back to what it was at the snapshot, under the same export locations. */
  toSnapshot(
    share: BackendShare,
    snapshot: BackendSnapshot,
    rules: readonly AccessRule[],
    signal: AbortSignal,
  ): Promise<void>;
}

export interface ReplicaChange {
  /** replica (share instance) id */
  id: string;
  replicaState: ReplicaState;
  exportLocations?: ExportLocation[];
}

export interface Replication {
  /** Makes a replica of what the active one holds, and of the snapshots that it is to have too. */
  create(
    replica: BackendReplica,
    active: BackendReplica,
    rules: readonly AccessRule[],
    snapshots: readonly ReplicaSnapshot[],
    signal: AbortSignal,
  ): Promise<{ exportLocations: ExportLocation[]; replicaState: ReplicaState }>;
  delete(replica: BackendReplica, snapshots: readonly BackendSnapshot[], signal: AbortSignal): Promise<void>;
  /** Makes `replica` the active one, after quiescing for so many seconds. Answers each replica's new state. */
  promote(
    replica: BackendReplica,
    all: readonly BackendReplica[],
    rules: readonly AccessRule[],
    quiesceSeconds: number | null,
    signal: AbortSignal,
  ): Promise<ReplicaChange[]>;
  /**
   * Brings it nearer to the active one where that takes asking, to its size as well, makes it have the snapshots, and
   * says how it is.
   */
  update(
    replica: BackendReplica,
    active: BackendReplica,
    rules: readonly AccessRule[],
    snapshots: readonly ReplicaSnapshot[],
    signal: AbortSignal,
  ): Promise<ReplicaState>;
}

export interface Groups {
  create(group: BackendGroup, signal: AbortSignal): Promise<void>;
  delete(group: BackendGroup, signal: AbortSignal): Promise<void>;
  /** All members at one moment. Answers what each became, by snapshot instance id. */
  createSnapshot(
    snapshot: BackendGroupSnapshot,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, SnapshotCreated>>;
  deleteSnapshot(snapshot: BackendGroupSnapshot, signal: AbortSignal): Promise<void>;
}

/** Takes what the back end has already under management, and lets it go, contents untouched. */
export interface Managing {
  /** Finds the share that is exported so; `share.exportLocations` says where. Answers GiB and where it is now. */
  share(
    share: BackendShare,
    options: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<{ size: number; exportLocations: ExportLocation[] }>;
  unmanageShare(share: BackendShare, signal: AbortSignal): Promise<void>;
  /** `snapshot.providerLocation` says where. */
  snapshot?(
    snapshot: BackendSnapshot,
    options: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<{ size: number; providerLocation: string; exportLocations?: ExportLocation[] }>;
  unmanageSnapshot?(snapshot: BackendSnapshot, signal: AbortSignal): Promise<void>;
}

export interface MigrationAbilities {
  compatible: boolean;
  writable: boolean;
  preserveMetadata: boolean;
  nondisruptive: boolean;
  preserveSnapshots: boolean;
}

/** Moves a share by the back end's own means, to another of its pools. */
export interface Migration {
  check(source: BackendShare, destination: BackendShare, signal: AbortSignal): Promise<MigrationAbilities>;
  start(source: BackendShare, destination: BackendShare, signal: AbortSignal): Promise<void>;
  /** One step; true when the first phase is done. */
  continue(source: BackendShare, destination: BackendShare, signal: AbortSignal): Promise<boolean>;
  /** per cent */
  progress(source: BackendShare, destination: BackendShare, signal: AbortSignal): Promise<number>;
  complete(
    source: BackendShare,
    destination: BackendShare,
    rules: readonly AccessRule[],
    signal: AbortSignal,
  ): Promise<ExportLocation[]>;
  cancel(source: BackendShare, destination: BackendShare, signal: AbortSignal): Promise<void>;
}

/** How the data worker gets at a share's files. */
export type Attachment =
  /** a directory of this machine, which the back end keeps for as long as it is attached */
  | { kind: 'directory'; path: string }
  /** an export to mount, once this address has access */
  | { kind: 'nfs'; export: string; options: string };

/** Opens shares to the data worker, for copies: migrations and backups. */
export interface DataAccess {
  attach(share: BackendShare, mode: 'ro' | 'rw', signal: AbortSignal): Promise<Attachment>;
  detach(share: BackendShare, signal: AbortSignal): Promise<void>;
}

export interface Driver {
  readonly shares: Shares;
  readonly access: Access;
  readonly snapshots?: Snapshots;
  readonly revert?: Reverts;
  readonly servers?: ShareServers;
  readonly replication?: Replication;
  readonly groups?: Groups;
  readonly manage?: Managing;
  readonly migration?: Migration;
  readonly data?: DataAccess;
  /** Makes ready to serve: called once when the worker starts; false or throwing keeps the back end down. */
  start(signal: AbortSignal): Promise<void>;
  stats(signal: AbortSignal): Promise<BackendStats>;
  stop(): Promise<void>;
}

/** What a driver is made from: its section of the configuration, by option name, and where it may keep files. */
export interface DriverSettings {
  backend: string;
  host: string;
  options: Readonly<Record<string, string>>;
  stateDirectory: string;
  log(level: 'info' | 'warn' | 'error', message: string, detail?: Record<string, unknown>): void;
}
