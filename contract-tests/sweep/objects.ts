/**
 * The objects that the sweep reads, made over the interface: what the reference had when its fields were recorded.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { valueAt } from '../replayer/comparison.ts';
import { freshIdentities, type Identities, tokenOf } from '../replayer/identities.ts';
import { type Json, loadScenario, SETUP_SCENARIO } from '../replayer/recordings.ts';
import { replayScenario } from '../replayer/runner.ts';
import type { Wire } from '../replayer/wire.ts';

export interface Objects {
  identities: Identities;
  share: string;
  shareInstance: string;
  /** An export location that only admins see. */
  adminExportLocation: string;
  accessRule: string;
  snapshot: string;
  snapshotInstance: string;
  snapshotExportLocation: string;
  /** A share of a type with replication. */
  replicated: string;
  replica: string;
  /** One of the replica's that all see. */
  replicaExportLocation: string;
  /** A private type that demo's project may use. */
  type: string;
  message: string;
  qosType: string;
  shareGroupType: string;
  shareGroup: string;
  /** With one member. */
  shareGroupSnapshot: string;
  resourceLock: string;
  shareNetwork: string;
  shareNetworkSubnet: string;
  /** A share in that network, and the server that it is on. */
  shareOnServer: string;
  shareServer: string;
  securityService: string;
  shareBackup: string;
  transfer: string;
}

const PATIENCE = 30_000;

/** Makes everything, as demo where a member may. Fails when something is refused or does not get ready. */
export async function makeObjects(wire: Wire, progress: (text: string) => void): Promise<Objects> {
  const identities = freshIdentities();
  const client = new Client(wire, identities);
  await makeTypes(wire, client, progress);
  progress('making a share, a snapshot, an access rule, a type and a message');
  const share = await client.makeShare('default');
  const accessRule = await client.id('demo', 'POST', `/shares/${share}/action`, 'access.id', {
    allow_access: { access_type: 'ip', access_to: '10.0.0.0/24', access_level: 'rw', metadata: { k: 'v' } },
  });
  await client.wait(`/share-access-rules/${accessRule}`, 'access.state', 'active');
  const snapshot = await client.id('demo', 'POST', '/snapshots', 'snapshot.id', {
    snapshot: { share_id: share, name: 'sweep', metadata: { a: 'b' } },
  });
  await client.wait(`/snapshots/${snapshot}`, 'snapshot.status', 'available');
  await client.call('demo', 'POST', `/snapshots/${snapshot}/action`, {
    allow_access: { access_type: 'ip', access_to: '10.0.0.0/24' },
  });
  await client.wait(`/snapshots/${snapshot}/access-list`, 'snapshot_access_list.0.state', 'active');
  const failed = await client.makeShare('nowhere', 'error');
  const replicated = await client.makeShare('replicated');
  const replica = await client.id('demo', 'POST', '/share-replicas', 'share_replica.id', {
    share_replica: { share_id: replicated, metadata: { a: 'b' } },
  });
  await client.wait(`/share-replicas/${replica}`, 'share_replica.status', 'available');
  return {
    identities,
    share,
    accessRule,
    snapshot,
    shareInstance: await client.id('admin', 'GET', `/shares/${share}/instances`, 'share_instances.0.id'),
    adminExportLocation: await client.adminExportLocation(share),
    snapshotInstance: await client.id(
      'admin',
      'GET',
      `/snapshot-instances?snapshot_id=${snapshot}`,
      'snapshot_instances.0.id',
    ),
    snapshotExportLocation: await client.id(
      'demo',
      'GET',
      `/snapshots/${snapshot}/export-locations`,
      'share_snapshot_export_locations.0.id',
    ),
    replicated,
    replica,
    replicaExportLocation: await client.id(
      'demo',
      'GET',
      `/share-replicas/${replica}/export-locations`,
      'export_locations.0.id',
    ),
    type: await client.makePrivateType(),
    message: await client.id('demo', 'GET', `/messages?resource_id=${failed}`, 'messages.0.id'),
    qosType: await client.id('admin', 'POST', '/qos-types', 'qos_type.id', {
      qos_type: {
        name: `sweep-${randomBytes(4).toString('hex')}`,
        description: 'to read',
        specs: { a: 'b' },
      },
    }),
    ...(await makeGroup(client)),
    resourceLock: await client.id('demo', 'POST', '/resource-locks', 'resource_lock.id', {
      resource_lock: { resource_id: share, resource_type: 'share', lock_reason: 'swept' },
    }),
    ...(await makeNetwork(client)),
    securityService: await client.id('demo', 'POST', '/security-services', 'security_service.id', {
      security_service: {
        type: 'ldap',
        name: 'sweep',
        dns_ip: '10.0.0.1',
        server: '10.0.0.2',
        domain: 'example.com',
        user: 'reader',
        password: 'secret',
        ou: 'OU=shares',
      },
    }),
    shareBackup: await client.makeBackup(await client.makeShare('plain')),
    transfer: await client.id('demo', 'POST', '/share-transfers', 'transfer.id', {
      transfer: { share_id: await client.makeShare('default'), name: 'sweep' },
    }),
  };
}

/** A share group of a type of its own, with a share, and a snapshot of it. */
async function makeGroup(
  client: Client,
): Promise<Pick<Objects, 'shareGroupType' | 'shareGroup' | 'shareGroupSnapshot'>> {
  const shareGroupType = await client.id('admin', 'POST', '/share-group-types', 'share_group_type.id', {
    share_group_type: {
      name: `sweep-${randomBytes(4).toString('hex')}`,
      share_types: ['default'],
      group_specs: { a: 'b' },
    },
  });
  const shareGroup = await client.id('demo', 'POST', '/share-groups', 'share_group.id', {
    share_group: { name: 'sweep', share_group_type_id: shareGroupType },
  });
  await client.wait(`/share-groups/${shareGroup}`, 'share_group.status', 'available');
  const share = await client.id('demo', 'POST', '/shares', 'share.id', {
    share: { share_proto: 'NFS', size: 1, share_group_id: shareGroup },
  });
  await client.wait(`/shares/${share}`, 'share.status', 'available');
  const shareGroupSnapshot = await client.id(
    'demo',
    'POST',
    '/share-group-snapshots',
    'share_group_snapshot.id',
    { share_group_snapshot: { share_group_id: shareGroup, name: 'sweep' } },
  );
  const path = `/share-group-snapshots/${shareGroupSnapshot}`;
  await client.wait(path, 'share_group_snapshot.status', 'available');
  return { shareGroupType, shareGroup, shareGroupSnapshot };
}

/** A share network, and a share on a share server in it. */
async function makeNetwork(
  client: Client,
): Promise<Pick<Objects, 'shareNetwork' | 'shareNetworkSubnet' | 'shareOnServer' | 'shareServer'>> {
  const shareNetwork = await client.id('demo', 'POST', '/share-networks', 'share_network.id', {
    share_network: {
      name: 'sweep',
      description: 'to read',
      neutron_net_id: '11111111-1111-4111-8111-111111111111',
      neutron_subnet_id: '22222222-2222-4222-8222-222222222222',
    },
  });
  const shareOnServer = await client.makeShare('dhss', 'available', { share_network_id: shareNetwork });
  const subnets = `/share-networks/${shareNetwork}/subnets`;
  return {
    shareNetwork,
    shareNetworkSubnet: await client.id('demo', 'GET', subnets, 'share_network_subnets.0.id'),
    shareOnServer,
    shareServer: await client.id('admin', 'GET', `/shares/${shareOnServer}`, 'share.share_server_id'),
  };
}

/** The types of the recordings' first scenario, unless they are there. */
async function makeTypes(wire: Wire, client: Client, progress: (text: string) => void): Promise<void> {
  const { status } = await client.request('admin', 'GET', '/types/default');
  if (status === 200) return;
  progress('making share types');
  await replayScenario(wire, loadScenario(SETUP_SCENARIO), {
    coverage: { notCovered: [], hidden: {} },
    chances: {},
    departures: {},
    waits: {},
  });
}

class Client {
  readonly #wire: Wire;
  readonly #identities: Identities;

  constructor(wire: Wire, identities: Identities) {
    this.#wire = wire;
    this.#identities = identities;
  }

  request(as: string, method: string, path: string, body?: Json) {
    return this.#wire.send({
      method,
      path: `/v2${path}`,
      headers: {
        'X-Auth-Token': tokenOf(this.#identities[as]!),
        'X-OpenStack-Manila-API-Version': '2.99',
        'X-OpenStack-Manila-API-Experimental': 'true',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** The body of an answer that has to be a success. */
  async call(as: string, method: string, path: string, body?: Json): Promise<Json> {
    const answer = await this.request(as, method, path, body);
    if (answer.status >= 300) {
      throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  }

  /** The text at a place of a successful answer. */
  async id(as: string, method: string, path: string, place: string, body?: Json): Promise<string> {
    const id = valueAt(await this.call(as, method, path, body), place);
    if (typeof id !== 'string') throw new Error(`${method} ${path} gave no ${place}`);
    return id;
  }

  async wait(path: string, field: string, wanted: string): Promise<void> {
    const deadline = performance.now() + PATIENCE;
    for (;;) {
      const value = valueAt(await this.call('demo', 'GET', path), field);
      if (value === wanted) return;
      if (performance.now() > deadline) {
        throw new Error(
          `${path}: ${field} is ${JSON.stringify(value)} after ${PATIENCE / 1000} s, not ${wanted}`,
        );
      }
      await sleep(50);
    }
  }

  async makeShare(type: string, status = 'available', more: Record<string, Json> = {}): Promise<string> {
    const share = await this.id('demo', 'POST', '/shares', 'share.id', {
      share: {
        share_proto: 'NFS',
        size: 1,
        name: 'sweep',
        description: 'to read',
        share_type: type,
        metadata: { a: 'b' },
        ...more,
      },
    });
    await this.wait(`/shares/${share}`, 'share.status', status);
    return share;
  }

  /** One that has ended, in error as there is nowhere for it to go. */
  async makeBackup(share: string): Promise<string> {
    const backup = await this.id('demo', 'POST', '/share-backups', 'share_backup.id', {
      share_backup: { share_id: share, name: 'sweep' },
    });
    await this.wait(`/share-backups/${backup}`, 'share_backup.status', 'error');
    return backup;
  }

  async makePrivateType(): Promise<string> {
    const type = await this.id('admin', 'POST', '/types', 'share_type.id', {
      share_type: {
        name: `sweep-${randomBytes(4).toString('hex')}`,
        description: 'to read',
        'share_type_access:is_public': false,
        extra_specs: { driver_handles_share_servers: 'False', snapshot_support: 'True' },
      },
    });
    const project = this.#identities.demo!.project;
    await this.call('admin', 'POST', `/types/${type}/action`, { addProjectAccess: { project } });
    return type;
  }

  async adminExportLocation(share: string): Promise<string> {
    const body = await this.call('admin', 'GET', `/shares/${share}/export_locations`);
    const locations = valueAt(body, 'export_locations') as { id: string; is_admin_only: boolean }[];
    const location = locations.find((each) => each.is_admin_only);
    if (!location) throw new Error(`share ${share} has no export location for admins only`);
    return location.id;
  }
}
