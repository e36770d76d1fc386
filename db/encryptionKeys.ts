/** Which shares use which encryption key. Of a project's keys each counts once, however many shares use it. */
import { randomUUID } from 'node:crypto';
import type { QuotaDefaults } from '#domain/quotas.ts';
import type { Queries, Tx } from './connection.ts';
import { type QuotaOwner, take } from './quotas.ts';
import { sql } from './sql.ts';

const ofProject = (projectId: string, key: string) => sql`
  project_id = ${projectId} AND encryption_key_ref = ${key} AND deleted = 'False'`;

/** Notes that a share instance uses a key, which counts if it is the project's first use. Throws overQuota. */
export async function useKey(
  tx: Tx,
  owner: QuotaOwner,
  instanceId: string,
  key: string,
  defaults: QuotaDefaults,
): Promise<void> {
  // Nothing is taken yet, but the project's usage is locked: two first uses at once count one.
  await take(tx, owner, { encryption_keys: 0 }, defaults);
  if (!(await isUsed(tx, owner.projectId, key))) await take(tx, owner, { encryption_keys: 1 }, defaults);
  await tx.run`
    INSERT INTO encryption_refs (id, share_instance_id, encryption_key_ref, project_id, created_at, deleted)
    VALUES (${randomUUID()}, ${instanceId}, ${key}, ${owner.projectId}, UTC_TIMESTAMP(6), 'False')`;
}

/** Notes that an instance uses its key no more; after the project's last use it is not counted any more. */
export async function dropKey(tx: Tx, instanceId: string): Promise<void> {
  const ref = await tx.row<{ id: string; projectId: string; key: string }>`
    SELECT id, project_id AS projectId, encryption_key_ref AS \`key\` FROM encryption_refs
    WHERE share_instance_id = ${instanceId} AND deleted = 'False'`;
  if (!ref) return;
  await tx.rows`
    SELECT id FROM quota_usages WHERE project_id = ${ref.projectId} AND resource = 'encryption_keys' AND deleted = 0 ORDER BY id FOR UPDATE`;
  const { affected } = await tx.run`
    UPDATE encryption_refs SET deleted = id, deleted_at = UTC_TIMESTAMP(6) WHERE id = ${ref.id} AND deleted = 'False'`;
  if (affected === 0 || (await isUsed(tx, ref.projectId, ref.key))) return;
  // Whoever of the project used it first had it counted.
  await tx.run`
    UPDATE quota_usages SET in_use = in_use - 1, updated_at = UTC_TIMESTAMP(6)
    WHERE project_id = ${ref.projectId} AND resource = 'encryption_keys' AND deleted = 0 AND in_use > 0 ORDER BY id LIMIT 1`;
}

async function isUsed(db: Queries, projectId: string, key: string): Promise<boolean> {
  return (
    (await db.row`SELECT id FROM encryption_refs WHERE ${ofProject(projectId, key)} LIMIT 1`) !== undefined
  );
}
