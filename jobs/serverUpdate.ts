/** Share servers follow their network: it got another subnet, or other security services. */

import type { Tx } from '#db/connection.ts';
import { type DrivenServer, findDrivenServer } from '#db/drivenServers.ts';
import { heldRules } from '#db/heldRules.ts';
import { backendShare, instancesOnServer, replaceExportLocations } from '#db/shareInstances.ts';
import { serversOfShareNetwork } from '#db/shareNetworkSubnets.ts';
import { lockShareNetwork } from '#db/shareNetworks.ts';
import { saveDetails } from '#db/shareServers.ts';
import { abandon, complete, setStatus } from '#db/transition.ts';
import { serverLife } from '#domain/shareServers.ts';
import { DriverError, type ExportLocation } from '#drivers/driver.ts';
import { isServed } from './ensure.ts';
import { job, minutes, type Run } from './job.ts';
import { allocatePorts, serversOf } from './serverPorts.ts';
import { detailOf, serverIn } from './shareServers.ts';
import { tell } from './tell.ts';

/** What has changed, for the message to whoever changed it. */
export interface NetworkChange {
  networkId: string;
  resourceType: 'SHARE_NETWORK_SUBNET' | 'SECURITY_SERVICE';
  resourceId: string;
}

interface Updated {
  details: Record<string, string>;
  /** where the server's shares are now, by share instance id */
  locations: Map<string, ExportLocation[]>;
}

export const updateServer = job<DrivenServer, Updated>({
  kind: serverLife.update.kind,
  deadlineMs: minutes(30),
  load: (run) => serverIn(run, serverLife.update),
  async perform(on, run) {
    const { update } = serversOf(run, on.host);
    if (!update)
      throw new DriverError('unsupported', `servers of ${on.host} take no change of their network`);
    await allocatePorts(on, run);
    const now = await findDrivenServer(run.tools.db, on.id);
    if (!now) throw new DriverError('notFound', 'the share server is gone');
    const details = await update(now.server, run.signal);
    return { details, locations: await locationsNow(on, details, run) };
  },
  async succeed(tx, { id }, { details, locations }, run) {
    const { networkId } = changeOf(run);
    const status = await lockShareNetwork(tx, networkId);
    await saveDetails(tx, id, details);
    for (const [instanceId, paths] of locations) await replaceExportLocations(tx, instanceId, paths);
    await complete(tx, serverLife.update, 'share_servers', id);
    if (status !== serverLife.update.via) return;
    const left = await serversOfShareNetwork(tx, networkId);
    if (left.every((server) => server.status !== serverLife.update.via))
      await setStatus(tx, 'share_networks', networkId, 'active');
  },
  async fail(tx, { id }, error, run) {
    const { networkId } = changeOf(run);
    await lockShareNetwork(tx, networkId);
    await abandon(tx, serverLife.update, 'share_servers', id);
    await setStatus(tx, 'share_networks', networkId, 'error');
    await tellOfChange(tx, error, run);
  },
});

/** The exports of the server's shares, as its back end serves them after the change that gave it these details. */
async function locationsNow(
  { id, host }: DrivenServer,
  details: Readonly<Record<string, string>>,
  run: Run,
): Promise<Map<string, ExportLocation[]>> {
  const { db } = run.tools;
  const locations = new Map<string, ExportLocation[]>();
  for (const instance of await instancesOnServer(db, id)) {
    if (!isServed(instance.status)) continue;
    const share = backendShare(instance);
    if (share.server) share.server = { ...share.server, details: { ...share.server.details, ...details } };
    const rules = await heldRules(db, instance.id);
    const now = await run.tools.driver(host)!.shares.ensure(share, rules, run.signal);
    if (now) locations.set(instance.id, now);
  }
  return locations;
}

const changeOf = ({ row }: Run) => row.payload as unknown as NetworkChange;

function tellOfChange(tx: Tx, error: unknown, run: Run): Promise<void> {
  const { resourceType, resourceId } = changeOf(run);
  const about = { projectId: run.requester.projectId, resourceType, resourceId };
  return resourceType === 'SECURITY_SERVICE'
    ? tell(tx, run, about, 'addUpdateSecurityService', 'unsupportedAddUpdateSecurityService')
    : tell(tx, run, about, 'update', detailOf(error, 'unknownError'));
}

export const serverUpdateJobs = [updateServer];
