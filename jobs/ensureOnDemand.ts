/**
 * Ensuring the shares of a back end because an administrator asks for it. Each share has a job of its own, which
 * waits its turn behind what else is to be done with that share; the last of them says that the back end is done.
 */
import type { Tx } from '#db/connection.ts';
import { heldRules } from '#db/heldRules.ts';
import { enqueue } from '#db/outbox.ts';
import { endEnsuring } from '#db/services.ts';
import {
  backendShare,
  findInstance,
  type InstanceRow,
  instancesOn,
  replaceExportLocations,
} from '#db/shareInstances.ts';
import { instanceSubject } from '#db/subjects.ts';
import { abandon, change, complete } from '#db/transition.ts';
import { Fault } from '#domain/faults.ts';
import { shareQueue } from '#domain/services.ts';
import { serviceJobs, shareLife } from '#domain/shares.ts';
import { DriverError, type ExportLocation } from '#drivers/driver.ts';
import { isServed } from './ensure.ts';
import { job, minutes, type Run, writeMidway } from './job.ts';
import { ensureServers } from './shareServers.ts';
import { driverOf, tellOfShare } from './shares.ts';

interface Backend {
  serviceId: number;
  host: string;
}

/** `payload.host` is the back end, `payload.serviceId` its service. */
const ensureBackendShares = job<Backend, InstanceRow[]>({
  kind: serviceJobs.ensure,
  deadlineMs: minutes(5),
  load: async ({ row }) => row.payload as unknown as Backend,
  async perform({ host }, { tools }) {
    const driver = tools.driver(host);
    if (!driver) throw new DriverError('failed', `the back end ${host} is not served here`);
    await ensureServers(host, driver, tools);
    return (await instancesOn(tools.db, host)).filter(({ status }) => isServed(status));
  },
  async succeed(tx, backend, instances, run) {
    for (const { id, shareId } of instances) {
      await enqueue(tx, {
        queue: shareQueue(backend.host),
        kind: shareLife.ensure.kind,
        resource: shareId,
        payload: { ...run.requester, ...backend, instanceId: id },
      });
    }
    if (instances.length === 0) await done(tx, run);
  },
  fail: async (tx, _backend, _error, run) => done(tx, run),
});

/** What is left of an instance when its turn comes; null: nothing to ensure any more. */
type Subject = { instance: InstanceRow | null };

const ensureShare = job<Subject, ExportLocation[] | null>({
  kind: shareLife.ensure.kind,
  deadlineMs: minutes(5),
  async load({ tools, row }) {
    const instance = await findInstance(tools.db, row.payload.instanceId as string);
    return { instance: instance && isServed(instance.status) ? instance : null };
  },
  async perform({ instance }, run) {
    if (!instance) return null;
    if (run.tools.settings.update_shares_status_on_ensure) await mark(instance, run);
    const rules = await heldRules(run.tools.db, instance.id);
    return driverOf(run, instance).shares.ensure(backendShare(instance), rules, run.signal);
  },
  async succeed(tx, { instance }, locations, run) {
    if (instance) {
      if (locations) await replaceExportLocations(tx, instance.id, locations);
      await complete(tx, shareLife.ensure, 'share_instances', instance.id);
    }
    await done(tx, run);
  },
  async fail(tx, { instance }, _error, run) {
    if (instance) {
      await abandon(tx, shareLife.ensure, 'share_instances', instance.id);
      await tellOfShare(tx, instance, run, 'update', 'unknownError');
    }
    await done(tx, run);
  },
});

/** Only a share that nothing else is at work on shows that it is ensured. */
async function mark(instance: InstanceRow, run: Run): Promise<void> {
  try {
    await writeMidway(run, (tx) => change(tx, shareLife.ensure, instanceSubject(instance.id)));
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
}

/** The service is done when no job but this one is left of those that it was asked for. */
async function done(tx: Tx, { row }: Run): Promise<void> {
  const { serviceId } = row.payload as unknown as Backend;
  await endEnsuring(tx, serviceId, { queue: row.queue, kind: shareLife.ensure.kind, but: row.id });
}

export const ensureJobs = [ensureBackendShares, ensureShare];
