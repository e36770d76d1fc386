/** What administrators may set a status to, by hand. */
import { fault } from './faults.ts';

/** Of resources that have no list of their own: backups, snapshot instances. */
const usual: readonly string[] = [
  'available',
  'error',
  'creating',
  'deleting',
  'error_deleting',
  'migrating',
  'migrating_to',
  'server_migrating',
];

/** Refuses what is no status to be set, with those that are. */
export function assertSettable(status: string, among = usual): void {
  if (among.includes(status)) return;
  throw fault('invalidInput', {
    reason: `status must be one of ${among.join(', ')}; not ${JSON.stringify(status)}`,
  });
}
