/** One thing of each kind, made by demo: what the requests that are refused are about. */
import type { Json, RecordedRequest, Until } from '../replayer/recordings.ts';
import type { Step } from './record.ts';

/** A request at the newest version, unless said, as one line of a script. */
export function step(
  as: string,
  method: string,
  path: string,
  body?: Json,
  { version = '2.99', ...more }: { version?: string; captures?: Record<string, string>; until?: Until } = {},
): Step {
  const request: RecordedRequest = { method, path: `/v2${path}`, version, as, experimental: true };
  return { request: body === undefined ? request : { ...request, body }, ...more };
}

export const until = (field: string, ...states: string[]) => ({ until: { field, in: [...states, 'error'] } });
const share = (more: Json) => ({
  share: { share_proto: 'NFS', size: 1, metadata: { a: 'b' }, ...(more as object) },
});

const everything = {
  driver_handles_share_servers: 'False',
  snapshot_support: 'True',
  create_share_from_snapshot_support: 'True',
  revert_to_snapshot_support: 'True',
  mount_snapshot_support: 'True',
};

export const world: readonly Step[] = [
  step(
    'admin',
    'POST',
    '/types',
    { share_type: { name: 'refusals-{{project_demo}}', extra_specs: everything } },
    { captures: { type_1: 'share_type.id' } },
  ),
  step('demo', 'POST', '/shares', share({ share_type: '{{type_1}}', name: 'one' }), {
    captures: { share_1: 'share.id' },
  }),
  step('demo', 'GET', '/shares/{{share_1}}', undefined, until('share.status', 'available')),
  step(
    'demo',
    'POST',
    '/shares/{{share_1}}/action',
    {
      allow_access: { access_type: 'ip', access_to: '10.0.0.0/24', access_level: 'rw', metadata: { a: 'b' } },
    },
    { captures: { access_1: 'access.id' } },
  ),
  step('demo', 'GET', '/share-access-rules/{{access_1}}', undefined, until('access.state', 'active')),
  step('admin', 'GET', '/shares/{{share_1}}/instances', undefined, {
    captures: { share_instance_1: 'share_instances.0.id' },
  }),
  step('demo', 'GET', '/shares/{{share_1}}/export_locations', undefined, {
    captures: { export_location_1: 'export_locations.0.id' },
  }),
  step(
    'demo',
    'POST',
    '/snapshots',
    { snapshot: { share_id: '{{share_1}}', name: 'one', metadata: { a: 'b' } } },
    { captures: { snapshot_1: 'snapshot.id' } },
  ),
  step('demo', 'GET', '/snapshots/{{snapshot_1}}', undefined, until('snapshot.status', 'available')),
  step('admin', 'GET', '/snapshot-instances?snapshot_id={{snapshot_1}}', undefined, {
    captures: { snapshot_instance_1: 'snapshot_instances.0.id' },
  }),
  step(
    'demo',
    'POST',
    '/security-services',
    { security_service: { type: 'ldap', name: 'one', dns_ip: '10.254.0.3' } },
    { captures: { security_service_1: 'security_service.id' } },
  ),
  step(
    'demo',
    'POST',
    '/share-networks',
    { share_network: { name: 'one' } },
    {
      captures: {
        share_network_1: 'share_network.id',
        share_network_subnet_1: 'share_network.share_network_subnets.0.id',
      },
    },
  ),
  step('demo', 'POST', '/share-networks/{{share_network_1}}/subnets/{{share_network_subnet_1}}/metadata', {
    metadata: { a: 'b' },
  }),
  step('demo', 'POST', '/shares', share({ share_type: 'dhss', share_network_id: '{{share_network_1}}' }), {
    captures: { share_2: 'share.id' },
  }),
  step('demo', 'GET', '/shares/{{share_2}}', undefined, until('share.status', 'available')),
  step('admin', 'GET', '/share-servers?share_network_id={{share_network_1}}', undefined, {
    captures: { share_server_1: 'share_servers.0.id' },
  }),
  step('demo', 'POST', '/shares', share({ share_type: 'replicated' }), { captures: { share_3: 'share.id' } }),
  step('demo', 'GET', '/shares/{{share_3}}', undefined, until('share.status', 'available')),
  step(
    'demo',
    'POST',
    '/share-replicas',
    { share_replica: { share_id: '{{share_3}}' } },
    {
      captures: { share_replica_1: 'share_replica.id' },
    },
  ),
  step(
    'demo',
    'GET',
    '/share-replicas/{{share_replica_1}}',
    undefined,
    until('share_replica.status', 'available'),
  ),
  step('demo', 'GET', '/share-replicas/{{share_replica_1}}/export-locations', undefined, {
    captures: { replica_export_location_1: 'export_locations.0.id' },
  }),
  step(
    'admin',
    'POST',
    '/share-group-types',
    {
      share_group_type: {
        name: 'refusals-{{project_demo}}',
        share_types: ['{{type_1}}'],
        group_specs: { a: 'b' },
      },
    },
    { captures: { share_group_type_1: 'share_group_type.id' } },
  ),
  step(
    'demo',
    'POST',
    '/share-groups',
    {
      share_group: {
        name: 'one',
        share_group_type_id: '{{share_group_type_1}}',
        share_types: ['{{type_1}}'],
      },
    },
    { captures: { share_group_1: 'share_group.id' } },
  ),
  step('demo', 'GET', '/share-groups/{{share_group_1}}', undefined, until('share_group.status', 'available')),
  step(
    'demo',
    'POST',
    '/share-group-snapshots',
    { share_group_snapshot: { share_group_id: '{{share_group_1}}', name: 'one' } },
    { captures: { share_group_snapshot_1: 'share_group_snapshot.id' } },
  ),
  step(
    'demo',
    'GET',
    '/share-group-snapshots/{{share_group_snapshot_1}}',
    undefined,
    until('share_group_snapshot.status', 'available'),
  ),
  step(
    'admin',
    'POST',
    '/qos-types',
    { qos_type: { name: 'refusals-{{project_demo}}', description: 'one', specs: { a: 'b' } } },
    { captures: { qos_type_1: 'qos_type.id' } },
  ),
  step(
    'demo',
    'POST',
    '/resource-locks',
    { resource_lock: { resource_id: '{{share_1}}', resource_type: 'share', lock_reason: 'one' } },
    { captures: { resource_lock_1: 'resource_lock.id' } },
  ),
  step('demo', 'POST', '/shares', share({ share_type: '{{type_1}}', name: 'offered' }), {
    captures: { share_4: 'share.id' },
  }),
  step('demo', 'GET', '/shares/{{share_4}}', undefined, until('share.status', 'available')),
  step(
    'demo',
    'POST',
    '/share-transfers',
    { transfer: { share_id: '{{share_4}}', name: 'one' } },
    {
      captures: { transfer_1: 'transfer.id' },
    },
  ),
  step('demo', 'POST', '/shares', share({ share_type: 'nowhere' }), { captures: { share_5: 'share.id' } }),
  step('demo', 'GET', '/shares/{{share_5}}', undefined, until('share.status', 'error')),
  step('demo', 'GET', '/messages?resource_id={{share_5}}', undefined, {
    captures: { message_1: 'messages.0.id' },
  }),
  step('demo', 'POST', '/shares', share({ share_type: '{{type_1}}', name: 'kept' }), {
    captures: { share_6: 'share.id' },
  }),
  step('demo', 'GET', '/shares/{{share_6}}', undefined, until('share.status', 'available')),
  step(
    'demo',
    'POST',
    '/share-backups',
    { share_backup: { share_id: '{{share_6}}', name: 'one' } },
    {
      captures: { share_backup_1: 'share_backup.id' },
    },
  ),
  step('demo', 'GET', '/snapshots/{{snapshot_1}}/export-locations', undefined, {
    captures: { snapshot_export_location_1: 'share_snapshot_export_locations.0.id' },
  }),
];

/** What stands for a parameter in a path, by the word before it. */
export const names: Readonly<Record<string, string>> = {
  shares: '{{share_1}}',
  'os-share-unmanage': '{{share_1}}',
  'share-access-rules': '{{access_1}}',
  share_instances: '{{share_instance_1}}',
  snapshots: '{{snapshot_1}}',
  'snapshot-instances': '{{snapshot_instance_1}}',
  types: '{{type_1}}',
  'security-services': '{{security_service_1}}',
  'share-networks': '{{share_network_1}}',
  subnets: '{{share_network_subnet_1}}',
  'share-servers': '{{share_server_1}}',
  'share-replicas': '{{share_replica_1}}',
  'share-group-types': '{{share_group_type_1}}',
  'share-groups': '{{share_group_1}}',
  'share-group-snapshots': '{{share_group_snapshot_1}}',
  'qos-types': '{{qos_type_1}}',
  'resource-locks': '{{resource_lock_1}}',
  'share-transfers': '{{transfer_1}}',
  messages: '{{message_1}}',
  'share-backups': '{{share_backup_1}}',
  export_locations: '{{export_location_1}}',
  'quota-sets': '{{project_demo}}',
  'os-quota-sets': '{{project_demo}}',
};

/** Things that belong to a project: another project's are not to be seen. */
export const owned = new Set([
  'shares',
  'share-access-rules',
  'snapshots',
  'security-services',
  'share-networks',
  'subnets',
  'share-replicas',
  'share-groups',
  'share-group-snapshots',
  'resource-locks',
  'share-transfers',
  'messages',
  'share-backups',
]);
