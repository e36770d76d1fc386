/**
 * How a status changes: one conditional UPDATE, never a read and then a write. A handler begins a step here and
 * the job's outbox row is written beside it; the runner ends it.
 */
import { fault } from '#domain/faults.ts';
import { gone, type NamedStep } from '#domain/lifecycle.ts';
import type { Tx } from './connection.ts';
import { enqueue, type OutboxJob } from './outbox.ts';
import { list, name, nothing, type Sql, sql } from './sql.ts';

/** Tables that keep a status. */
export type StatusTable =
  | 'share_instances'
  | 'share_snapshot_instances'
  | 'share_servers'
  | 'share_groups'
  | 'share_group_snapshots'
  | 'share_backups'
  | 'share_networks';

/** Whose status: the rows of a table, and how a caller knows the thing. */
export interface Subject {
  table: StatusTable;
  /** condition on `table` */
  where: Sql;
  /** for the refusal: `share`, and its id */
  what: string;
  id: string;
}

/**
 * Begins a step: rows in one of its `from` states go to `via`, and the job is queued. `force` takes any state.
 * Throws the step's refusal when no row was in such a state, notFound when there is no row.
 */
export async function transition(
  tx: Tx,
  step: NamedStep,
  subject: Subject,
  job: Omit<OutboxJob, 'kind'>,
  force = false,
): Promise<void> {
  await change(tx, step, subject, force);
  await enqueue(tx, { ...job, kind: step.kind });
}

/** The status change of `transition` alone, for steps whose job is queued by another. */
export async function change(tx: Tx, step: NamedStep, subject: Subject, force = false): Promise<void> {
  const table = name(subject.table);
  const allowed = force || step.from === null ? nothing : sql` AND status IN (${list(step.from)})`;
  const { affected } = await tx.run`
    UPDATE ${table} SET status = ${step.via}, updated_at = UTC_TIMESTAMP(6)
    WHERE ${subject.where} AND deleted = 'False'${allowed}`;
  if (affected > 0) return;
  const current = await tx.row<{
    status: string;
  }>`SELECT status FROM ${table} WHERE ${subject.where} AND deleted = 'False' LIMIT 1`;
  if (!current) throw fault('notFound');
  const allowedText = (step.from ?? []).join(' or ');
  throw fault(step.refused ?? 'invalidState', {
    what: subject.what,
    id: subject.id,
    status: current.status,
    allowed: allowedText,
    reason: `${subject.what} ${subject.id} is ${current.status}; this needs it ${allowedText}`,
  });
}

/** Sets a status by hand, whatever it was; false when there is no such row. */
export async function setStatus(tx: Tx, table: StatusTable, id: string, status: string): Promise<boolean> {
  const { affected } = await tx.run`
    UPDATE ${name(table)} SET status = ${status}, updated_at = UTC_TIMESTAMP(6) WHERE id = ${id} AND deleted = 'False'`;
  return affected > 0;
}

/** Locks a row until the transaction ends; answers its status, undefined when there is no such row. */
export async function lockedStatus(tx: Tx, table: StatusTable, id: string): Promise<string | undefined> {
  const row = await tx.row<{ status: string }>`
    SELECT status FROM ${name(table)} WHERE id = ${id} AND deleted = 'False' FOR UPDATE`;
  return row?.status;
}

/** Ends a step well: rows still in `via` go to `to`. A row that was moved meanwhile (an admin's reset) stays. */
export function complete(tx: Tx, step: NamedStep, table: StatusTable, id: string): Promise<void> {
  if (step.to === gone) throw new Error(`${step.kind} ends with its row removed, not with a status`);
  return leave(tx, step, table, id, step.to);
}

/** Ends a step that failed: rows still in `via` go to `onError`, or to a status that says more. */
export function abandon(
  tx: Tx,
  step: NamedStep,
  table: StatusTable,
  id: string,
  status = step.onError,
): Promise<void> {
  return leave(tx, step, table, id, status);
}

async function leave(tx: Tx, step: NamedStep, table: StatusTable, id: string, status: string): Promise<void> {
  await tx.run`
    UPDATE ${name(table)} SET status = ${status}, updated_at = UTC_TIMESTAMP(6)
    WHERE id = ${id} AND status = ${step.via} AND deleted = 'False'`;
}
