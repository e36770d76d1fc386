/** What a back end is asked of share servers: setting them up, taking them down, managing and moving them. */
import type { BackendShare, BackendShareServer, ExportLocation } from '#domain/backend.ts';

/** driver_handles_share_servers: a server of its own for each tenant's subnet. */
export interface ShareServers {
  /** how many ports a server needs in each subnet of the tenant's, and in the administrators' network */
  readonly ports: number;
  readonly adminPorts: number;
  /** Sets the server up. Answers what it is to be known by later; a failure may carry what there is so far. */
  setup(server: BackendShareServer, signal: AbortSignal): Promise<Record<string, string>>;
  /** Tears it down; details may be partial, and a server that isn't there is a success. */
  teardown(server: BackendShareServer, signal: AbortSignal): Promise<void>;
  /** After a restart, and before its shares are ensured: serve as before. */
  ensure(server: BackendShareServer, signal: AbortSignal): Promise<void>;
  /** Takes a server under management that the back end has: what it calls it, and its details. */
  manage?(
    identifier: string,
    options: Readonly<Record<string, string>>,
    server: BackendShareServer,
    signal: AbortSignal,
  ): Promise<{ identifier: string; details: Record<string, string> }>;
  /** Lets it go; it serves on. */
  unmanage?(server: BackendShareServer, signal: AbortSignal): Promise<void>;
  /** Makes another set of subnets or security services hold on a server that serves. */
  update?(server: BackendShareServer, signal: AbortSignal): Promise<Record<string, string>>;
  readonly migration?: ShareServerMigration;
}

export interface ShareServerMigration {
  check(
    source: BackendShareServer,
    destination: BackendShareServer,
    shares: readonly BackendShare[],
    signal: AbortSignal,
  ): Promise<ServerMigrationAbilities>;
  start(source: BackendShareServer, destination: BackendShareServer, signal: AbortSignal): Promise<void>;
  /** One step of copying; true when the first phase is done. */
  continue(
    source: BackendShareServer,
    destination: BackendShareServer,
    signal: AbortSignal,
  ): Promise<boolean>;
  /** per cent */
  progress(source: BackendShareServer, destination: BackendShareServer, signal: AbortSignal): Promise<number>;
  /** Switches over. Answers the export locations by share instance id. */
  complete(
    source: BackendShareServer,
    destination: BackendShareServer,
    shares: readonly BackendShare[],
    signal: AbortSignal,
  ): Promise<Map<string, ExportLocation[]>>;
  cancel(source: BackendShareServer, destination: BackendShareServer, signal: AbortSignal): Promise<void>;
}

export interface ServerMigrationAbilities {
  compatible: boolean;
  writable: boolean;
  nondisruptive: boolean;
  preserveSnapshots: boolean;
  migrationCancel: boolean;
  migrationGetProgress: boolean;
}
