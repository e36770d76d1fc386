/** Availability zones. */
import type { Queries } from './connection.ts';

export interface AvailabilityZoneRow {
  id: string;
  name: string;
  created_at: string;
  updated_at: string | null;
}

/** A zone by id or name. */
export function findAvailabilityZone(
  db: Queries,
  nameOrId: string,
): Promise<AvailabilityZoneRow | undefined> {
  return db.row`
    SELECT id, name, created_at, updated_at FROM availability_zones
    WHERE (id = ${nameOrId} OR name = ${nameOrId}) AND deleted = 'False' LIMIT 1`;
}

export function listAvailabilityZones(db: Queries): Promise<AvailabilityZoneRow[]> {
  return db.rows`SELECT id, name, created_at, updated_at FROM availability_zones WHERE deleted = 'False' ORDER BY created_at`;
}
