/** The life of share servers, and the way of their shares to another one: servers.ts runs them. */
import {
  type BackendShareServer,
  DriverError,
  type ExportLocation,
  type ShareServerMigration,
  type ShareServers,
} from '../driver.ts';
import { giveUpIf } from './command.ts';
import type { Gateway } from './gateway.ts';
import { identifierOf, type Servers } from './servers.ts';
import type { Serving } from './serving.ts';

export function gatewayServers(gateway: Gateway, servers: Servers): ShareServers {
  const turn = <T>(server: BackendShareServer, signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
    gateway.exclusively([identifierOf(server)], signal, work);
  const open = async (server: BackendShareServer, signal: AbortSignal): Promise<Record<string, string>> => {
    const address = addressOf(server);
    try {
      const record = { address, servesAs: server.id };
      const { port } = await servers.open(identifierOf(server), record, signal);
      return { address, port: String(port) };
    } catch (error) {
      if (!(error instanceof DriverError)) throw error;
      throw new DriverError(error.code, error.message, { cause: error, details: { address } });
    }
  };
  return {
    // Ganesha listens on one address
    ports: 1,
    adminPorts: 0,

    setup: async (server, signal) =>
      turn(server, signal, async () => {
        giveUpIf(signal, 'the setup');
        return open(server, signal);
      }),

    teardown: async (server, signal) =>
      turn(server, signal, async () => {
        giveUpIf(signal, 'the teardown');
        await servers.remove(identifierOf(server));
      }),

    ensure: async (server, signal) =>
      turn(server, signal, async () => {
        giveUpIf(signal, 'the check');
        await open(server, signal);
      }),

    manage: async (identifier, _options, server, signal) =>
      turn({ ...server, identifier }, signal, async () => {
        giveUpIf(signal, 'the takeover');
        const record = await servers.kept(identifier);
        if (record === null) throw new DriverError('notFound', `there is no share server ${identifier}`);
        if (record.servesAs !== null && record.servesAs !== server.id)
          throw new DriverError('invalid', `share server ${identifier} is share server ${record.servesAs}`);
        const { port } = await servers.open(identifier, { ...record, servesAs: server.id }, signal);
        return { identifier, details: { address: record.address, port: String(port) } };
      }),

    unmanage: async (server, signal) =>
      turn(server, signal, async () => {
        giveUpIf(signal, 'the release');
        const record = await servers.kept(identifierOf(server));
        if (record !== null) await servers.keep(identifierOf(server), { ...record, servesAs: null });
      }),

    migration: serverMigration(gateway, servers),
  };
}

/** Details first: a subnet's ports may be gone when the server goes. */
function addressOf({ id, details, networks }: BackendShareServer): string {
  if (networks.length > 1)
    throw new DriverError('unsupported', 'a share server of this back end serves one subnet, not several');
  const address = networks[0]?.ports[0]?.ipAddress ?? details.address;
  if (address === undefined) throw new DriverError('invalid', `share server ${id} was given no address`);
  return address;
}

/** Data stays where it is: both servers serve from the same pools. Only exports go over, when it is completed. */
function serverMigration(gateway: Gateway, servers: Servers): ShareServerMigration {
  const find = (server: BackendShareServer): Serving => {
    const serving = servers.find(identifierOf(server));
    if (serving === undefined) throw new DriverError('notFound', `share server ${server.id} is not here`);
    return serving;
  };
  return {
    check: async (source, _destination, _shares, signal) => {
      giveUpIf(signal, 'the check');
      return {
        compatible: servers.find(identifierOf(source)) !== undefined,
        writable: true,
        nondisruptive: false,
        preserveSnapshots: true,
        migrationCancel: true,
        migrationGetProgress: true,
      };
    },

    start: async (source, destination, signal) => {
      giveUpIf(signal, 'the migration');
      find(source);
      find(destination);
    },

    continue: async (_source, _destination, signal) => {
      giveUpIf(signal, 'the migration');
      return true;
    },

    progress: async () => 100,

    complete: async (source, destination, shares, signal) => {
      const [from, to] = [find(source), find(destination)];
      const ids = [identifierOf(source), identifierOf(destination), ...shares.map(({ id }) => id)];
      return gateway.exclusively(ids, signal, async () => {
        for (const [id, { number: _, ...record }] of from.records()) {
          giveUpIf(signal, 'the migration');
          await to.publish(id, record, signal);
          await from.withdraw(id, signal);
        }
        const locations = new Map<string, ExportLocation[]>();
        for (const share of shares)
          locations.set(share.id, gateway.locations(gateway.share({ ...share, server: destination })));
        return locations;
      });
    },

    cancel: async (_source, _destination, signal) => giveUpIf(signal, 'the cancellation'),
  };
}
