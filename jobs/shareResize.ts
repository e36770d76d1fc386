/** Growing and shrinking: an extension is checked against its pool, then the back end does it. */
import { commitReservation, release, rollbackReservation } from '#db/quotas.ts';
import { backendShare, findInstance, type InstanceRow } from '#db/shareInstances.ts';
import { replicaSizes } from '#db/shareReplicas.ts';
import { setShareSize } from '#db/shares.ts';
import { abandon, complete } from '#db/transition.ts';
import type { NamedStep } from '#domain/lifecycle.ts';
import { shareQueue } from '#domain/services.ts';
import { shareJobs, shareLife } from '#domain/shares.ts';
import { DriverError } from '#drivers/driver.ts';
import { job, minutes, type Run } from './job.ts';
import { PATIENT_ATTEMPTS, placerOf, requestFor } from './placement.ts';
import type { Outcome } from './scheduler/schedule.ts';
import { driverOf, tellOfShare } from './shares.ts';

interface ResizePayload {
  instanceId: string;
  oldSize: number;
  newSize: number;
  reservation?: string;
}

const payloadOf = (run: Run) => run.row.payload as unknown as ResizePayload;

/** The instance, while it is still in the step's state; a reservation whose share is gone is given back. */
async function load(run: Run, step: NamedStep): Promise<InstanceRow | undefined> {
  const { instanceId, reservation } = payloadOf(run);
  const instance = await findInstance(run.tools.db, instanceId);
  if (instance?.status === step.via) return instance;
  if (reservation) await run.tools.db.transaction((tx) => rollbackReservation(tx, reservation));
  return undefined;
}

/** Does the pool still have room for what the share grows by? */
export const checkExtension = job<InstanceRow, Outcome>({
  kind: shareLife.extend.kind,
  deadlineMs: minutes(1),
  load: (run) => load(run, shareLife.extend),
  async perform(instance, run) {
    const { oldSize, newSize } = payloadOf(run);
    const request = await requestFor(run.tools.db, instance, newSize - oldSize);
    if (request.shareType === null)
      return { refused: false, host: instance.host!, weight: 0, explanation: [], warnings: [] };
    const outcome = await placerOf(run.tools).place(
      {
        ...request,
        kind: 'extend',
        currentHost: instance.host,
        share: { ...request.share, size: newSize },
      },
      run.row.attempts < PATIENT_ATTEMPTS,
    );
    await run.tools.explain?.(instance.shareId, outcome);
    return outcome;
  },
  async succeed(tx, instance, outcome, run) {
    if (!outcome.refused) return { queue: shareQueue(instance.host!), kind: shareJobs.grow };
    await rollbackReservation(tx, payloadOf(run).reservation!);
    // Nothing was touched: the share goes on as it was.
    await complete(tx, shareLife.extend, 'share_instances', instance.id);
    await tellOfShare(tx, instance, run, 'extend', outcome.detail);
    return undefined;
  },
  fail: (tx, instance, _error, run) => failExtension(tx, instance, run),
});

export const growShare = job<InstanceRow, void>({
  kind: shareJobs.grow,
  deadlineMs: minutes(30),
  load: (run) => load(run, shareLife.extend),
  perform: (instance, run) =>
    driverOf(run, instance).shares.extend(backendShare(instance), payloadOf(run).newSize, run.signal),
  async succeed(tx, instance, _result, run) {
    const { newSize, reservation } = payloadOf(run);
    await setShareSize(tx, instance.shareId, newSize);
    await commitReservation(tx, reservation!);
    await complete(tx, shareLife.extend, 'share_instances', instance.id);
  },
  fail: (tx, instance, _error, run) => failExtension(tx, instance, run),
});

async function failExtension(
  tx: Parameters<typeof abandon>[0],
  instance: InstanceRow,
  run: Run,
): Promise<void> {
  await rollbackReservation(tx, payloadOf(run).reservation!);
  await abandon(tx, shareLife.extend, 'share_instances', instance.id);
  await tellOfShare(tx, instance, run, 'extend', 'driverFailedExtend');
}

export const shrinkShare = job<InstanceRow, void>({
  kind: shareLife.shrink.kind,
  deadlineMs: minutes(30),
  load: (run) => load(run, shareLife.shrink),
  async perform(instance, run) {
    const { shares } = driverOf(run, instance);
    if (!shares.shrink) throw new DriverError('unsupported', 'the back end shrinks no shares');
    await shares.shrink(backendShare(instance), payloadOf(run).newSize, run.signal);
  },
  async succeed(tx, instance, _result, run) {
    const { oldSize, newSize } = payloadOf(run);
    await setShareSize(tx, instance.shareId, newSize);
    const less = oldSize - newSize;
    const replicated = await replicaSizes(
      tx,
      { id: instance.shareId, replicationType: instance.replicationType },
      less,
    );
    await release(
      tx,
      { projectId: instance.projectId, userId: instance.userId, shareTypeId: instance.shareTypeId },
      {
        gigabytes: less,
        ...replicated,
      },
    );
    await complete(tx, shareLife.shrink, 'share_instances', instance.id);
  },
  async fail(tx, instance, error, run) {
    const refused = error instanceof DriverError && error.code === 'possibleDataLoss';
    await abandon(
      tx,
      shareLife.shrink,
      'share_instances',
      instance.id,
      refused ? 'shrinking_possible_data_loss_error' : shareLife.shrink.onError,
    );
    await tellOfShare(tx, instance, run, 'shrink', refused ? 'driverRefusedShrink' : 'driverFailedShrink');
  },
});

export const shareResizeJobs = [checkExtension, growShare, shrinkShare];
