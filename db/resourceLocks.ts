/** Resource locks: lists, one, placing and changing them. Those that come with an access rule are in accessLocks.ts. */
import type { Order, Page } from '#domain/paging.ts';
import type { LockContext, LockedAction, LockedType } from '#domain/resourceLocks.ts';
import type { Queries, Tx } from './connection.ts';
import { limited, ordered } from './paging.ts';
import { and, type Sql, sql } from './sql.ts';

export interface ResourceLockRow {
  id: string;
  user_id: string;
  project_id: string;
  resource_action: LockedAction;
  resource_type: LockedType;
  resource_id: string;
  lock_context: LockContext;
  lock_reason: string | null;
  created_at: string;
  updated_at: string | null;
}

const columns = sql`id, user_id, project_id, resource_action, resource_type, resource_id, lock_context, lock_reason, created_at, updated_at`;

/** One lock, whoever's it is; undefined when there is none. */
export function findResourceLock(db: Queries, id: string): Promise<ResourceLockRow | undefined> {
  return db.row`SELECT ${columns} FROM resource_locks WHERE id = ${id} AND deleted = 'False'`;
}

const sortColumns = {
  created_at: sql`created_at`,
  updated_at: sql`updated_at`,
  id: sql`id`,
  user_id: sql`user_id`,
  project_id: sql`project_id`,
  resource_id: sql`resource_id`,
  resource_type: sql`resource_type`,
  resource_action: sql`resource_action`,
  lock_context: sql`lock_context`,
  lock_reason: sql`lock_reason`,
} as const;

export const resourceLockSortKeys = Object.keys(sortColumns);

/** What a list of locks can be narrowed to, text by text. */
export type LockFilter =
  | 'user_id'
  | 'project_id'
  | 'resource_id'
  | 'resource_type'
  | 'resource_action'
  | 'lock_context'
  | 'lock_reason';

/** What the list is narrowed by; what isn't given narrows nothing. */
export interface ResourceLockQuery {
  equal: Partial<Record<LockFilter, string>>;
  since?: string;
  before?: string;
  order: Order;
  page: Page;
}

/** A page of locks. */
export function listResourceLocks(db: Queries, query: ResourceLockQuery): Promise<ResourceLockRow[]> {
  return db.rows`
    SELECT ${columns} FROM resource_locks WHERE deleted = 'False'${and(conditions(query))}
    ${ordered(sortColumns, query.order)} ${limited(query.page)}`;
}

/** How many locks the list has, pages aside. */
export async function countResourceLocks(db: Queries, query: ResourceLockQuery): Promise<number> {
  const row = await db.row<{ n: number }>`
    SELECT COUNT(*) AS n FROM resource_locks WHERE deleted = 'False'${and(conditions(query))}`;
  return row!.n;
}

function conditions({ equal, since, before }: ResourceLockQuery): Sql[] {
  return [
    ...Object.entries(equal).map(([key, value]) => sql`${sortColumns[key as LockFilter]} = ${value}`),
    ...(since === undefined ? [] : [sql`created_at >= ${since}`]),
    ...(before === undefined ? [] : [sql`created_at <= ${before}`]),
  ];
}

/** Writes a new lock. */
export async function insertResourceLock(tx: Tx, lock: Omit<ResourceLockRow, 'updated_at'>): Promise<void> {
  await tx.run`
    INSERT INTO resource_locks (id, user_id, project_id, resource_action, resource_type, resource_id, lock_context, lock_reason, created_at, deleted)
    VALUES (${lock.id}, ${lock.user_id}, ${lock.project_id}, ${lock.resource_action}, ${lock.resource_type}, ${lock.resource_id},
      ${lock.lock_context}, ${lock.lock_reason}, ${lock.created_at}, 'False')`;
}

/** Changes what is given, leaves what is undefined. */
export async function updateResourceLock(
  tx: Tx,
  id: string,
  set: { action?: LockedAction | undefined; reason?: string | null | undefined },
): Promise<void> {
  const changes = [
    ...(set.action === undefined ? [] : [sql`resource_action = ${set.action}, `]),
    ...(set.reason === undefined ? [] : [sql`lock_reason = ${set.reason}, `]),
  ];
  if (changes.length === 0) return;
  const [first, second = sql``] = changes;
  await tx.run`
    UPDATE resource_locks SET ${first!}${second}updated_at = UTC_TIMESTAMP(6) WHERE id = ${id} AND deleted = 'False'`;
}

/** Is the access rule hidden by a lock already, one but `exceptId`? */
export async function isSightLocked(db: Queries, ruleId: string, exceptId: string): Promise<boolean> {
  const found = await db.row`
    SELECT id FROM resource_locks WHERE resource_id = ${ruleId} AND resource_type = 'access_rule'
      AND resource_action = 'show' AND deleted = 'False' AND id <> ${exceptId} LIMIT 1`;
  return found !== undefined;
}
