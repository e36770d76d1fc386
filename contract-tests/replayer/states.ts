/**
 * States that work in the background moves on. A recording may have caught one that the replay finds already left;
 * never the other way round.
 */
import type { Json, JsonObject } from './recordings.ts';

const next: Record<string, readonly string[]> = {
  creating: ['available', 'error'],
  deleting: ['error_deleting'],
  extending: ['available', 'extending_error'],
  shrinking: ['available', 'shrinking_error', 'shrinking_possible_data_loss_error'],
  reverting: ['available', 'reverting_error'],
  restoring: ['available', 'error'],
  migrating: ['available'],
  replication_change: ['available'],
  backup_creating: ['available'],
  backup_restoring: ['available', 'backup_restoring_error'],
  queued_to_apply: ['applying'],
  queued_to_update: ['updating'],
  applying: ['active', 'error'],
  updating: ['active', 'error'],
  queued_to_deny: ['denying'],
  denying: ['error'],
  new: ['active', 'error'],
  syncing: ['active', 'error'],
  out_of_sync: ['active', 'in_sync', 'error'],
};

/** Keys under which resources show a state. */
const stateKeys = ['status', 'state', 'access_rules_status', 'replica_state'] as const;

/** What the work fills in before it leaves the state. */
const settling = new Set([
  'availability_zone',
  'export_location',
  'export_locations',
  'host',
  'progress',
  'provider_location',
  'share_server_id',
  'updated_at',
]);

/** Whether `later` can follow on `state`, in any number of steps. */
export function isLaterState(state: Json | undefined, later: Json | undefined): boolean {
  if (typeof state !== 'string' || typeof later !== 'string') return false;
  return (next[state] ?? []).some((step) => step === later || isLaterState(step, later));
}

/** The keys of a resource that may differ because its state has moved on since the recording. */
export function settledKeys(recorded: JsonObject, answered: JsonObject): ReadonlySet<string> {
  const moved = stateKeys.filter((key) => isLaterState(recorded[key], answered[key]));
  if (moved.length === 0) return new Set();
  const filled = [...settling].filter((key) => recorded[key] === null);
  return new Set([...moved, ...filled]);
}
