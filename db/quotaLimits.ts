/** Limits of projects, users, share types and classes, and what is used of them: read and set. */
import type { Limits, QuotaScope } from '#domain/quotaLimits.ts';
import type { QuotaDefaults, QuotaResource, Usage } from '#domain/quotas.ts';
import type { Queries, Tx } from './connection.ts';
import { effectiveLimits } from './quotas.ts';
import { nothing, type Sql, sql } from './sql.ts';

/** A limit for every resource; -1 is none. */
export type AllLimits = Record<QuotaResource, number>;

/** The limits in force for the scope, and those of its project. */
export async function limitsOf(
  db: Queries,
  { projectId, userId, shareTypeId }: QuotaScope,
  defaults: QuotaDefaults,
): Promise<{ own: AllLimits; project: AllLimits }> {
  const owner = { projectId, userId: userId ?? '', shareTypeId };
  const { project, user, shareType } = await effectiveLimits(db, owner, defaults);
  const own = userId !== null ? user : shareTypeId !== null ? shareType : project;
  return { own: own as AllLimits, project: project as AllLimits };
}

/** The limits of a class where set, else those of the configuration. */
export async function classLimits(db: Queries, name: string, defaults: QuotaDefaults): Promise<AllLimits> {
  const rows = await db.rows<{ resource: string; hard_limit: number }>`
    SELECT resource, hard_limit FROM quota_classes WHERE class_name = ${name} AND deleted = 0`;
  const set: Limits = Object.fromEntries(rows.map((row) => [row.resource, row.hard_limit]));
  return { ...defaults, ...set };
}

/** What the scope uses and holds, summed over a project's users. Resources that nobody used are left out. */
export async function usageOf(
  db: Queries,
  { projectId, userId, shareTypeId }: QuotaScope,
): Promise<Map<string, Usage>> {
  // Sums are decimals, which would come as texts.
  const rows = await db.rows<Usage & { resource: string }>`
    SELECT resource, CAST(SUM(in_use) AS INTEGER) AS in_use, CAST(SUM(reserved) AS INTEGER) AS reserved FROM quota_usages
    WHERE project_id = ${projectId} AND deleted = 0 AND share_type_id <=> ${shareTypeId}
      ${userId === null ? nothing : sql`AND user_id = ${userId}`} GROUP BY resource`;
  return new Map(rows.map(({ resource, in_use, reserved }) => [resource, { in_use, reserved }]));
}

/** The largest limit that any user of the project was given, by resource. */
export async function largestUserLimits(db: Queries, projectId: string): Promise<Map<string, number>> {
  const rows = await db.rows<{ resource: string; largest: number }>`
    SELECT resource, MAX(hard_limit) AS largest FROM project_user_quotas
    WHERE project_id = ${projectId} AND deleted = 0 GROUP BY resource`;
  return new Map(rows.map(({ resource, largest }) => [resource, largest]));
}

/** Sets limits of the scope. */
export async function setLimits(tx: Tx, scope: QuotaScope, limits: Limits): Promise<void> {
  for (const [resource, limit] of Object.entries(limits) as [QuotaResource, number][]) {
    const { affected } = await tx.run`
      UPDATE ${tableOf(scope)} SET hard_limit = ${limit}, updated_at = UTC_TIMESTAMP(6)
      WHERE resource = ${resource} AND deleted = 0 AND ${whose(scope)}`;
    if (affected === 0) await insertLimit(tx, scope, resource, limit);
  }
}

async function insertLimit(
  tx: Tx,
  { projectId, userId, shareTypeId }: QuotaScope,
  resource: string,
  limit: number,
): Promise<void> {
  if (userId !== null) {
    await tx.run`
      INSERT INTO project_user_quotas (created_at, deleted, project_id, user_id, resource, hard_limit)
      VALUES (UTC_TIMESTAMP(6), 0, ${projectId}, ${userId}, ${resource}, ${limit})`;
  } else if (shareTypeId !== null) {
    await tx.run`
      INSERT INTO project_share_type_quotas (created_at, deleted, project_id, share_type_id, resource, hard_limit)
      VALUES (UTC_TIMESTAMP(6), 0, ${projectId}, ${shareTypeId}, ${resource}, ${limit})`;
  } else {
    await tx.run`
      INSERT INTO quotas (created_at, deleted, project_id, resource, hard_limit)
      VALUES (UTC_TIMESTAMP(6), 0, ${projectId}, ${resource}, ${limit})`;
  }
}

/** Forgets the limits of the scope; a project's users lose theirs with it. What is used stays counted. */
export async function removeLimits(tx: Tx, scope: QuotaScope): Promise<void> {
  const gone = sql`deleted = id, deleted_at = UTC_TIMESTAMP(6)`;
  await tx.run`UPDATE ${tableOf(scope)} SET ${gone} WHERE deleted = 0 AND ${whose(scope)}`;
  if (scope.userId === null && scope.shareTypeId === null) {
    await tx.run`UPDATE project_user_quotas SET ${gone} WHERE deleted = 0 AND project_id = ${scope.projectId}`;
  }
}

/** Sets limits of a class. */
export async function setClassLimits(tx: Tx, name: string, limits: Limits): Promise<void> {
  for (const [resource, limit] of Object.entries(limits)) {
    const { affected } = await tx.run`
      UPDATE quota_classes SET hard_limit = ${limit}, updated_at = UTC_TIMESTAMP(6)
      WHERE class_name = ${name} AND resource = ${resource} AND deleted = 0`;
    if (affected > 0) continue;
    await tx.run`
      INSERT INTO quota_classes (created_at, deleted, class_name, resource, hard_limit)
      VALUES (UTC_TIMESTAMP(6), 0, ${name}, ${resource}, ${limit})`;
  }
}

function tableOf({ userId, shareTypeId }: QuotaScope): Sql {
  if (userId !== null) return sql`project_user_quotas`;
  return shareTypeId !== null ? sql`project_share_type_quotas` : sql`quotas`;
}

function whose({ projectId, userId, shareTypeId }: QuotaScope): Sql {
  if (userId !== null) return sql`project_id = ${projectId} AND user_id = ${userId}`;
  if (shareTypeId !== null) return sql`project_id = ${projectId} AND share_type_id = ${shareTypeId}`;
  return sql`project_id = ${projectId}`;
}
