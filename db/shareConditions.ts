/** What lists of shares can be narrowed by: conditions on `s` (share), `i` (its instance), `z` (its zone). */

import { deferredStates } from '#domain/shares.ts';
import { beginningWith, containing } from './like.ts';
import { list, type Sql, sql } from './sql.ts';

const exported = (condition: Sql): Sql => sql`EXISTS (SELECT 1 FROM share_instance_export_locations l
  WHERE l.share_instance_id = i.id AND l.deleted = 0 AND ${condition})`;

export const shareIs = {
  anyOnes: (): Sql => sql`TRUE`,
  withId: (id: string): Sql => sql`i.share_id = ${id}`,
  ofProject: (id: string): Sql => sql`s.project_id = ${id}`,
  ofProjectOrPublic: (id: string): Sql => sql`(s.project_id = ${id} OR s.is_public = 1)`,
  softDeleted: (is: boolean): Sql => sql`s.is_soft_deleted = ${is}`,
  named: (name: string): Sql => sql`s.display_name = ${name}`,
  namedLike: (part: string): Sql => sql`s.display_name LIKE ${containing(part)}`,
  described: (text: string): Sql => sql`s.display_description = ${text}`,
  describedLike: (part: string): Sql => sql`s.display_description LIKE ${containing(part)}`,
  keptByProject: (): Sql => sql`i.status NOT IN (${list(deferredStates)})`,
  inStatus: (status: string): Sql => sql`i.status = ${status}`,
  onNetwork: (id: string): Sql => sql`i.share_network_id = ${id}`,
  onServer: (id: string): Sql => sql`i.share_server_id = ${id}`,
  ofType: (id: string): Sql => sql`i.share_type_id = ${id}`,
  inGroup: (id: string): Sql => sql`s.share_group_id = ${id}`,
  fromSnapshot: (id: string): Sql => sql`s.snapshot_id = ${id}`,
  mountedAs: (name: string): Sql => sql`i.mount_point_name = ${name}`,
  inZone: (name: string): Sql => sql`z.name = ${name}`,
  /** a pool, a back end or a host: those find what is under them */
  on: (host: string): Sql =>
    sql`(i.host = ${host} OR i.host LIKE ${beginningWith(`${host}#`)} OR i.host LIKE ${beginningWith(`${host}@`)})`,
  exportedById: (id: string): Sql => exported(sql`l.uuid = ${id}`),
  exportedByPath: (path: string): Sql => exported(sql`l.path = ${path}`),
  withMetadata: (key: string, value: string): Sql => sql`EXISTS (SELECT 1 FROM share_metadata m
    WHERE m.share_id = s.id AND m.deleted = 0 AND m.\`key\` = ${key} AND m.value = ${value})`,
  withExtraSpec: (key: string, value: string): Sql => sql`EXISTS (SELECT 1 FROM share_type_extra_specs e
    WHERE e.share_type_id = i.share_type_id AND e.deleted = 0 AND e.spec_key = ${key} AND e.spec_value = ${value})`,
} as const;
