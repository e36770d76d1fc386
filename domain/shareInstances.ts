/** What an admin may set the status of a share, or of one of its instances, to. */
import { fault } from './faults.ts';

const settable: readonly string[] = [
  'available',
  'error',
  'creating',
  'deleting',
  'error_deleting',
  'migrating',
  'migrating_to',
  'server_migrating',
];

/** Refuses a status that isn't set by hand. */
export function assertSettable(status: string | undefined): asserts status is string {
  if (status !== undefined && settable.includes(status)) return;
  throw fault('invalidInput', {
    reason: `status must be one of ${settable.join(', ')}; not ${JSON.stringify(status ?? null)}`,
  });
}
