/** Networks of the small world of tests: plug-ins for its back end with share servers, and tenants' share networks. */
import { randomUUID } from 'node:crypto';
import type { Db } from '#db/connection.ts';
import { portStore } from '#db/networkAllocations.ts';
import { insertSubnet } from '#db/shareNetworkSubnets.ts';
import { insertShareNetwork } from '#db/shareNetworks.ts';
import type { PortLabel } from '#domain/network.ts';
import { now } from '#domain/time.ts';
import type { Networks } from '#jobs/job.ts';
import { createNetworkPlugin } from '#network/index.ts';

export interface WorldNetwork {
  id: string;
  subnetId: string;
  projectId: string;
}

/** A network for tenants, as small as asked for, and one for administrators. */
export function testNetworks(db: Db, addresses = 200): Networks {
  const plugin = (network: string, label: PortLabel, most: number) =>
    createNetworkPlugin(
      {
        section: 'servers',
        label,
        options: {
          network_api_class: 'standalone',
          standalone_network_plugin_gateway: `${network}.1`,
          standalone_network_plugin_mask: '24',
          standalone_network_plugin_network_type: null,
          standalone_network_plugin_segmentation_id: null,
          standalone_network_plugin_allowed_ip_ranges: [`${network}.10-${network}.${9 + most}`],
          standalone_network_plugin_mtu: 1500,
        },
      },
      portStore(db),
    );
  return { tenant: plugin('10.254.0', 'user', addresses), admin: plugin('11.0.0', 'admin', 200) };
}

/** A share network with one subnet for every zone. */
export async function addNetwork(db: Db, projectId: string): Promise<WorldNetwork> {
  const [id, subnetId] = [randomUUID(), randomUUID()];
  await db.transaction(async (tx) => {
    await insertShareNetwork(tx, {
      id,
      projectId,
      createdAt: now(),
      userId: 'u',
      name: 'net',
      description: null,
    });
    await insertSubnet(tx, {
      id: subnetId,
      createdAt: now(),
      shareNetworkId: id,
      availabilityZoneId: null,
      neutronNetId: null,
      neutronSubnetId: null,
      metadata: {},
    });
  });
  return { id, subnetId, projectId };
}
