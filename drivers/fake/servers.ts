/**
 * Share servers of the fake back end: two addresses for the tenant, the first preferred, and one for admins. It
 * keeps nothing: a server's details are made from its ports, and any server can be managed whose identifier is the
 * id of one, as if it had been made here before.
 */
import {
  type BackendShare,
  type BackendShareServer,
  DriverError,
  type ExportLocation,
  type ShareServerMigration,
  type ShareServers,
} from '../driver.ts';
import type { Rehearse } from './faults.ts';

const UUID = /[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}$/i;

export function fakeServers(
  rehearse: Rehearse,
  locationsOf: (share: BackendShare) => ExportLocation[],
): ShareServers {
  return {
    ports: 2,
    adminPorts: 1,
    async setup(server, signal) {
      await rehearse('setup_server', signal);
      return detailsOf(server, server.id);
    },
    async teardown(_server, signal) {
      await rehearse('teardown_server', signal);
    },
    async ensure(_server, signal) {
      await rehearse('ensure_server', signal);
    },
    async manage(identifier, _options, server, signal) {
      await rehearse('manage_server', signal);
      if (!UUID.test(identifier)) throw new DriverError('notFound', `there is no share server ${identifier}`);
      // Of one that was made elsewhere, the address for admins isn't known.
      return { identifier, details: { service_ip: '11.0.0.11', ...detailsOf(server, identifier) } };
    },
    async unmanage(_server, signal) {
      await rehearse('unmanage_server', signal);
    },
    async update(server, signal) {
      await rehearse('update_share_server', signal);
      return detailsOf(server, server.identifier ?? server.id);
    },
    migration: fakeServerMigration(rehearse, locationsOf),
  };
}

function detailsOf(server: BackendShareServer, id: string): Record<string, string> {
  const subnets = server.networks.map(
    ({ ports: [first, second] }) =>
      `{"primary_public_ip": "${first?.ipAddress ?? ''}", "secondary_public_ip": "${second?.ipAddress ?? ''}"}`,
  );
  const admin = server.networks[0]?.adminPorts[0]?.ipAddress;
  return {
    ...(admin === undefined ? {} : { service_ip: admin }),
    username: 'fake_username',
    server_id: id,
    subnet_allocations: `[${subnets.join(', ')}]`,
  };
}

/** Servers move within the back end at once, in the two phases that others need. */
function fakeServerMigration(
  rehearse: Rehearse,
  locationsOf: (share: BackendShare) => ExportLocation[],
): ShareServerMigration {
  return {
    async check(_source, _destination, _shares, signal) {
      await rehearse('share_server_migration_check', signal);
      return {
        compatible: true,
        writable: true,
        nondisruptive: false,
        preserveSnapshots: true,
        migrationCancel: true,
        migrationGetProgress: true,
      };
    },
    async start(_source, _destination, signal) {
      await rehearse('share_server_migration_start', signal);
    },
    async continue(_source, _destination, signal) {
      await rehearse('share_server_migration_continue', signal);
      return true;
    },
    async progress(_source, _destination, signal) {
      await rehearse('share_server_migration_get_progress', signal);
      return 100;
    },
    async complete(_source, destination, shares, signal) {
      await rehearse('share_server_migration_complete', signal);
      return new Map(shares.map((share) => [share.id, locationsOf({ ...share, server: destination })]));
    },
    async cancel(_source, _destination, signal) {
      await rehearse('share_server_migration_cancel', signal);
    },
  };
}
