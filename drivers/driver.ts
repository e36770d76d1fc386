/**
 * What a back end can be asked. A driver is a few small objects by capability; the presence of one is the
 * capability. Every call is idempotent by id: asked twice, it leaves what asking once leaves. Calls take an
 * AbortSignal (their deadline) and fail with a DriverError. No database, request or HTTP in here.
 */

import type {
  AccessRule,
  AccessRuleResult,
  BackendShare,
  BackendSnapshot,
  BackendStats,
  ExportLocation,
} from '#domain/backend.ts';

export type {
  AccessLevel,
  AccessRule,
  AccessRuleResult,
  BackendShare,
  BackendSnapshot,
  BackendStats,
  ExportLocation,
  PoolStats,
} from '#domain/backend.ts';

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
  constructor(code: DriverErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'DriverError';
    this.code = code;
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

export interface Driver {
  readonly shares: Shares;
  readonly access: Access;
  readonly snapshots?: Snapshots;
  readonly revert?: Reverts;
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
