/** Services: each worker's row, its heartbeat, and who is up. */
import { randomUUID } from 'node:crypto';
import type { Db, Queries, Tx } from './connection.ts';
import { list, sql } from './sql.ts';

export interface ServiceRow {
  id: number;
  host: string;
  binary: string;
  topic: string;
  disabled: boolean;
  disabled_reason: string | null;
  availability_zone: string | null;
  state: string;
  ensuring: boolean;
  created_at: string | null;
  updated_at: string | null;
}

/** Makes the service's row if it has none; answers its id. */
export async function registerService(
  db: Db,
  service: { host: string; binary: string; topic: string; zone: string },
): Promise<number> {
  return db.transaction(async (tx) => {
    const zoneId = await ensureZone(tx, service.zone);
    const found = await tx.row<{ id: number }>`
      SELECT id FROM services WHERE host = ${service.host} AND \`binary\` = ${service.binary} AND deleted = 0 FOR UPDATE`;
    if (found) {
      await tx.run`UPDATE services SET availability_zone_id = ${zoneId}, state = 'up', updated_at = UTC_TIMESTAMP(6) WHERE id = ${found.id}`;
      return found.id;
    }
    const { insertId } = await tx.run`
      INSERT INTO services (created_at, updated_at, deleted, host, \`binary\`, topic, report_count, disabled, availability_zone_id, state, ensuring)
      VALUES (UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 0, ${service.host}, ${service.binary}, ${service.topic}, 0, 0, ${zoneId}, 'up', 0)`;
    return insertId;
  });
}

async function ensureZone(tx: Tx, zone: string): Promise<string> {
  await tx.run`
    INSERT IGNORE INTO availability_zones (id, name, deleted, created_at) VALUES (${randomUUID()}, ${zone}, 'False', UTC_TIMESTAMP(6))`;
  const row = await tx.row<{
    id: string;
  }>`SELECT id FROM availability_zones WHERE name = ${zone} AND deleted = 'False'`;
  return row!.id;
}

/** One heartbeat for all the services of a process. */
export async function heartbeat(db: Queries, ids: readonly number[]): Promise<void> {
  await db.run`
    UPDATE services SET report_count = report_count + 1, state = 'up', updated_at = UTC_TIMESTAMP(6) WHERE id IN (${list(ids)})`;
}

const columns = sql`
  s.id, s.host, s.binary, s.topic, s.disabled, s.disabled_reason, z.name AS availability_zone, s.state, s.ensuring,
  s.created_at, s.updated_at`;
const tables = sql`services s LEFT JOIN availability_zones z ON z.id = s.availability_zone_id`;

/** Every service, up or not. */
export function listServices(db: Queries): Promise<ServiceRow[]> {
  return db.rows`SELECT ${columns} FROM ${tables} WHERE s.deleted = 0 ORDER BY s.id`;
}

/** Every share service (`manila-share`), up or not: what the scheduler chooses from. */
export function shareServices(db: Queries): Promise<ServiceRow[]> {
  return db.rows`
    SELECT ${columns} FROM ${tables} WHERE s.deleted = 0 AND s.binary = 'manila-share' ORDER BY s.id`;
}

/** Takes a service out of, or back into, the scheduler's choice; false when there is no such service. */
export async function setServiceDisabled(
  db: Queries,
  service: { host: string; binary: string },
  disabled: boolean,
  reason: string | null,
): Promise<boolean> {
  const { affected } = await db.run`
    UPDATE services SET disabled = ${disabled}, disabled_reason = ${reason}
    WHERE host = ${service.host} AND \`binary\` = ${service.binary} AND deleted = 0`;
  return affected > 0;
}

/** Notes that a service is ensuring its shares; false when it is at it already. */
export async function beginEnsuring(tx: Tx, id: number): Promise<boolean> {
  const { affected } = await tx.run`
    UPDATE services SET ensuring = 1 WHERE id = ${id} AND ensuring = 0 AND deleted = 0`;
  return affected > 0;
}

/** Notes that it is done, unless jobs are left of this kind and queue, but for the one that is just ending. */
export async function endEnsuring(
  tx: Tx,
  id: number,
  left: { queue: string; kind: string; but: number },
): Promise<void> {
  // Of two jobs that end at once, the second waits here, and sees that the first is gone.
  await tx.row`SELECT id FROM services WHERE id = ${id} FOR UPDATE`;
  const others = await tx.row`
    SELECT id FROM shoal_outbox WHERE queue = ${left.queue} AND kind = ${left.kind} AND id <> ${left.but} LIMIT 1`;
  if (!others) await tx.run`UPDATE services SET ensuring = 0 WHERE id = ${id}`;
}
