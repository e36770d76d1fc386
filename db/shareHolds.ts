/** What keeps a share from being deleted. */
import { deferredStates } from '#domain/shares.ts';
import type { Queries } from './connection.ts';
import { list } from './sql.ts';

export interface Holders {
  snapshots: number;
  /** members of share group snapshots */
  groupSnapshots: number;
  replicas: number;
  backups: number;
}

/** How many of each hang on the share; replicas count the active one, snapshots not those that are as good as gone. */
export async function holdersOf(db: Queries, shareId: string): Promise<Holders> {
  const row = await db.row<Holders>`
    SELECT
      (SELECT COUNT(*) FROM share_snapshots s WHERE share_id = ${shareId} AND deleted = 'False'
        AND NOT EXISTS (SELECT 1 FROM share_snapshot_instances i WHERE i.snapshot_id = s.id AND i.deleted = 'False'
          AND i.status IN (${list(deferredStates)}))) AS snapshots,
      (SELECT COUNT(*) FROM share_snapshot_instances m JOIN share_instances i ON i.id = m.share_instance_id
        WHERE i.share_id = ${shareId} AND m.deleted = 'False' AND m.share_group_snapshot_id IS NOT NULL) AS groupSnapshots,
      (SELECT COUNT(*) FROM share_instances WHERE share_id = ${shareId} AND deleted = 'False' AND replica_state IS NOT NULL) AS replicas,
      (SELECT COUNT(*) FROM share_backups WHERE share_id = ${shareId} AND deleted = 'False') AS backups`;
  return row!;
}

/** Is the resource locked against deletion? */
export async function hasLocks(db: Queries, resourceId: string): Promise<boolean> {
  const locks = await db.rows`
    SELECT id FROM resource_locks WHERE resource_id = ${resourceId} AND resource_action = 'delete' AND deleted = 'False' LIMIT 1`;
  return locks.length > 0;
}
