/** Ports of share servers: the addresses that each has, in a tenant's subnet or in the network of the administrators. */
import { randomUUID } from 'node:crypto';
import type { NetworkPort } from '#domain/backend.ts';
import { NetworkError, type PortLabel, type PortPlace, type PortStore } from '#domain/network.ts';
import type { Db, Queries } from './connection.ts';
import { isDeadlock } from './databaseAway.ts';
import { int, join, list, sql } from './sql.ts';

export interface PortRow extends NetworkPort {
  shareServerId: string;
  /** null in the network of the administrators */
  subnetId: string | null;
  label: PortLabel;
}

/** All ports of a server, oldest first. */
export function portsOfServer(db: Queries, serverId: string): Promise<PortRow[]> {
  return db.rows`
    SELECT id, ip_address AS ipAddress, mac_address AS macAddress, share_server_id AS shareServerId,
      share_network_subnet_id AS subnetId, label
    FROM network_allocations WHERE share_server_id = ${serverId} AND deleted = 'False' ORDER BY created_at, id`;
}

/** Moves all ports of a server to another one, which takes its place. */
export async function giveAllPorts(db: Queries, from: string, to: string): Promise<void> {
  await db.run`
    UPDATE network_allocations SET share_server_id = ${to}, updated_at = UTC_TIMESTAMP(6)
    WHERE share_server_id = ${from} AND deleted = 'False'`;
}

/** Addresses are given out by one machine at a time; s is how long others wait for it. */
const LOCK = 'shoal-network-addresses';
const LOCK_WAIT_S = 20;
const INSERT_ATTEMPTS = 8;
/** Candidates looked up in one statement. */
const AT_ONCE = 256;

/** The rows of `network_allocations`, as network plug-ins use them. */
export function portStore(db: Db): PortStore {
  return {
    ports: (place) => portsIn(db, place),
    claim: (place, count, candidates) =>
      db.session(async (session) => {
        const got = await session.row<{ held: number | null }>`
          SELECT GET_LOCK(${LOCK}, ${LOCK_WAIT_S}) AS held`;
        if (got?.held !== 1) throw new NetworkError('timeout', 'other machines are giving out addresses');
        try {
          const present = await portsIn(session, place);
          const wanting = count - present.length;
          if (wanting <= 0) return present.slice(0, count);
          const free = await firstFree(session, wanting, candidates);
          if (free.length < wanting) return present;
          const ports = free.map((ipAddress) => ({ id: randomUUID(), ipAddress, macAddress: null }));
          await insertDespiteDeadlock(session, place, ports);
          return [...present, ...ports];
        } finally {
          await session.rows`SELECT RELEASE_LOCK(${LOCK})`;
        }
      }),
    add: (place, port) => db.transaction((tx) => insertPorts(tx, place, [port])),
    async remove(serverId, portIds) {
      await db.transaction(
        (tx) => tx.run`
          UPDATE network_allocations SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
          WHERE share_server_id = ${serverId} AND id IN (${list(portIds)}) AND deleted = 'False'`,
      );
    },
  };
}

function portsIn(db: Queries, { serverId, label, subnet }: PortPlace): Promise<NetworkPort[]> {
  const where = label === 'admin' ? sql`label = 'admin'` : sql`share_network_subnet_id = ${subnet.id}`;
  return db.rows`
    SELECT id, ip_address AS ipAddress, mac_address AS macAddress FROM network_allocations
    WHERE share_server_id = ${serverId} AND ${where} AND deleted = 'False' ORDER BY created_at, id`;
}

async function firstFree(db: Queries, count: number, candidates: Iterable<string>): Promise<string[]> {
  const free: string[] = [];
  let chunk: string[] = [];
  const sift = async () => {
    const rows = await db.rows<{ address: string }>`
      SELECT ip_address AS address FROM network_allocations WHERE ip_address IN (${list(chunk)}) AND deleted = 'False'`;
    const taken = new Set(rows.map(({ address }) => address));
    free.push(...chunk.filter((address) => !taken.has(address)));
    chunk = [];
  };
  for (const address of candidates) {
    chunk.push(address);
    if (chunk.length === AT_ONCE) await sift();
    if (free.length >= count) break;
  }
  if (free.length < count && chunk.length > 0) await sift();
  return free.slice(0, count);
}

/**
 * A session has no transactions that are run again, and a second connection, asked for while all others wait for the
 * lock, might never come.
 */
async function insertDespiteDeadlock(
  session: Queries,
  place: PortPlace,
  ports: readonly NetworkPort[],
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await insertPorts(session, place, ports);
    } catch (error) {
      if (!isDeadlock(error) || attempt === INSERT_ATTEMPTS) throw error;
    }
  }
}

/** In one statement, so that a machine that is killed leaves all or none. */
async function insertPorts(
  db: Queries,
  { serverId, label, subnet }: PortPlace,
  ports: readonly NetworkPort[],
): Promise<void> {
  if (ports.length === 0) return;
  // Their order stays: the first is the one that back ends prefer.
  const rows = ports.map(
    (
      port,
      nth,
    ) => sql`(UTC_TIMESTAMP(6) + INTERVAL ${int(nth)} MICROSECOND, 'False', ${port.id}, ${port.ipAddress}, ${port.macAddress}, ${serverId}, ${label},
      ${subnet.networkType}, ${subnet.segmentationId}, ${subnet.ipVersion}, ${subnet.cidr}, ${subnet.gateway}, ${subnet.mtu},
      ${label === 'admin' ? null : subnet.id})`,
  );
  await db.run`
    INSERT INTO network_allocations (created_at, deleted, id, ip_address, mac_address, share_server_id, label,
      network_type, segmentation_id, ip_version, cidr, gateway, mtu, share_network_subnet_id)
    VALUES ${join(rows, ', ')}`;
}
