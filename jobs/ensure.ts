/** After a worker's start: every share of its back ends is served as before. */
import { heldRules } from '#db/heldRules.ts';
import { backendShare, instancesOn, replaceExportLocations } from '#db/shareInstances.ts';
import type { Driver } from '#drivers/driver.ts';
import type { Tools } from './job.ts';
import { ensureServers } from './shareServers.ts';

const ENSURE_DEADLINE_MS = 60_000;
/** States in which a share is there to be served. */
const served = new Set([
  'available',
  'awaiting_transfer',
  'extending',
  'extending_error',
  'shrinking',
  'shrinking_error',
  'shrinking_possible_data_loss_error',
  'migrating',
  'server_migrating',
  'migrating_to',
  'reverting',
  'reverting_error',
  'replication_change',
  'backup_creating',
  'backup_restoring',
  'backup_restoring_error',
  'ensuring',
]);

/** Is a share in this state there to be served? */
export function isServed(status: string): boolean {
  return served.has(status);
}

/** Ensures the shares of a back end, `host@backend`; one that can't be is logged and the others go on. */
export async function ensureBackend(backend: string, driver: Driver, tools: Tools): Promise<void> {
  const { db, log } = tools;
  await ensureServers(backend, driver, tools);
  const instances = (await instancesOn(db, backend)).filter(({ status }) => isServed(status));
  for (const instance of instances) {
    try {
      const rules = await heldRules(db, instance.id);
      const locations = await driver.shares.ensure(
        backendShare(instance),
        rules,
        AbortSignal.timeout(ENSURE_DEADLINE_MS),
      );
      if (locations) await db.transaction((tx) => replaceExportLocations(tx, instance.id, locations));
    } catch (error) {
      log('error', 'a share could not be served again', {
        share: instance.shareId,
        backend,
        error: (error as Error).message,
      });
    }
  }
  if (instances.length > 0) log('info', 'shares are served again', { backend, count: instances.length });
}
