/** What lists of snapshots can be narrowed by: conditions on `s`, the snapshot. */
import { deferredStates } from '#domain/shares.ts';
import { containing } from './like.ts';
import { snapshotStatus } from './snapshots.ts';
import { list, type Sql, sql } from './sql.ts';

export const snapshotIs = {
  anyOnes: (): Sql => sql`TRUE`,
  ofProject: (id: string): Sql => sql`s.project_id = ${id}`,
  named: (name: string): Sql => sql`s.display_name = ${name}`,
  namedLike: (part: string): Sql => sql`s.display_name LIKE ${containing(part)}`,
  described: (text: string): Sql => sql`s.display_description = ${text}`,
  describedLike: (part: string): Sql => sql`s.display_description LIKE ${containing(part)}`,
  keptByProject: (): Sql => sql`NOT EXISTS (SELECT 1 FROM share_snapshot_instances d
    WHERE d.snapshot_id = s.id AND d.deleted = 'False' AND d.status IN (${list(deferredStates)}))`,
  inStatus: (status: string): Sql => sql`${snapshotStatus} = ${status}`,
  ofShare: (id: string): Sql => sql`s.share_id = ${id}`,
  ofSize: (gigabytes: string): Sql => sql`s.size = ${gigabytes}`,
  /** shares that are there were made of it */
  shared: (): Sql => sql`EXISTS (SELECT 1 FROM shares x WHERE x.snapshot_id = s.id AND x.deleted = 'False')`,
  unshared: (): Sql =>
    sql`NOT EXISTS (SELECT 1 FROM shares x WHERE x.snapshot_id = s.id AND x.deleted = 'False')`,
  withMetadata: (key: string, value: string): Sql => sql`EXISTS (SELECT 1 FROM share_snapshot_metadata m
    WHERE m.share_snapshot_id = s.id AND m.deleted = 'False' AND m.\`key\` = ${key} AND m.value = ${value})`,
} as const;
