/** Operations that no other scenario sees succeed, in an order in which they do. */
import type { Json } from '../replayer/recordings.ts';
import type { Step } from './record.ts';
import { step, until, world } from './world.ts';

const old = { version: '2.6' };
const available = (path: string, key: string) =>
  step('demo', 'GET', path, undefined, until(`${key}.status`, 'available'));
const gone = (path: string): Step => step('demo', 'GET', path, undefined, { until: { status: 404 } });
const act = (as: string, path: string, name: string, value: Json, more = {}): Step =>
  step(as, 'POST', `${path}/action`, { [name]: value }, more);

const usage: Step[] = [
  step('demo', 'GET', '/limits'),
  step('demo', 'GET', '/quota-sets/{{project_demo}}/detail'),
];

/** The reference forgets what is used when a quota is deleted: these come after `usage`. */
const quotas: Step[] = ['quota-sets', 'os-quota-sets'].flatMap((sets) => {
  const more = sets === 'quota-sets' ? {} : old;
  const of = `/${sets}/{{project_demo}}`;
  const classes = `/${sets.replace('sets', 'class-sets')}/default`;
  return [
    step('demo', 'GET', of, undefined, more),
    step('demo', 'GET', `${of}/defaults`, undefined, more),
    step('admin', 'PUT', of, { quota_set: { shares: 44 } }, more),
    step('admin', 'DELETE', of, undefined, more),
    step('admin', 'GET', classes, undefined, more),
    step('admin', 'PUT', classes, { quota_class_set: { shares: 50 } }, more),
  ];
});

const shares: Step[] = [
  act(
    'demo',
    '/shares/{{share_1}}',
    'os-allow_access',
    { access_type: 'ip', access_to: '10.1.0.1', access_level: 'rw' },
    {
      ...old,
      captures: { access_2: 'access.id' },
    },
  ),
  step('demo', 'GET', '/share-access-rules/{{access_2}}', undefined, until('access.state', 'active')),
  act('demo', '/shares/{{share_1}}', 'os-deny_access', { access_id: '{{access_2}}' }, old),
  gone('/share-access-rules/{{access_2}}'),
  act('demo', '/shares/{{share_1}}', 'os-extend', { new_size: 2 }, old),
  available('/shares/{{share_1}}', 'share'),
  act('demo', '/shares/{{share_1}}', 'os-shrink', { new_size: 1 }, old),
  available('/shares/{{share_1}}', 'share'),
  step('demo', 'POST', '/shares/{{share_1}}/metadata/a', { meta: { a: 'b' } }),
  step('admin', 'GET', '/share_instances/{{share_instance_1}}/export_locations/{{export_location_1}}'),
  step('demo', 'GET', '/shares/{{share_1}}/export_locations/{{export_location_1}}/metadata'),
  step('admin', 'PUT', '/shares/{{share_1}}/export_locations/{{export_location_1}}/metadata', {
    metadata: { k: 'v' },
  }),
  step('admin', 'POST', '/shares/{{share_1}}/export_locations/{{export_location_1}}/metadata/k', {
    meta: { k: 'w' },
  }),
  step('demo', 'GET', '/shares/{{share_1}}/export_locations/{{export_location_1}}/metadata/k'),
  act('demo', '/shares/{{share_1}}', 'revert', { snapshot_id: '{{snapshot_1}}' }),
  available('/shares/{{share_1}}', 'share'),
];

const snapshots: Step[] = [
  step('demo', 'POST', '/snapshots/{{snapshot_1}}/metadata/a', { metadata: { a: 'c' } }),
  act(
    'demo',
    '/snapshots/{{snapshot_1}}',
    'allow_access',
    { access_type: 'ip', access_to: '10.2.0.1' },
    {
      captures: { snapshot_access_1: 'snapshot_access.id' },
    },
  ),
  step(
    'demo',
    'GET',
    '/snapshots/{{snapshot_1}}/access-list',
    undefined,
    until('snapshot_access_list.0.state', 'active'),
  ),
  act('demo', '/snapshots/{{snapshot_1}}', 'deny_access', { access_id: '{{snapshot_access_1}}' }),
  step('demo', 'GET', '/snapshots/{{snapshot_1}}/export-locations/{{snapshot_export_location_1}}'),
  step('admin', 'GET', '/snapshot-instances?snapshot_id={{snapshot_1}}'),
  step('admin', 'GET', '/snapshot-instances/detail?snapshot_id={{snapshot_1}}'),
  step('admin', 'GET', '/snapshot-instances/{{snapshot_instance_1}}'),
  step('admin', 'GET', '/snapshot-instances/{{snapshot_instance_1}}/export-locations'),
  step(
    'admin',
    'GET',
    '/snapshot-instances/{{snapshot_instance_1}}/export-locations/{{snapshot_export_location_1}}',
  ),
  act('admin', '/snapshot-instances/{{snapshot_instance_1}}', 'reset_status', { status: 'available' }),
  act('admin', '/snapshots/{{snapshot_1}}', 'os-reset_status', { status: 'available' }, old),
];

const managing: Step[] = [
  step(
    'demo',
    'POST',
    '/shares',
    {
      share: { share_proto: 'NFS', size: 1, share_type: '{{type_1}}', name: 'let go' },
    },
    { captures: { share_7: 'share.id' } },
  ),
  available('/shares/{{share_7}}', 'share'),
  step('admin', 'GET', '/shares/{{share_7}}', undefined, { captures: { host_7: 'share.host' } }),
  step('demo', 'GET', '/shares/{{share_7}}/export_locations', undefined, {
    captures: { path_7: 'export_locations.0.path' },
  }),
  step(
    'demo',
    'POST',
    '/snapshots',
    { snapshot: { share_id: '{{share_7}}' } },
    {
      captures: { snapshot_2: 'snapshot.id' },
    },
  ),
  available('/snapshots/{{snapshot_2}}', 'snapshot'),
  step('admin', 'GET', '/snapshots/{{snapshot_2}}', undefined, {
    captures: { location_2: 'snapshot.provider_location' },
  }),
  act('admin', '/snapshots/{{snapshot_2}}', 'unmanage', null),
  gone('/snapshots/{{snapshot_2}}'),
  step(
    'admin',
    'POST',
    '/snapshots/manage',
    {
      snapshot: { share_id: '{{share_7}}', provider_location: '{{location_2}}', name: 'found' },
    },
    { captures: { snapshot_3: 'snapshot.id' } },
  ),
  step(
    'admin',
    'GET',
    '/snapshots/{{snapshot_3}}',
    undefined,
    until('snapshot.status', 'available', 'manage_error'),
  ),
  act('admin', '/snapshots/{{snapshot_3}}', 'os-force_delete', null, old),
  step('admin', 'GET', '/snapshots/{{snapshot_3}}', undefined, { until: { status: 404 } }),
  act('admin', '/shares/{{share_7}}', 'unmanage', null),
  gone('/shares/{{share_7}}'),
  step(
    'admin',
    'POST',
    '/shares/manage',
    {
      share: {
        protocol: 'NFS',
        service_host: '{{host_7}}',
        export_path: '{{path_7}}',
        share_type: '{{type_1}}',
        name: 'found',
      },
    },
    { captures: { share_8: 'share.id' } },
  ),
  step('admin', 'GET', '/shares/{{share_8}}', undefined, until('share.status', 'available', 'manage_error')),
  step(
    'admin',
    'POST',
    '/os-share-manage',
    {
      share: {
        protocol: 'NFS',
        service_host: '{{host_7}}',
        export_path: '10.0.0.10:/path/to/{{project_demo}}',
        share_type: '{{type_1}}',
        name: 'found too',
      },
    },
    { ...old, captures: { share_9: 'share.id' } },
  ),
  step('admin', 'GET', '/shares/{{share_9}}', undefined, until('share.status', 'available', 'manage_error')),
  step('admin', 'POST', '/os-share-unmanage/{{share_9}}/unmanage', undefined, old),
];

const networks: Step[] = [
  step('demo', 'GET', '/security-services/detail'),
  step('demo', 'GET', '/security-services'),
  step('demo', 'GET', '/security-services/{{security_service_1}}'),
  step('demo', 'PUT', '/security-services/{{security_service_1}}', { security_service: { name: 'first' } }),
  step('demo', 'PUT', '/share-networks/{{share_network_1}}/subnets/{{share_network_subnet_1}}/metadata', {
    metadata: { c: 'd' },
  }),
  step('demo', 'POST', '/share-networks/{{share_network_1}}/subnets/{{share_network_subnet_1}}/metadata/c', {
    metadata: { c: 'e' },
  }),
  step('demo', 'GET', '/share-networks/{{share_network_1}}/subnets/{{share_network_subnet_1}}/metadata/c'),
  act('admin', '/share-networks/{{share_network_1}}', 'reset_status', { status: 'active' }),
  act('demo', '/share-networks/{{share_network_1}}', 'share_network_subnet_create_check', {
    neutron_net_id: '2c6f1d4e-6f0e-4a6b-9b0e-3f9f3a6f2a01',
    neutron_subnet_id: '2c6f1d4e-6f0e-4a6b-9b0e-3f9f3a6f2a02',
  }),
  step(
    'demo',
    'POST',
    '/share-networks',
    { share_network: { name: 'two' } },
    {
      captures: { share_network_2: 'share_network.id' },
    },
  ),
  act('demo', '/share-networks/{{share_network_2}}', 'add_security_service_check', {
    security_service_id: '{{security_service_1}}',
  }),
  act('demo', '/share-networks/{{share_network_2}}', 'add_security_service', {
    security_service_id: '{{security_service_1}}',
  }),
  step(
    'demo',
    'POST',
    '/security-services',
    { security_service: { type: 'ldap', name: 'two' } },
    { captures: { security_service_2: 'security_service.id' } },
  ),
  act('demo', '/share-networks/{{share_network_2}}', 'update_security_service_check', {
    current_service_id: '{{security_service_1}}',
    new_service_id: '{{security_service_2}}',
  }),
  act('demo', '/share-networks/{{share_network_2}}', 'update_security_service', {
    current_service_id: '{{security_service_1}}',
    new_service_id: '{{security_service_2}}',
  }),
  act('demo', '/share-networks/{{share_network_2}}', 'remove_security_service', {
    security_service_id: '{{security_service_2}}',
  }),
  step('demo', 'DELETE', '/security-services/{{security_service_2}}'),
];

const servers: Step[] = [
  step(
    'demo',
    'POST',
    '/share-networks',
    { share_network: { name: 'four' } },
    { captures: { share_network_4: 'share_network.id' } },
  ),
  act('admin', '/share-servers/{{share_server_1}}', 'reset_task_state', { task_state: null }),
  act('admin', '/share-servers/{{share_server_1}}', 'migration_check', {
    host: 'refhost@gamma',
    writable: true,
    nondisruptive: false,
    preserve_snapshots: true,
    new_share_network_id: '{{share_network_4}}',
  }),
  act('admin', '/share-servers/{{share_server_1}}', 'migration_start', {
    host: 'refhost@gamma',
    writable: true,
    nondisruptive: false,
    preserve_snapshots: true,
    new_share_network_id: '{{share_network_4}}',
  }),
  step(
    'admin',
    'GET',
    '/share-servers/{{share_server_1}}',
    undefined,
    until('share_server.task_state', 'migration_driver_in_progress', 'migration_error'),
  ),
  act('admin', '/share-servers/{{share_server_1}}', 'migration_get_progress', null),
  act('admin', '/share-servers/{{share_server_1}}', 'migration_cancel', null),
  step(
    'admin',
    'GET',
    '/share-servers/{{share_server_1}}',
    undefined,
    until('share_server.task_state', 'migration_cancelled', 'migration_error'),
  ),
  step(
    'demo',
    'POST',
    '/share-networks',
    { share_network: { name: 'three' } },
    {
      captures: { share_network_3: 'share_network.id' },
    },
  ),
  step(
    'demo',
    'POST',
    '/shares',
    {
      share: { share_proto: 'NFS', size: 1, share_type: 'dhss', share_network_id: '{{share_network_3}}' },
    },
    { captures: { share_10: 'share.id' } },
  ),
  available('/shares/{{share_10}}', 'share'),
  step('admin', 'GET', '/share-servers?share_network_id={{share_network_3}}', undefined, {
    captures: { share_server_2: 'share_servers.0.id' },
  }),
  step('admin', 'GET', '/share-servers/{{share_server_2}}', undefined, {
    captures: { identifier_2: 'share_server.identifier' },
  }),
  act('admin', '/shares/{{share_10}}', 'unmanage', null),
  gone('/shares/{{share_10}}'),
  act('admin', '/share-servers/{{share_server_2}}', 'unmanage', null),
  step('admin', 'GET', '/share-servers/{{share_server_2}}', undefined, { until: { status: 404 } }),
  step(
    'admin',
    'POST',
    '/share-servers/manage',
    {
      share_server: {
        host: 'refhost@gamma',
        identifier: '{{identifier_2}}',
        share_network_id: '{{share_network_3}}',
        driver_options: {},
      },
    },
    { captures: { share_server_3: 'share_server.id' } },
  ),
  step(
    'admin',
    'GET',
    '/share-servers/{{share_server_3}}',
    undefined,
    until('share_server.status', 'active', 'manage_error'),
  ),
];

const types: Step[] = [
  step(
    'admin',
    'POST',
    '/share-group-types',
    { share_group_type: { name: 'private-{{project_demo}}', share_types: ['{{type_1}}'], is_public: false } },
    { captures: { share_group_type_2: 'share_group_type.id' } },
  ),
  act('admin', '/share-group-types/{{share_group_type_2}}', 'addProjectAccess', {
    project: '{{project_alt}}',
  }),
  step('admin', 'GET', '/share-group-types/{{share_group_type_2}}/access'),
  act('admin', '/share-group-types/{{share_group_type_2}}', 'removeProjectAccess', {
    project: '{{project_alt}}',
  }),
  step('admin', 'GET', '/qos-types'),
  step('admin', 'GET', '/qos-types/{{qos_type_1}}'),
  step('admin', 'PUT', '/qos-types/{{qos_type_1}}', { qos_type: { description: 'changed' } }),
  step('admin', 'POST', '/qos-types/{{qos_type_1}}/specs', { specs: { c: 'd' } }),
  step('admin', 'GET', '/qos-types/{{qos_type_1}}/specs'),
  step('admin', 'GET', '/qos-types/{{qos_type_1}}/specs/c'),
  step('admin', 'PUT', '/qos-types/{{qos_type_1}}/specs/c', { c: 'e' }),
  step('admin', 'DELETE', '/qos-types/{{qos_type_1}}/specs/c'),
  step('admin', 'DELETE', '/qos-types/{{qos_type_1}}'),
];

const replicas: Step[] = [
  step('demo', 'POST', '/share-replicas/{{share_replica_1}}/metadata', { metadata: { a: 'b' } }),
  step('demo', 'PUT', '/share-replicas/{{share_replica_1}}/metadata', { metadata: { c: 'd' } }),
  step('demo', 'POST', '/share-replicas/{{share_replica_1}}/metadata/c', { metadata: { c: 'e' } }),
  step('demo', 'GET', '/share-replicas/{{share_replica_1}}/metadata/c'),
  step('demo', 'DELETE', '/share-replicas/{{share_replica_1}}/metadata/c'),
  step('demo', 'GET', '/share-replicas/{{share_replica_1}}/export-locations/{{replica_export_location_1}}'),
  act('admin', '/share-replicas/{{share_replica_1}}', 'force_delete', null),
];

const transfers: Step[] = [
  step('demo', 'GET', '/share-transfers'),
  step('demo', 'GET', '/share-transfers/detail'),
  step('demo', 'GET', '/share-transfers/{{transfer_1}}'),
  step('demo', 'DELETE', '/share-transfers/{{transfer_1}}'),
  available('/shares/{{share_4}}', 'share'),
  step(
    'demo',
    'POST',
    '/share-transfers',
    { transfer: { share_id: '{{share_4}}', name: 'two' } },
    {
      captures: { transfer_2: 'transfer.id', auth_key_2: 'transfer.auth_key' },
    },
  ),
  step('alt', 'POST', '/share-transfers/{{transfer_2}}/accept', { accept: { auth_key: '{{auth_key_2}}' } }),
  step('alt', 'GET', '/shares/{{share_4}}', undefined, until('share.status', 'available')),
];

const forced: Step[] = [
  act('admin', '/share-group-snapshots/{{share_group_snapshot_1}}', 'force_delete', null),
  gone('/share-group-snapshots/{{share_group_snapshot_1}}'),
  act('admin', '/share-groups/{{share_group_1}}', 'force_delete', null),
  gone('/share-groups/{{share_group_1}}'),
  act('admin', '/share_instances/{{share_instance_1}}', 'os-reset_status', { status: 'available' }, old),
  step('admin', 'GET', '/shares/{{share_5}}/instances', undefined, {
    captures: { share_instance_5: 'share_instances.0.id' },
  }),
  act('admin', '/share_instances/{{share_instance_5}}', 'os-force_delete', null, old),
  gone('/shares/{{share_5}}'),
  act('admin', '/shares/{{share_3}}', 'os-force_delete', null, old),
  step('demo', 'DELETE', '/share-networks/{{share_network_2}}'),
  step('admin', 'POST', '/services/ensure-shares', { ensure_shares: { host: 'refhost@beta' } }),
];

/** The whole script. */
export const successes: readonly Step[] = [
  ...world,
  ...usage,
  ...quotas,
  ...shares,
  ...snapshots,
  ...managing,
  ...networks,
  ...servers,
  ...types,
  ...replicas,
  ...transfers,
  ...forced,
];
