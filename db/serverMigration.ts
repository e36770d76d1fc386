/** What the migration of a share server does to what is on it: the server that it moves to, its shares and snapshots. */
import type { ExportLocation } from '#domain/backend.ts';
import { MIGRATING_TO, serverLife, serverTask } from '#domain/shareServers.ts';
import type { Queries, Tx } from './connection.ts';
import { type DrivenServer, findDrivenServer } from './drivenServers.ts';
import { instancesOnServer, replaceExportLocations } from './shareInstances.ts';
import { sql } from './sql.ts';

/** The status of shares and snapshots meanwhile. */
const HELD = 'server_migrating';

/** The server that a server is being moved to; undefined while there is none. */
export async function destinationOf(db: Queries, sourceId: string): Promise<DrivenServer | undefined> {
  const row = await db.row<{ id: string }>`
    SELECT id FROM share_servers WHERE source_share_server_id = ${sourceId} AND status = ${MIGRATING_TO} AND deleted = 'False'
    ORDER BY created_at DESC LIMIT 1`;
  return row && findDrivenServer(db, row.id);
}

/** The server that took the place of another one, which may be gone by now; undefined when none did. */
export async function successorOf(db: Queries, id: string): Promise<string | undefined> {
  const row = await db.row<{ id: string }>`
    SELECT id FROM share_servers WHERE source_share_server_id = ${id} AND task_state = ${serverTask.success} AND deleted = 'False'
    ORDER BY created_at DESC LIMIT 1`;
  return row?.id;
}

/** Shares and snapshots on a server that are not `available`, and replicas: what keeps it from being moved. */
export async function hindrances(db: Queries, serverId: string): Promise<string[]> {
  const rows = await db.rows<{ what: string }>`
    SELECT CONCAT('share ', i.share_id, ' is ', i.status) AS what FROM share_instances i
    WHERE i.share_server_id = ${serverId} AND i.deleted = 'False' AND i.status <> 'available'
    UNION ALL
    SELECT CONCAT('share ', i.share_id, ' has replicas') FROM share_instances i
    WHERE i.share_server_id = ${serverId} AND i.deleted = 'False' AND i.replica_state IS NOT NULL
    UNION ALL
    SELECT CONCAT('snapshot ', n.snapshot_id, ' is ', n.status) FROM share_snapshot_instances n
      JOIN share_instances i ON i.id = n.share_instance_id
    WHERE i.share_server_id = ${serverId} AND i.deleted = 'False' AND n.deleted = 'False' AND n.status <> 'available'`;
  return rows.map(({ what }) => what);
}

/** Keeps everything on the server from being changed. */
export function holdShares(tx: Tx, serverId: string): Promise<void> {
  return setStatuses(tx, serverId, 'available', HELD);
}

/** Lets what was held go on, as `available` or in an error state. */
export function freeShares(tx: Tx, serverId: string, status: 'available' | 'error'): Promise<void> {
  return setStatuses(tx, serverId, HELD, status);
}

async function setStatuses(tx: Tx, serverId: string, from: string, to: string): Promise<void> {
  const now = sql`updated_at = UTC_TIMESTAMP(6)`;
  await tx.run`
    UPDATE share_snapshot_instances n JOIN share_instances i ON i.id = n.share_instance_id
    SET n.status = ${to}, n.${now} WHERE i.share_server_id = ${serverId} AND i.deleted = 'False'
      AND n.deleted = 'False' AND n.status = ${from}`;
  await tx.run`
    UPDATE share_instances SET status = ${to}, ${now}
    WHERE share_server_id = ${serverId} AND deleted = 'False' AND status = ${from}`;
}

/** Puts everything that was on one server onto another, under its new export locations. */
export async function moveShares(
  tx: Tx,
  from: string,
  to: { id: string; host: string },
  locations: ReadonlyMap<string, readonly ExportLocation[]>,
): Promise<void> {
  const network = await tx.row<{ id: string; zone: string | null }>`
    SELECT u.share_network_id AS id, s.availability_zone_id AS zone
    FROM share_server_share_network_subnet_mappings m JOIN share_network_subnets u ON u.id = m.share_network_subnet_id
    LEFT JOIN services s ON s.host = ${to.host} AND s.binary = 'manila-share' AND s.deleted = 0
    WHERE m.share_server_id = ${to.id} AND m.deleted = 0 ORDER BY m.id LIMIT 1`;
  for (const instance of await instancesOnServer(tx, from)) {
    const pool = instance.host?.split('#')[1] ?? '';
    await tx.run`
      UPDATE share_instances SET share_server_id = ${to.id}, share_network_id = ${network?.id ?? instance.shareNetworkId},
        host = ${`${to.host}#${pool}`}, availability_zone_id = COALESCE(${network?.zone ?? null}, availability_zone_id),
        updated_at = UTC_TIMESTAMP(6)
      WHERE id = ${instance.id}`;
    const moved = locations.get(instance.id);
    if (moved) await replaceExportLocations(tx, instance.id, moved);
  }
  await tx.run`UPDATE share_groups SET share_server_id = ${to.id}, share_network_id = ${network?.id ?? null} WHERE share_server_id = ${from} AND deleted = 'False'`;
}

/** Sets status and phase together, of a server that is in `from`. */
export async function setMigration(
  tx: Tx,
  id: string,
  from: string,
  to: { status: string; task: string },
): Promise<void> {
  await tx.run`
    UPDATE share_servers SET status = ${to.status}, task_state = ${to.task}, updated_at = UTC_TIMESTAMP(6)
    WHERE id = ${id} AND status = ${from} AND deleted = 'False'`;
}

/** The next phase, if it is still in the one before: another run of the job may be further. */
export async function advanceTask(tx: Tx, id: string, from: string, to: string): Promise<void> {
  await tx.run`
    UPDATE share_servers SET task_state = ${to}, updated_at = UTC_TIMESTAMP(6)
    WHERE id = ${id} AND task_state = ${from} AND deleted = 'False'`;
}

/** From now on the server is the one that the source moves to. */
export async function beginMovingTo(tx: Tx, id: string, sourceId: string): Promise<void> {
  await tx.run`
    UPDATE share_servers SET source_share_server_id = ${sourceId} WHERE id = ${id} AND deleted = 'False'`;
  await setMigration(tx, id, serverLife.setup.via, {
    status: MIGRATING_TO,
    task: serverTask.driverInProgress,
  });
}

/** Servers whose move to this back end, `host@backend`, goes on and that no job is at work on. */
export async function migrationsToContinue(db: Queries, host: string): Promise<string[]> {
  const rows = await db.rows<{ id: string }>`
    SELECT s.id FROM share_servers s JOIN share_servers d ON d.source_share_server_id = s.id AND d.deleted = 'False'
    WHERE d.host = ${host} AND d.status = ${MIGRATING_TO} AND s.status = ${serverLife.migrate.via}
      AND s.task_state = ${serverTask.driverInProgress} AND s.deleted = 'False'
      AND NOT EXISTS (SELECT 1 FROM shoal_outbox o WHERE o.resource = s.id)`;
  return rows.map(({ id }) => id);
}
