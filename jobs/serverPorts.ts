/** The ports of a share server: got from the network plug-ins of its back end before it is set up, given back after. */
import { portsOfServer } from '#db/networkAllocations.ts';
import { describedSubnet, findSubnets, saveDescription } from '#db/shareNetworkSubnets.ts';
import type { BackendShareServer, NetworkPort } from '#domain/backend.ts';
import { NetworkError, type PortOwner, type SubnetDescription } from '#domain/network.ts';
import { DriverError, type ShareServers } from '#drivers/driver.ts';
import type { Networks, Run } from './job.ts';

export interface ServerOnHost {
  /** `host@backend` */
  host: string;
  server: BackendShareServer;
}

/** What a back end can do with share servers; nothing is a failure of the job. */
export function serversOf({ tools }: Run, host: string): ShareServers {
  const driver = tools.driver(host);
  if (!driver) throw new DriverError('failed', `the back end ${host} is not served here`);
  if (!driver.servers) throw new DriverError('unsupported', `the back end ${host} has no share servers`);
  return driver.servers;
}

function networksOf({ tools }: Run, host: string): Networks {
  const networks = tools.network?.(host);
  if (!networks)
    throw new NetworkError('badConfiguration', `no network is configured for the back end ${host}`);
  return networks;
}

const ownerOf = ({ server }: ServerOnHost): PortOwner => ({
  serverId: server.id,
  projectId: server.projectId ?? '',
});

/** No subnet is the administrators' own: its description only names what the plug-in tells of it. */
const administrators = (subnet: SubnetDescription): SubnetDescription => ({
  ...subnet,
  neutronNetId: null,
  neutronSubnetId: null,
  networkType: null,
  segmentationId: null,
  cidr: null,
  gateway: null,
  mtu: null,
  ipVersion: null,
});

/** Sees to it that the server has the ports that its back end needs, and that its subnets are described. */
export async function allocatePorts(on: ServerOnHost, run: Run): Promise<void> {
  const { ports, adminPorts } = serversOf(run, on.host);
  const { tenant, admin } = networksOf(run, on.host);
  const owner = ownerOf(on);
  const subnets = await findSubnets(
    run.tools.db,
    on.server.networks.map(({ subnetId }) => subnetId),
  );
  if (subnets.length === 0) throw new NetworkError('notFound', 'the subnets of the share server are gone');
  for (const row of subnets) {
    const subnet = await tenant.describe(describedSubnet(row), run.signal);
    await run.tools.db.transaction((tx) => saveDescription(tx, subnet));
    await tenant.allocate(owner, subnet, ports, run.signal);
  }
  if (!admin || adminPorts === 0) return;
  const network = await admin.describe(administrators(describedSubnet(subnets[0]!)), run.signal);
  await admin.allocate(owner, network, adminPorts, run.signal);
}

/** Gives all ports of the server back. */
export async function releasePorts(on: ServerOnHost, run: Run): Promise<void> {
  const ports = await portsOfServer(run.tools.db, on.server.id);
  if (ports.length === 0) return;
  const { tenant, admin } = networksOf(run, on.host);
  const owner = ownerOf(on);
  const of = (label: string): NetworkPort[] => ports.filter((port) => port.label === label);
  await tenant.release(owner, of('user'), run.signal);
  if (admin) await admin.release(owner, of('admin'), run.signal);
}
