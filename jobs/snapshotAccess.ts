/** Access rules of snapshots: all of an instance are synchronised together, so that one bad rule is alone in error. */
import { endSync, failSync, type SnapshotInstanceRule, startSync } from '#db/snapshotAccess.ts';
import { backendSnapshot, type DrivenSnapshot, findDrivenSnapshot } from '#db/snapshots.ts';
import { snapshotAccessJob } from '#domain/snapshots.ts';
import { type AccessRuleResult, DriverError } from '#drivers/driver.ts';
import { job, minutes } from './job.ts';
import { snapshotsOf } from './snapshots.ts';

interface Synced {
  rules: SnapshotInstanceRule[];
  results: ReadonlyMap<string, AccessRuleResult>;
}

/** States of rules that the back end should hold: what is refused once is not asked for again. */
const held = ['applying', 'active'];

export const syncSnapshotAccess = job<DrivenSnapshot, Synced>({
  kind: snapshotAccessJob,
  deadlineMs: minutes(30),
  load: ({ tools, row }) => findDrivenSnapshot(tools.db, row.payload.instanceId as string),
  async perform(snapshot, run) {
    const rules = await startSync(run.tools.db, snapshot.id);
    const driver = snapshotsOf(run, snapshot);
    if (!driver.syncAccess) throw new DriverError('unsupported', 'the back end opens no snapshots');
    const wanted = rules.filter(({ state }) => held.includes(state));
    return { rules, results: await driver.syncAccess(backendSnapshot(snapshot), wanted, run.signal) };
  },
  succeed: (tx, snapshot, { rules, results }) => endSync(tx, snapshot.id, rules, results),
  fail: (tx, snapshot) => failSync(tx, snapshot.id),
});

export const snapshotAccessJobs = [syncSnapshotAccess];
