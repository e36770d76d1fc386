/** Share instances: what an admin may set the status of one to. */
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
export function assertSettable(status: string): void {
  if (settable.includes(status)) return;
  throw fault('invalidInput', {
    reason: `status must be one of ${settable.join(', ')}; not ${JSON.stringify(status)}`,
  });
}
