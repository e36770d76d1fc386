/**
 * The outbox: a job is a row here, written in the transaction that makes it needed and removed in the one that
 * ends it. Redis only carries ids; what it loses is sent again from here.
 */
import type { Queries, Tx } from './connection.ts';
import { int, list, sql } from './sql.ts';

export interface OutboxJob {
  /** `scheduler`, `share.<host>@<backend>` or `data` */
  queue: string;
  /** `share.extend`: which job runs */
  kind: string;
  /** jobs of one resource run one at a time, oldest first; the share's id for all that hangs on a share */
  resource: string;
  payload: Record<string, unknown>;
}

export interface OutboxRow extends OutboxJob {
  id: number;
  attempts: number;
}

/** Tells the relay of this process, or of all through Redis, that something was written. Set at start. */
let announce: () => void = () => {};
export function onOutboxWrite(listener: () => void): void {
  announce = listener;
}

/** Writes the job's row; once the transaction is committed the relay hears of it. */
export async function enqueue(tx: Tx, job: OutboxJob): Promise<number> {
  const { insertId } = await tx.run`
    INSERT INTO shoal_outbox (queue, kind, resource, payload, created_at)
    VALUES (${job.queue}, ${job.kind}, ${job.resource}, ${JSON.stringify(job.payload)}, UTC_TIMESTAMP(6))`;
  tx.afterCommit(() => announce());
  return insertId;
}

export interface Sendable {
  id: number;
  queue: string;
}

/** The oldest row of each resource, if it was not sent yet. */
export function unsent(db: Queries, most: number): Promise<Sendable[]> {
  return db.rows`
    SELECT o.id, o.queue FROM shoal_outbox o
    WHERE o.sent_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM shoal_outbox older WHERE older.resource = o.resource AND older.id < o.id)
    ORDER BY o.id LIMIT ${int(most)}`;
}

/**
 * Notes them as sent, before they are: what never arrives is missed by the sweep. Two relays may send a row twice,
 * which Redis takes once.
 */
export async function markSent(db: Queries, rows: readonly Sendable[]): Promise<void> {
  await db.run`
    UPDATE shoal_outbox SET sent_at = UTC_TIMESTAMP(6) WHERE id IN (${list(rows.map(({ id }) => id))}) AND sent_at IS NULL`;
}

/** Rows sent more than `seconds` ago and not ended: running, or lost by Redis. */
export function sentBefore(db: Queries, seconds: number): Promise<Sendable[]> {
  return db.rows`
    SELECT id, queue FROM shoal_outbox
    WHERE sent_at < UTC_TIMESTAMP(6) - INTERVAL ${int(seconds)} SECOND ORDER BY id LIMIT 500`;
}

/** The row, if its job hasn't ended yet. */
export async function loadJob(db: Queries, id: number): Promise<OutboxRow | undefined> {
  const row = await db.row<Omit<OutboxRow, 'payload'> & { payload: string }>`
    SELECT id, queue, kind, resource, payload, attempts FROM shoal_outbox WHERE id = ${id}`;
  return row && { ...row, payload: JSON.parse(row.payload) as Record<string, unknown> };
}

/** Counts a further attempt, so that a job that never gets through comes to an end; -1 takes one back. */
export async function countAttempt(db: Queries, id: number, by: 1 | -1 = 1): Promise<void> {
  await db.run`UPDATE shoal_outbox SET attempts = attempts + ${by} WHERE id = ${id}`;
}

/** Locks the job's row; false when it isn't any more where this run of it found it. */
export async function lockJob(tx: Tx, row: OutboxRow): Promise<boolean> {
  const found = await tx.row<{ kind: string; queue: string }>`
    SELECT kind, queue FROM shoal_outbox WHERE id = ${row.id} FOR UPDATE`;
  return found?.kind === row.kind && found.queue === row.queue;
}

/** Ends a job: its row goes, and the next of its resource may be sent. */
export async function finishJob(tx: Tx, id: number): Promise<void> {
  await tx.run`DELETE FROM shoal_outbox WHERE id = ${id}`;
  tx.afterCommit(() => announce());
}

/**
 * Hands a job on to another queue, in its own place of the order: what was queued after it still waits. `send` carries
 * it there at once; without it the relay does.
 */
export async function forwardJob(
  tx: Tx,
  id: number,
  to: { queue: string; kind: string; payload?: Record<string, unknown> },
  send?: (row: Sendable) => void,
): Promise<void> {
  const payload = to.payload === undefined ? sql`payload` : sql`${JSON.stringify(to.payload)}`;
  const sentAt = send ? sql`UTC_TIMESTAMP(6)` : sql`NULL`;
  await tx.run`
    UPDATE shoal_outbox SET queue = ${to.queue}, kind = ${to.kind}, payload = ${payload}, sent_at = ${sentAt}, attempts = 0 WHERE id = ${id}`;
  tx.afterCommit(() => (send ? send({ id, queue: to.queue }) : announce()));
}

/** How much is waiting, and for how long the oldest has. */
export async function outboxDepth(db: Queries): Promise<{ depth: number; oldestSeconds: number }> {
  const row = await db.row<{ depth: number; oldest: number | null }>`
    SELECT COUNT(*) AS depth, TIMESTAMPDIFF(SECOND, MIN(created_at), UTC_TIMESTAMP(6)) AS oldest FROM shoal_outbox`;
  return { depth: row!.depth, oldestSeconds: row!.oldest ?? 0 };
}
