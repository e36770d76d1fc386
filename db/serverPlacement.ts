/** Which share server something goes to: one that serves its subnets on its back end, or a new one. */
import { ACTIVE, fits, passing, type ServerLimits, serverLife } from '#domain/shareServers.ts';
import type { Queries, Tx } from './connection.ts';
import { insertShareServer } from './shareServers.ts';
import { int, list, name } from './sql.ts';

/** What needs a server, and how much it puts on it. */
export interface ServerNeed {
  holder: 'share_instances' | 'share_groups';
  id: string;
  /** `host@backend` */
  host: string;
  networkId: string;
  subnetIds: readonly string[];
  /** GiB */
  size: number;
  /** of the owner's key, where the server's storage as a whole is encrypted with it */
  encryptionKeyRef: string | null;
  /** the only server that will do: that of a snapshot's share, or of a share group */
  only: string | null;
}

/**
 * `assigned`: on this server, which may not serve yet (`isNew`: it is to be set up by whoever asked). `wait`: another one is
 * being made for the same subnets. `none`: the only one that would do isn't active.
 */
export type Placement =
  | { kind: 'assigned'; serverId: string; isNew: boolean }
  | { kind: 'wait' }
  | { kind: 'none' };

interface Candidate {
  id: string;
  status: string;
  shares: number;
  size: number;
}

/**
 * Gives the holder a server, for good: a second call answers the same one. Placements in one network wait for
 * each other, on whatever machine they are.
 */
export async function placeOnServer(
  tx: Tx,
  need: ServerNeed,
  limits: ServerLimits,
  newId: string,
): Promise<Placement> {
  // Not the subnets' rows: the ports that are just being written for a server hang on those.
  await tx.row`SELECT id FROM share_networks WHERE id = ${need.networkId} FOR UPDATE`;
  const holder = await tx.row<{ server: string | null }>`
    SELECT share_server_id AS server FROM ${name(need.holder)} WHERE id = ${need.id} FOR UPDATE`;
  if (!holder) return { kind: 'none' };
  if (holder.server !== null) return { kind: 'assigned', serverId: holder.server, isNew: false };

  const candidates = await serving(tx, need);
  const fitting = candidates.filter((each) =>
    need.only === null ? fits(limits, each, need.size) : each.id === need.only,
  );
  const chosen = fitting.find(({ status }) => status === ACTIVE) ?? fitting[0];
  if (chosen) {
    await assign(tx, need, chosen.id);
    return { kind: 'assigned', serverId: chosen.id, isNew: false };
  }
  if (need.only !== null) return { kind: 'none' };
  if (candidates.some(({ status }) => passing.includes(status))) return { kind: 'wait' };
  await insertShareServer(tx, {
    id: newId,
    host: need.host,
    status: serverLife.setup.via,
    subnetIds: need.subnetIds,
    isAutoDeletable: true,
    identifier: null,
    sourceId: null,
    taskState: null,
    encryptionKeyRef: need.encryptionKeyRef,
  });
  await assign(tx, need, newId);
  return { kind: 'assigned', serverId: newId, isNew: true };
}

/** Servers of exactly these subnets, the oldest first, locked: none of them goes meanwhile. */
async function serving(tx: Tx, need: ServerNeed): Promise<Candidate[]> {
  const subnets = [...need.subnetIds].sort().join(',');
  const locked = await tx.rows<{ id: string; status: string }>`
    SELECT v.id, v.status FROM share_servers v
    WHERE v.host = ${need.host} AND v.deleted = 'False' AND v.status IN (${list([ACTIVE, ...passing])})
      AND v.encryption_key_ref <=> ${need.encryptionKeyRef}
      AND ${subnets} = (SELECT GROUP_CONCAT(m.share_network_subnet_id ORDER BY m.share_network_subnet_id)
        FROM share_server_share_network_subnet_mappings m WHERE m.share_server_id = v.id AND m.deleted = 0)
    ORDER BY v.created_at, v.id FOR UPDATE`;
  if (locked.length === 0) return [];
  const held = await tx.rows<{ id: string; shares: number; size: number }>`
    SELECT i.share_server_id AS id, COUNT(*) AS shares, CAST(SUM(s.size) AS SIGNED) AS size
    FROM share_instances i JOIN shares s ON s.id = i.share_id
    WHERE i.share_server_id IN (${list(locked.map(({ id }) => id))}) AND i.deleted = 'False' GROUP BY i.share_server_id`;
  return locked.map((server) => ({
    shares: 0,
    size: 0,
    ...held.find(({ id }) => id === server.id),
    ...server,
  }));
}

async function assign(tx: Tx, need: ServerNeed, serverId: string): Promise<void> {
  await tx.run`
    UPDATE ${name(need.holder)} SET share_server_id = ${serverId}, updated_at = UTC_TIMESTAMP(6) WHERE id = ${need.id}`;
  await tx.run`UPDATE share_servers SET updated_at = UTC_TIMESTAMP(6) WHERE id = ${serverId}`;
}

/** A share that could not be made on the server that was chosen for it has none. */
export async function forgetServer(tx: Tx, instanceId: string): Promise<void> {
  await tx.run`UPDATE share_instances SET share_server_id = NULL WHERE id = ${instanceId} AND deleted = 'False'`;
}

/** The server that a share group is on. */
export async function serverOfGroup(db: Queries, groupId: string): Promise<string | null> {
  const row = await db.row<{ server: string | null }>`
    SELECT share_server_id AS server FROM share_groups WHERE id = ${groupId} AND deleted = 'False'`;
  return row?.server ?? null;
}

/** Shares that are being made and wait for this server. */
export function sharesWaitingFor(
  tx: Tx,
  serverId: string,
): Promise<{ instanceId: string; shareId: string; projectId: string }[]> {
  return tx.rows`
    SELECT i.id AS instanceId, i.share_id AS shareId, s.project_id AS projectId
    FROM share_instances i JOIN shares s ON s.id = i.share_id
    WHERE i.share_server_id = ${serverId} AND i.deleted = 'False' AND i.status = 'creating'`;
}

/** Servers of a back end that nothing has been on for so many minutes. */
export async function unusedServers(
  db: Queries,
  host: string,
  statuses: readonly string[],
  minutes: number,
): Promise<string[]> {
  const rows = await db.rows<{ id: string }>`
    SELECT v.id FROM share_servers v
    WHERE v.host = ${host} AND v.deleted = 'False' AND v.is_auto_deletable = 1 AND v.status IN (${list(statuses)})
      AND v.updated_at < UTC_TIMESTAMP(6) - INTERVAL ${int(minutes)} MINUTE
      AND NOT EXISTS (SELECT 1 FROM share_instances i WHERE i.share_server_id = v.id AND i.deleted = 'False')
      AND NOT EXISTS (SELECT 1 FROM share_groups g WHERE g.share_server_id = v.id AND g.deleted = 'False')
    ORDER BY v.updated_at LIMIT 100`;
  return rows.map(({ id }) => id);
}
