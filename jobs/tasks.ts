/** The work that comes round: in a scheduler's process what has outlived its time, and for each back end its own. */
import { expireMessages } from '#db/messages.ts';
import { expireReservations } from '#db/quotas.ts';
import { retryDeferred } from './deferredDeletion.ts';
import type { Tools } from './job.ts';
import type { PeriodicTask } from './periodic.ts';
import { emptyRecycleBin } from './recycleBin.ts';
import { continueServerMigrations } from './serverMigration.ts';
import { cleanUpServers } from './shareServers.ts';
import { endExpiredTransfers } from './shareTransfers.ts';

export function periodicTasks(tools: Tools): PeriodicTask[] {
  const { db, settings } = tools;
  return [
    {
      name: 'expired reservations',
      intervalMs: settings.periodic_interval * 1000,
      run: async () => void (await expireReservations(db)),
    },
    {
      name: 'expired messages',
      intervalMs: settings.message_reap_interval * 1000,
      run: async () => void (await expireMessages(db)),
    },
    {
      name: 'recycle bin',
      intervalMs: settings.check_for_expired_shares_in_recycle_bin_interval * 1000,
      run: () => emptyRecycleBin(tools),
    },
    {
      name: 'deferred deletions',
      intervalMs: settings.periodic_interval * 1000,
      run: () => retryDeferred(tools),
    },
    {
      name: 'expired transfers',
      intervalMs: settings.check_for_expired_transfers * 1000,
      run: () => endExpiredTransfers(tools),
    },
  ];
}

/** Those of a back end, `host@backend`, in the process that serves it. */
export function backendTasks(host: string, tools: Tools): PeriodicTask[] {
  const settings = tools.options(host);
  if (!settings || !tools.driver(host)?.servers) return [];
  return [
    {
      name: `moves of share servers to ${host}`,
      intervalMs: settings.server_migration_driver_continue_update_interval * 1000,
      run: () => continueServerMigrations(host, tools),
    },
    {
      name: `unused share servers of ${host}`,
      intervalMs: tools.settings.periodic_interval * 1000,
      run: () => cleanUpServers(host, tools),
    },
  ];
}
