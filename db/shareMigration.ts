/** The two instances of a share that is being migrated: making the second, telling how far, taking over. */
import { randomUUID } from 'node:crypto';
import type { AccessRuleResult, ExportLocation } from '#domain/backend.ts';
import { backendOf } from '#domain/services.ts';
import { DESTINATION, migrationJobs } from '#domain/shareMigration.ts';
import { shareLife } from '#domain/shares.ts';
import type { ShareCapabilities } from '#domain/shareTypes.ts';
import { settleRules } from './accessStates.ts';
import type { Queries, Tx } from './connection.ts';
import type { QuotaOwner } from './quotas.ts';
import { type InstanceRow, placeInstance, replaceExportLocations } from './shareInstances.ts';
import { join, list, sql } from './sql.ts';

/** Where a share moves to, and how far it is; undefined when it doesn't. */
export function destinationOf(
  db: Queries,
  shareId: string,
): Promise<{ id: string; host: string; progress: string | null } | undefined> {
  return db.row`
    SELECT id, host, progress FROM share_instances
    WHERE share_id = ${shareId} AND status = ${DESTINATION} AND deleted = 'False' LIMIT 1`;
}

export interface NewDestination {
  id: string;
  /** host@backend#pool */
  host: string;
  shareTypeId: string | null;
  shareNetworkId: string | null;
}

/**
 * Writes the instance that a share moves to, like the one it moves from in all that isn't said. Within a back end and a
 * share network it stays on its share server; elsewhere it gets one when it is made.
 */
export async function insertDestination(tx: Tx, sourceId: string, to: NewDestination): Promise<void> {
  await tx.run`
    INSERT INTO share_instances (created_at, deleted, id, share_id, host, status, share_type_id, share_network_id,
      share_server_id, access_rules_status, cast_rules_to_readonly, mount_point_name, encryption_key_ref, qos_type_id, availability_zone_id)
    SELECT UTC_TIMESTAMP(6), 'False', ${to.id}, share_id, ${to.host}, ${DESTINATION}, ${to.shareTypeId}, ${to.shareNetworkId},
      IF(SUBSTRING_INDEX(host, '#', 1) = ${backendOf(to.host)} AND share_network_id = ${to.shareNetworkId}, share_server_id, NULL),
      'active', 0, mount_point_name, encryption_key_ref, qos_type_id, availability_zone_id
    FROM share_instances WHERE id = ${sourceId}`;
  await placeInstance(tx, to.id, to.host);
}

/** How far it is, per cent. */
export async function setProgress(db: Queries, destinationId: string, percent: number): Promise<void> {
  await db.run`
    UPDATE share_instances SET progress = ${`${Math.round(percent)}%`}
    WHERE id = ${destinationId} AND status = ${DESTINATION} AND deleted = 'False'`;
}

/**
 * Lets the rules of an instance that is moved from read only, whatever their level, or as they say again. One that
 * isn't any more stays as it is: a run that comes late takes nothing from anyone.
 */
export async function castToReadOnly(tx: Tx, instanceId: string, only: boolean): Promise<void> {
  await tx.run`
    UPDATE share_instances SET cast_rules_to_readonly = ${only}
    WHERE id = ${instanceId} AND status = ${shareLife.migrate.via} AND deleted = 'False'`;
}

/** Takes a share from one of the phases `from` into another; false when it is in none of them any more. */
export async function enterPhase(
  db: Queries,
  shareId: string,
  from: readonly string[],
  phase: string,
): Promise<boolean> {
  const { affected } = await db.run`
    UPDATE shares SET task_state = ${phase}, updated_at = UTC_TIMESTAMP(6)
    WHERE id = ${shareId} AND task_state IN (${list(from)}) AND deleted = 'False'`;
  return affected > 0;
}

const endings = [migrationJobs.cancel, migrationJobs.discard, migrationJobs.restore];

/** Was it asked to give the share's migration up, or has to be? The job for it waits behind the one that runs. */
export async function isBeingCancelled(db: Queries, shareId: string): Promise<boolean> {
  const waiting = await db.rows`
    SELECT id FROM shoal_outbox WHERE resource = ${shareId} AND kind IN (${list(endings)}) LIMIT 1`;
  return waiting.length > 0;
}

/**
 * The destination takes the source's place: its export locations, the rules in the states that the back end tells
 * (without those, as they are), the snapshots. The source is left with neither, for its removal.
 */
export async function takeOver(
  tx: Tx,
  source: InstanceRow,
  destination: InstanceRow,
  locations: readonly ExportLocation[],
  results: ReadonlyMap<string, AccessRuleResult>,
): Promise<void> {
  await replaceExportLocations(tx, destination.id, locations);
  const rules = await tx.rows<{ access_id: string; state: string }>`
    SELECT access_id, state FROM share_instance_access_map WHERE share_instance_id = ${source.id} AND deleted = 'False'`;
  if (rules.length > 0) {
    const rows = rules.map(
      (rule) =>
        sql`(UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 'False', ${randomUUID()}, ${destination.id}, ${rule.access_id}, ${rule.state})`,
    );
    await tx.run`
      INSERT INTO share_instance_access_map (created_at, updated_at, deleted, id, share_instance_id, access_id, state)
      VALUES ${join(rows, ', ')}`;
  }
  await settleRules(tx, destination.id, results);
  await tx.run`
    UPDATE share_snapshot_instances SET share_instance_id = ${destination.id}, updated_at = UTC_TIMESTAMP(6)
    WHERE share_instance_id = ${source.id} AND deleted = 'False'`;
  await tx.run`
    UPDATE share_instances SET status = 'available', progress = '100%', launched_at = UTC_TIMESTAMP(), updated_at = UTC_TIMESTAMP(6)
    WHERE id = ${destination.id} AND deleted = 'False'`;
}

/** What a share of another type can do. */
export async function setCapabilities(tx: Tx, shareId: string, can: ShareCapabilities): Promise<void> {
  await tx.run`
    UPDATE shares SET snapshot_support = ${can.snapshot_support}, create_share_from_snapshot_support = ${can.create_share_from_snapshot_support},
      revert_to_snapshot_support = ${can.revert_to_snapshot_support}, mount_snapshot_support = ${can.mount_snapshot_support},
      replication_type = ${can.replication_type}, updated_at = UTC_TIMESTAMP(6)
    WHERE id = ${shareId} AND deleted = 'False'`;
}

/** The snapshots of a share, and whose quota each counts against. Sizes in GiB. */
export function snapshotsCounted(
  db: Queries,
  shareId: string,
): Promise<(Pick<QuotaOwner, 'projectId' | 'userId'> & { size: number })[]> {
  return db.rows`
    SELECT project_id AS projectId, user_id AS userId, size FROM share_snapshots WHERE share_id = ${shareId} AND deleted = 'False'`;
}
