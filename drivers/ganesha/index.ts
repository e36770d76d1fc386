/**
 * A real NFS back end on one machine: NFS-Ganesha (NFSv4) over btrfs subvolumes. The driver starts the server,
 * keeps it running, and keeps everything it needs under its state directory. Options: settings.ts.
 *
 * A share is named by its instance id alone, on disk and to clients (`host:/shares/<instance id>`): nothing
 * that a client of the API sends can lead elsewhere. Needs root, for mounts and for file handles.
 */
import type { Driver, DriverSettings } from '../driver.ts';
import { giveUpIf } from './command.ts';
import { gatewayData } from './data.ts';
import { Gateway } from './gateway.ts';
import { gatewayGroups } from './groups.ts';
import { gatewayManaging } from './managing.ts';
import { gatewayMigration } from './migration.ts';
import { gatewayReplication } from './replication.ts';
import { readGaneshaOptions } from './settings.ts';
import { gatewayServers } from './shareServers.ts';
import { gatewayAccess, gatewayRevert, gatewayShares } from './shares.ts';
import { gatewaySnapshots } from './snapshots.ts';
import { gatewayStats } from './stats.ts';

export function createGaneshaDriver(settings: DriverSettings): Driver {
  const options = readGaneshaOptions(settings);
  const gateway = new Gateway(settings, options);
  return {
    ...(gateway.servers && { servers: gatewayServers(gateway, gateway.servers) }),
    shares: gatewayShares(gateway),
    access: gatewayAccess(gateway),
    snapshots: gatewaySnapshots(gateway),
    revert: gatewayRevert(gateway),
    manage: gatewayManaging(gateway),
    groups: gatewayGroups(gateway),
    ...(options.replicates && { replication: gatewayReplication(gateway) }),
    ...(options.pools.length > 1 && { migration: gatewayMigration(gateway) }),
    data: gatewayData(gateway),
    start: (signal) => gateway.start(signal),
    async stats(signal) {
      giveUpIf(signal, 'the report');
      return gatewayStats(gateway, signal);
    },
    stop: () => gateway.stop(),
  };
}
