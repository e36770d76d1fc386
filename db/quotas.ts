/**
 * Quota usage: counted per project and user, and per project and share type, in the reference's own rows. What is
 * taken at once goes straight into `in_use`; what must wait for a job is held as a reservation until the job ends.
 */
import { randomUUID } from 'node:crypto';
import { fault } from '#domain/faults.ts';
import {
  type Deltas,
  exceeded,
  type QuotaDefaults,
  type QuotaResource,
  shareTypeResources,
  type Usage,
} from '#domain/quotas.ts';
import type { Db, Queries, Tx } from './connection.ts';
import { int, join, list, type Sql, sql } from './sql.ts';

/** Whose quota is taken. */
export interface QuotaOwner {
  projectId: string;
  userId: string;
  shareTypeId: string | null;
}

type Limits = Record<string, number>;

interface UsageRow extends Usage {
  id: number;
  user_id: string | null;
  share_type_id: string | null;
  resource: QuotaResource;
}

/** A row that usage needs was not there: it is made outside and the transaction run again. */
export class MissingUsage extends Error {
  readonly owner: QuotaOwner;
  readonly resources: QuotaResource[];
  constructor(owner: QuotaOwner, resources: QuotaResource[]) {
    super('quota usage rows are missing');
    this.owner = owner;
    this.resources = resources;
  }
}

/**
 * A transaction that takes or gives back quota. The first use of a resource by a user needs its usage row, which
 * is made apart, one maker at a time: two transactions that both inserted it would count apart for ever. Who says
 * beforehand what is `used` spares the transaction that finds out.
 */
export async function withQuota<T>(
  db: Db,
  work: (tx: Tx) => Promise<T>,
  used?: { owner: QuotaOwner; resources: QuotaResource[] },
): Promise<T> {
  if (used) await makeUsage(db, used.owner, used.resources);
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction(work);
    } catch (error) {
      if (!(error instanceof MissingUsage) || attempt === 5) throw error;
      made.delete(usageKey(error.owner, error.resources));
      await makeUsage(db, error.owner, error.resources);
    }
  }
}

/** Usage rows that this process has seen to: rows stay, so there is no need to look again. */
const made = new Set<string>();
const MADE_SIZE = 10_000;

function usageKey({ projectId, userId, shareTypeId }: QuotaOwner, resources: readonly string[]): string {
  return [projectId, userId, shareTypeId, ...resources].join(' ');
}

/** Takes (or gives back) at once. Throws overQuota, and then nothing is taken. */
export async function take(
  tx: Tx,
  owner: QuotaOwner,
  deltas: Deltas,
  defaults: QuotaDefaults,
): Promise<void> {
  const rows = await lockAndCheck(tx, owner, deltas, defaults);
  await add(tx, 'in_use', rows, deltas);
}

/** Takes without looking at limits: what exists already counts, whether it fits or not. */
export async function count(tx: Tx, owner: QuotaOwner, deltas: Deltas): Promise<void> {
  const rows = await lockUsages(tx, owner, Object.keys(deltas) as QuotaResource[]);
  await add(tx, 'in_use', ownRows(rows, owner), deltas);
}

/** Gives back without looking at limits. */
export function release(tx: Tx, owner: QuotaOwner, deltas: Deltas): Promise<void> {
  return count(tx, owner, negative(deltas));
}

/** Holds quota (positive amounts: what is given back waits for nothing) for a job; answers the reservation's id, which the job commits or rolls back. */
export async function reserve(
  tx: Tx,
  owner: QuotaOwner,
  deltas: Deltas,
  defaults: QuotaDefaults,
  expireSeconds: number,
): Promise<string> {
  if (Object.values(deltas).some((delta) => delta < 0))
    throw new Error('a reservation holds positive amounts only');
  const rows = await lockAndCheck(tx, owner, deltas, defaults);
  await add(tx, 'reserved', rows, deltas);
  const uuid = randomUUID();
  const values = rows.map(
    (
      row,
    ) => sql`(UTC_TIMESTAMP(6), 0, ${owner.userId}, ${uuid}, ${row.id}, ${owner.projectId}, ${row.resource}, ${deltas[row.resource] ?? 0},
      UTC_TIMESTAMP() + INTERVAL ${int(expireSeconds)} SECOND, ${row.share_type_id})`,
  );
  await tx.run`
    INSERT INTO reservations (created_at, deleted, user_id, uuid, usage_id, project_id, resource, delta, expire, share_type_id)
    VALUES ${join(values, ', ')}`;
  return uuid;
}

/** What was held becomes used. A reservation that ended already changes nothing. */
export function commitReservation(tx: Tx, uuid: string): Promise<void> {
  return endReservation(tx, uuid, true);
}

/** What was held is free again. A reservation that ended already changes nothing. */
export function rollbackReservation(tx: Tx, uuid: string): Promise<void> {
  return endReservation(tx, uuid, false);
}

async function endReservation(tx: Tx, uuid: string, commit: boolean): Promise<void> {
  const held = await tx.rows<{ id: number; usage_id: number; delta: number }>`
    SELECT id, usage_id, delta FROM reservations WHERE uuid = ${uuid} AND deleted = 0 FOR UPDATE`;
  if (held.length === 0) return;
  for (const { usage_id, delta } of held) {
    await tx.run`
      UPDATE quota_usages SET reserved = GREATEST(reserved - ${delta}, 0), in_use = in_use + ${commit ? delta : 0}, updated_at = UTC_TIMESTAMP(6)
      WHERE id = ${usage_id}`;
  }
  await tx.run`DELETE FROM reservations WHERE id IN (${list(held.map(({ id }) => id))})`;
}

/** Rolls back reservations that outlived their time; answers how many. */
export async function expireReservations(db: Db): Promise<number> {
  const late = await db.rows<{ uuid: string }>`
    SELECT DISTINCT uuid FROM reservations WHERE deleted = 0 AND expire < UTC_TIMESTAMP() LIMIT 100`;
  for (const { uuid } of late) await db.transaction((tx) => rollbackReservation(tx, uuid));
  return late.length;
}

async function lockAndCheck(
  tx: Tx,
  owner: QuotaOwner,
  deltas: Deltas,
  defaults: QuotaDefaults,
): Promise<UsageRow[]> {
  // A limit on one share's size is compared, not counted.
  const resources = (Object.keys(deltas) as QuotaResource[]).filter(
    (resource) => resource !== 'per_share_gigabytes',
  );
  const limits = await effectiveLimits(tx, owner, defaults);
  const rows = await lockUsages(tx, owner, resources);
  const own = ownRows(rows, owner);
  const missing = missingRows(own, owner, resources);
  if (missing.length > 0) throw new MissingUsage(owner, missing);
  const project = sum(rows.filter((row) => row.share_type_id === null));
  const user = sum(rows.filter((row) => row.share_type_id === null && row.user_id === owner.userId));
  const type = sum(rows.filter((row) => row.share_type_id !== null));
  const over =
    exceeded(deltas, limits.project, project) ??
    exceeded(deltas, limits.user, user) ??
    exceeded(deltas, limits.shareType, type);
  if (over) throw fault('overQuota', over);
  return own;
}

/** Every usage row of the project for these resources, locked: the project's sum is over all its users. */
function lockUsages(tx: Tx, owner: QuotaOwner, resources: QuotaResource[]): Promise<UsageRow[]> {
  const type =
    owner.shareTypeId === null
      ? sql`share_type_id IS NULL`
      : sql`(share_type_id IS NULL OR share_type_id = ${owner.shareTypeId})`;
  return tx.rows`
    SELECT id, user_id, share_type_id, resource, in_use, reserved FROM quota_usages
    WHERE project_id = ${owner.projectId} AND deleted = 0 AND resource IN (${list(resources)}) AND ${type}
    ORDER BY id FOR UPDATE`;
}

function ownRows(rows: UsageRow[], owner: QuotaOwner): UsageRow[] {
  return rows.filter((row) => row.share_type_id !== null || row.user_id === owner.userId);
}

function missingRows(own: UsageRow[], owner: QuotaOwner, resources: QuotaResource[]): QuotaResource[] {
  return resources.filter((resource) => {
    const hasUser = own.some((row) => row.resource === resource && row.share_type_id === null);
    const needsType =
      owner.shareTypeId !== null && (shareTypeResources as readonly string[]).includes(resource);
    return (
      !hasUser || (needsType && !own.some((row) => row.resource === resource && row.share_type_id !== null))
    );
  });
}

function sum(rows: UsageRow[]): Map<string, Usage> {
  const total = new Map<string, Usage>();
  for (const { resource, in_use, reserved } of rows) {
    const before = total.get(resource) ?? { in_use: 0, reserved: 0 };
    total.set(resource, { in_use: before.in_use + in_use, reserved: before.reserved + reserved });
  }
  return total;
}

/** One statement for all rows; usage never goes below nothing. */
async function add(tx: Tx, column: 'in_use' | 'reserved', rows: UsageRow[], deltas: Deltas): Promise<void> {
  if (rows.length === 0) return;
  const target: Sql = column === 'in_use' ? sql`in_use` : sql`reserved`;
  const cases = rows.map((row) => sql`WHEN ${row.id} THEN ${deltas[row.resource] ?? 0}`);
  await tx.run`
    UPDATE quota_usages SET ${target} = GREATEST(${target} + CASE id ${join(cases)} ELSE 0 END, 0), updated_at = UTC_TIMESTAMP(6)
    WHERE id IN (${list(rows.map(({ id }) => id))})`;
}

function negative(deltas: Deltas): Deltas {
  return Object.fromEntries(Object.entries(deltas).map(([resource, delta]) => [resource, -delta]));
}

/** Makes the usage rows that are missing. `withQuota` sees to it; a job whose ending takes quota asks beforehand. */
export async function makeUsage(db: Db, owner: QuotaOwner, resources: QuotaResource[]): Promise<void> {
  const key = usageKey(owner, resources);
  if (made.has(key)) return;
  const lock = `shoal-quota-${owner.projectId}`.slice(0, 64);
  const rows = resources.flatMap((resource) => [
    sql`SELECT ${resource} AS resource, ${owner.userId} AS user_id, NULL AS share_type_id`,
    ...(owner.shareTypeId !== null && (shareTypeResources as readonly string[]).includes(resource)
      ? [sql`SELECT ${resource}, NULL, ${owner.shareTypeId}`]
      : []),
  ]);
  await db.session(async (session) => {
    await session.rows`SELECT GET_LOCK(${lock}, 10)`;
    try {
      await session.run`
        INSERT INTO quota_usages (created_at, deleted, user_id, project_id, share_type_id, resource, in_use, reserved)
        SELECT UTC_TIMESTAMP(6), 0, wanted.user_id, ${owner.projectId}, wanted.share_type_id, wanted.resource, 0, 0
        FROM (${join(rows, ' UNION ALL ')}) wanted
        WHERE NOT EXISTS (
          SELECT 1 FROM quota_usages u WHERE u.project_id = ${owner.projectId} AND u.deleted = 0
            AND u.resource = wanted.resource AND u.user_id <=> wanted.user_id AND u.share_type_id <=> wanted.share_type_id)`;
    } finally {
      await session.rows`SELECT RELEASE_LOCK(${lock})`;
    }
  });
  if (made.size >= MADE_SIZE) made.clear();
  made.add(key);
}

export interface EffectiveLimits {
  project: Limits;
  user: Limits;
  shareType: Limits;
}

/** The limits in force, one statement: project over class over configuration; user's and type's where set. */
export async function effectiveLimits(
  db: Queries,
  owner: QuotaOwner,
  defaults: QuotaDefaults,
): Promise<EffectiveLimits> {
  const rows = await db.rows<{
    kind: 'class' | 'project' | 'user' | 'type';
    resource: string;
    hard_limit: number;
  }>`
    SELECT 'class' AS kind, resource, hard_limit FROM quota_classes WHERE class_name = 'default' AND deleted = 0
    UNION ALL SELECT 'project', resource, hard_limit FROM quotas WHERE project_id = ${owner.projectId} AND deleted = 0
    UNION ALL SELECT 'user', resource, hard_limit FROM project_user_quotas
      WHERE project_id = ${owner.projectId} AND user_id = ${owner.userId} AND deleted = 0
    UNION ALL SELECT 'type', resource, hard_limit FROM project_share_type_quotas
      WHERE project_id = ${owner.projectId} AND share_type_id = ${owner.shareTypeId ?? ''} AND deleted = 0`;
  const of = (kind: string) =>
    Object.fromEntries(rows.filter((row) => row.kind === kind).map((row) => [row.resource, row.hard_limit]));
  const project: Limits = { ...defaults, ...of('class'), ...of('project') };
  return { project, user: { ...project, ...of('user') }, shareType: { ...project, ...of('type') } };
}
