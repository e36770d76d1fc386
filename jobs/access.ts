/**
 * Access rules: all rules of an instance are synchronised together, so that one that the back end refuses is in error
 * and the others hold. A rule that is queued while this runs has a job of its own, behind this one.
 */
import { failRules, hasUnsettledRules, settleRules, takeUpQueued } from '#db/accessStates.ts';
import type { Db } from '#db/connection.ts';
import { heldRules } from '#db/heldRules.ts';
import { backendShare, findInstance, type InstanceRow } from '#db/shareInstances.ts';
import type { AccessRule, AccessRuleResult } from '#domain/backend.ts';
import { shareJobs } from '#domain/shares.ts';
import { type Driver, DriverError } from '#drivers/driver.ts';
import { job, minutes } from './job.ts';
import { driverOf, tellOfShare } from './shares.ts';

type Results = ReadonlyMap<string, AccessRuleResult>;

/** `payload.instanceId`: the instance whose rules changed. */
export const accessJob = job<InstanceRow, Results>({
  kind: shareJobs.access,
  deadlineMs: minutes(5),
  async load({ tools, row }) {
    const instance = await findInstance(tools.db, row.payload.instanceId as string);
    if (!instance?.host) return undefined;
    // An earlier job may have done this one's work.
    return (await hasUnsettledRules(tools.db, instance.id)) ? instance : undefined;
  },
  perform: (instance, run) => syncAccess(run.tools.db, instance, driverOf(run, instance), run.signal),
  async succeed(tx, instance, results, run) {
    const failed = await settleRules(tx, instance.id, results);
    if (failed > 0) await tellOfShare(tx, instance, run, 'updateAccessRules', 'unsupportedClientAccess');
  },
  async fail(tx, instance, error, run) {
    await failRules(tx, instance.id);
    const unsupported = error instanceof DriverError && error.code === 'unsupported';
    await tellOfShare(
      tx,
      instance,
      run,
      'updateAccessRules',
      unsupported ? 'unsupportedClientAccess' : 'unknownError',
    );
  },
});

/**
 * Takes up what is queued and makes the back end hold exactly the instance's rules. The states are settled by
 * `settleRules` with what this answers: a verdict for each rule.
 */
export async function syncAccess(
  db: Db,
  instance: InstanceRow,
  driver: Driver,
  signal: AbortSignal,
): Promise<Results> {
  const rules = await db.transaction(async (tx) => {
    await takeUpQueued(tx, instance.id);
    return heldRules(tx, instance.id);
  });
  return verdicts(rules, await driver.access.sync(backendShare(instance), rules, signal));
}

/** A rule that the driver says nothing about isn't known to hold. */
function verdicts(rules: readonly AccessRule[], answers: Results): Results {
  const silence: AccessRuleResult = { state: 'error', reason: 'the back end said nothing about this rule' };
  return new Map(rules.map(({ id }) => [id, answers.get(id) ?? silence]));
}

export const accessJobs = [accessJob];
