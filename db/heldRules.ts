/** The access rules that an instance should hold, as drivers take them. */
import { backendAccessTo } from '#domain/accessRules.ts';
import type { AccessRule } from '#domain/backend.ts';
import type { Queries } from './connection.ts';
import { sql } from './sql.ts';

/**
 * All rules of the instance but those on their way out and those that failed. On instances that are only to be read,
 * or not to be used before their turn comes, they are for reading; `asActive` asks for them as they will be then.
 */
export async function heldRules(
  db: Queries,
  instanceId: string,
  { asActive = false } = {},
): Promise<AccessRule[]> {
  const level = asActive
    ? sql`r.access_level`
    : sql`IF(i.cast_rules_to_readonly = 1 OR (s.replication_type = 'dr' AND i.replica_state <> 'active'), 'ro', r.access_level)`;
  const rules = await db.rows<AccessRule>`
    SELECT r.id, r.access_type AS accessType, r.access_to AS accessTo,
      ${level} AS accessLevel
    FROM share_instance_access_map m
    JOIN share_access_map r ON r.id = m.access_id AND r.deleted = 'False'
    JOIN share_instances i ON i.id = m.share_instance_id
    JOIN shares s ON s.id = i.share_id
    WHERE m.share_instance_id = ${instanceId} AND m.deleted = 'False' AND m.state NOT IN ('queued_to_deny', 'denying', 'error')
    ORDER BY r.created_at, r.id`;
  return rules.map((rule) => ({ ...rule, accessTo: backendAccessTo(rule.accessType, rule.accessTo) }));
}
