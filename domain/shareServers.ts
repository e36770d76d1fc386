/**
 * A share server's life. It serves the shares of one tenant's subnets on a back end; shares choose one that fits, or
 * have it made. Status is what it is; `task_state` is how far a migration is.
 */
import { fault } from './faults.ts';
import { gone, lifecycle } from './lifecycle.ts';

/** The status of a server that serves. */
export const ACTIVE = 'active';

export const serverLife = lifecycle('shareServer', {
  setup: { from: null, via: 'creating', to: ACTIVE, onError: 'error' },
  delete: { from: [ACTIVE, 'error'], via: 'deleting', to: gone, onError: 'error', refused: 'notAllowed' },
  manage: { from: null, via: 'manage_starting', to: ACTIVE, onError: 'manage_error' },
  unmanage: {
    from: [ACTIVE, 'error', 'manage_error', 'unmanage_error'],
    via: 'unmanage_starting',
    to: gone,
    onError: 'unmanage_error',
    refused: 'invalidInput',
  },
  /** its network has got another subnet or other security services */
  update: { from: [ACTIVE], via: 'network_change', to: ACTIVE, onError: 'error', refused: 'conflict' },
  /** of the server that is moved away from; it stays in `via` until the move ends one way or the other */
  migrate: {
    from: [ACTIVE],
    via: 'server_migrating',
    to: 'inactive',
    onError: ACTIVE,
    refused: 'conflict',
  },
});

/** States in which a server is about to serve: whoever wants it waits. */
export const passing: readonly string[] = [serverLife.setup.via, serverLife.update.via];

/** The status of the server that is moved to. */
export const MIGRATING_TO = 'server_migrating_to';

/** Servers that nobody uses go in these states. */
export const cleanable = [ACTIVE, 'error', 'inactive'] as const;

/** Phases of a migration. */
export const serverTask = {
  starting: 'migration_starting',
  inProgress: 'migration_in_progress',
  driverStarting: 'migration_driver_starting',
  driverInProgress: 'migration_driver_in_progress',
  phase1Done: 'migration_driver_phase1_done',
  completing: 'migration_completing',
  success: 'migration_success',
  error: 'migration_error',
  cancelling: 'migration_cancel_in_progress',
  cancelled: 'migration_cancelled',
} as const;

/** Jobs of a migration after its start; all hang on the server that is moved away from. */
export const migrationJobs = {
  continue: 'shareServer.migrationContinue',
  complete: 'shareServer.migrationComplete',
  cancel: 'shareServer.migrationCancel',
} as const;

/** Phases in which there is something to be cancelled. */
const cancellable: readonly (string | null)[] = [serverTask.driverInProgress, serverTask.phase1Done];

interface Migrating {
  id: string;
  status: string;
  task_state: string | null;
}

function assertMigrating(server: Migrating, doing: string): void {
  if (server.status === serverLife.migrate.via) return;
  throw fault('invalidShareServer', {
    reason: `share server ${server.id} is not being migrated; there is nothing to ${doing}`,
  });
}

export function assertCancellable(server: Migrating): void {
  assertMigrating(server, 'cancel');
  if (cancellable.includes(server.task_state)) return;
  throw fault('invalidShareServer', {
    reason: `the migration of share server ${server.id} can't be cancelled while it is in ${server.task_state}`,
  });
}

export function assertCompletable(server: Migrating): void {
  assertMigrating(server, 'complete');
  if (server.task_state === serverTask.phase1Done) return;
  throw fault('invalidShareServer', {
    reason: `the migration of share server ${server.id} can be completed when its first phase is done; it is in ${server.task_state}`,
  });
}

export function assertProgressKnown(server: Migrating): void {
  assertMigrating(server, 'tell of');
}

/** What a server holds, and the most that it may; -1 is no limit. Sizes in GiB. */
export interface ServerLimits {
  max_shares_per_share_server: number;
  max_share_server_size: number;
}

/** Does a share of this size fit on a server that has so many, of so much together? */
export function fits(limits: ServerLimits, held: { shares: number; size: number }, size: number): boolean {
  const { max_shares_per_share_server: most, max_share_server_size: largest } = limits;
  return (most < 0 || held.shares < most) && (largest < 0 || held.size + size <= largest);
}

/**
 * The subnets that serve a zone: those of the zone itself, else those for every zone.
 */
export function subnetsForZone<T extends { availability_zone: string | null }>(
  subnets: readonly T[],
  zone: string | null,
): T[] {
  const own = subnets.filter((subnet) => zone !== null && subnet.availability_zone === zone);
  return own.length > 0 ? own : subnets.filter((subnet) => subnet.availability_zone === null);
}
