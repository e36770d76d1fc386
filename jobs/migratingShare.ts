/** What all jobs of a share's migration have in common: its two instances, how it fails, how it ends. */
import type { Tx } from '#db/connection.ts';
import { count, makeUsage, type QuotaOwner, release } from '#db/quotas.ts';
import { findInstance, type InstanceRow, removeInstance } from '#db/shareInstances.ts';
import {
  destinationOf,
  enterPhase,
  isBeingCancelled,
  setCapabilities,
  snapshotsCounted,
} from '#db/shareMigration.ts';
import { setTaskState } from '#db/shares.ts';
import { instanceSubject } from '#db/subjects.ts';
import { complete, transition } from '#db/transition.ts';
import type { Deltas, QuotaResource } from '#domain/quotas.ts';
import { shareQueue } from '#domain/services.ts';
import type { GivenUp, MigrationWishes } from '#domain/shareMigration.ts';
import { shareLife, sharesQuota } from '#domain/shares.ts';
import { capabilitiesOf } from '#domain/shareTypes.ts';
import { snapshotsQuota } from '#domain/snapshots.ts';
import { DriverError } from '#drivers/driver.ts';
import type { Run } from './job.ts';
import { leave } from './shareOnServer.ts';
import { tellOfShare } from './shares.ts';

export interface MigrationPayload {
  shareId: string;
  /** the source */
  instanceId: string;
  destinationId: string;
  /** host@backend#pool */
  host: string;
  shareTypeId: string | null;
  shareNetworkId: string | null;
  wishes: MigrationWishes;
}

export const payloadOf = (run: Run) => run.row.payload as unknown as MigrationPayload;

export interface Moving {
  source: InstanceRow;
  destination: InstanceRow;
}

/** The source, while the share is being migrated. */
export async function sourceOf({ tools, row }: Run): Promise<InstanceRow | undefined> {
  const source = await findInstance(tools.db, row.payload.instanceId as string);
  return source?.status === shareLife.migrate.via ? source : undefined;
}

/** Both, as long as the migration goes on: whoever wants it given up waits for this job to end. */
export async function movingOf(run: Run): Promise<Moving | undefined> {
  const moving = await bothOf(run);
  return moving && !(await isBeingCancelled(run.tools.db, moving.source.shareId)) ? moving : undefined;
}

/** Both, whether it goes on or not. */
export async function bothOf(run: Run): Promise<Moving | undefined> {
  const source = await sourceOf(run);
  const known = source && (await destinationOf(run.tools.db, source.shareId));
  const destination = known && (await findInstance(run.tools.db, known.id));
  return source && destination && { source, destination };
}

/** Goes into a phase while a job is at work; a run that comes too late for that fails, and changes nothing. */
export async function enter(
  { tools }: Run,
  { shareId }: InstanceRow,
  from: readonly string[],
  phase: string,
): Promise<void> {
  if (!(await enterPhase(tools.db, shareId, from, phase)))
    throw new DriverError('failed', `the migration is not in ${from.join(' or ')} any more`);
}

/** The share is where it was, and available again. */
export async function endGivenUp(tx: Tx, source: InstanceRow, how: GivenUp): Promise<void> {
  await setTaskState(tx, source.shareId, how);
  await complete(tx, shareLife.migrate, 'share_instances', source.id);
}

/** The destination's row goes: what was there of it is gone. */
export async function removeDestination(tx: Tx, destination: InstanceRow, run: Run): Promise<void> {
  await removeInstance(tx, destination.id, destination.shareId);
  await leave(tx, destination, run);
}

/** The share is at the destination and ends well; the source is one too many, for its back end to remove. */
export async function endMoved(tx: Tx, { source }: Moving, { requester }: Run): Promise<void> {
  const { id, shareId, host } = source;
  const payload = { ...requester, shareId, instanceId: id };
  const deletion = { queue: shareQueue(host!), resource: shareId, payload };
  await transition(tx, shareLife.delete, instanceSubject(id), deletion, true);
  await setTaskState(tx, shareId, 'migration_success');
}

/** As `endGivenUp`, where the destination holds nothing: its row goes, and the owner is told. */
export async function endFailed(tx: Tx, { source, destination }: Moving, run: Run): Promise<void> {
  await removeDestination(tx, destination, run);
  await endGivenUp(tx, source, 'migration_error');
  await tellOfShare(tx, source, run, 'update', 'unknownError');
}

/** Before `countAsType`: the rows that it counts in are there. */
export async function prepareType(run: Run, { source, destination }: Moving): Promise<void> {
  if (source.shareTypeId === destination.shareTypeId) return;
  for (const { owner, deltas } of await countedOf(run.tools.db, source)) {
    const counted = { ...owner, shareTypeId: destination.shareTypeId };
    await makeUsage(run.tools.db, counted, Object.keys(deltas) as QuotaResource[]);
  }
}

/** A share of another type counts against that, with its snapshots, and can what the type says. */
export async function countAsType(tx: Tx, { source, destination }: Moving): Promise<void> {
  const { shareTypeId } = destination;
  if (source.shareTypeId === shareTypeId) return;
  const capabilities = capabilitiesOf(destination.extraSpecs);
  await setCapabilities(tx, source.shareId, capabilities);
  for (const { owner, deltas } of await countedOf(tx, source)) {
    await release(tx, owner, deltas);
    await count(tx, { ...owner, shareTypeId }, deltas);
  }
}

async function countedOf(
  db: Parameters<typeof snapshotsCounted>[0],
  { shareId, projectId, userId, shareTypeId, size }: InstanceRow,
): Promise<{ owner: QuotaOwner; deltas: Deltas }[]> {
  const snapshots = await snapshotsCounted(db, shareId);
  return [
    { owner: { projectId, userId, shareTypeId }, deltas: sharesQuota(size, null) },
    ...snapshots.map((snapshot) => ({
      owner: { projectId: snapshot.projectId, userId: snapshot.userId, shareTypeId },
      deltas: snapshotsQuota(snapshot.size),
    })),
  ];
}
