/**
 * The reads of the sweep: from a recorded path with `{names}` to one that asks for an object of ours.
 */
import { isOperation, type OperationName } from '../replayer/coverage.ts';
import type { Objects } from './objects.ts';
import type { Reader } from './recorded.ts';

export interface Read {
  path: (objects: Objects, as: Reader) => string;
  /** The keys of metadata and extra specs count as well: ours are those of the recording. */
  data?: boolean;
}

const project = (objects: Objects, as: Reader) => objects.identities[as]!.project;

/** By recorded path. */
export const reads: Readonly<Record<string, Read>> = {
  '/': { path: () => '/' },
  '/extensions': { path: () => '/extensions' },
  '/limits': { path: () => '/limits' },
  '/services': { path: () => '/services' },
  '/os-services': { path: () => '/os-services' },
  '/availability-zones': { path: () => '/availability-zones' },
  '/os-availability-zone': { path: () => '/os-availability-zone' },
  '/scheduler-stats/pools': { path: () => '/scheduler-stats/pools' },
  '/scheduler-stats/pools/detail': { path: () => '/scheduler-stats/pools/detail' },
  '/messages': { path: () => '/messages' },
  '/messages/{id}': { path: ({ message }) => `/messages/${message}` },

  '/resource-locks': { path: () => '/resource-locks?with_count=true' },
  '/resource-locks/{id}': { path: ({ resourceLock }) => `/resource-locks/${resourceLock}` },

  '/share-backups': { path: () => '/share-backups' },
  '/share-backups/detail': { path: () => '/share-backups/detail' },
  '/share-backups/{id}': { path: ({ shareBackup }) => `/share-backups/${shareBackup}` },

  '/share-transfers': { path: () => '/share-transfers' },
  '/share-transfers/detail': { path: () => '/share-transfers/detail' },
  '/share-transfers/{id}': { path: ({ transfer }) => `/share-transfers/${transfer}` },

  '/share-networks': { path: () => '/share-networks' },
  '/share-networks/detail': { path: () => '/share-networks/detail' },
  '/share-networks/{id}': { path: ({ shareNetwork }) => `/share-networks/${shareNetwork}` },
  '/share-networks/{id}/subnets': { path: ({ shareNetwork }) => `/share-networks/${shareNetwork}/subnets` },
  '/share-networks/{id}/subnets/{sid}': {
    path: ({ shareNetwork, shareNetworkSubnet }) =>
      `/share-networks/${shareNetwork}/subnets/${shareNetworkSubnet}`,
  },
  '/share-networks/{id}/subnets/{sid}/metadata': {
    path: ({ shareNetwork, shareNetworkSubnet }) =>
      `/share-networks/${shareNetwork}/subnets/${shareNetworkSubnet}/metadata`,
  },
  '/share-servers': { path: () => '/share-servers' },
  '/share-servers/{id}': { path: ({ shareServer }) => `/share-servers/${shareServer}` },
  '/share-servers/{id}/details': { path: ({ shareServer }) => `/share-servers/${shareServer}/details` },
  '/shares/{share_id} (dhss)': { path: ({ shareOnServer }) => `/shares/${shareOnServer}` },
  '/security-services': { path: () => '/security-services' },
  '/security-services/detail': { path: () => '/security-services/detail' },
  '/security-services/{id}': { path: ({ securityService }) => `/security-services/${securityService}` },

  '/shares': { path: () => '/shares' },
  '/shares/detail': { path: () => '/shares/detail?with_count=true' },
  '/shares/{share_id}': { path: ({ share }) => `/shares/${share}` },
  '/shares/{share_id} (replicated)': { path: ({ replicated }) => `/shares/${replicated}` },
  '/shares/{share_id}/export_locations': { path: ({ share }) => `/shares/${share}/export_locations` },
  '/shares/{share_id}/export_locations/{id}': {
    path: ({ share, adminExportLocation }) => `/shares/${share}/export_locations/${adminExportLocation}`,
  },
  '/shares/{share_id}/instances': { path: ({ share }) => `/shares/${share}/instances` },
  '/shares/{id}/metadata': { path: ({ share }) => `/shares/${share}/metadata`, data: true },
  '/shares/{id}/metadata/{key}': { path: ({ share }) => `/shares/${share}/metadata/a`, data: true },

  '/share_instances': { path: () => '/share_instances' },
  '/share_instances/{id}': { path: ({ shareInstance }) => `/share_instances/${shareInstance}` },
  '/share_instances/{id}/export_locations': {
    path: ({ shareInstance }) => `/share_instances/${shareInstance}/export_locations`,
  },
  '/share_instances/{id}/export_locations/{el}': {
    path: ({ shareInstance, adminExportLocation }) =>
      `/share_instances/${shareInstance}/export_locations/${adminExportLocation}`,
  },

  '/share-access-rules': { path: ({ share }) => `/share-access-rules?share_id=${share}` },
  '/share-access-rules/{id}': { path: ({ accessRule }) => `/share-access-rules/${accessRule}`, data: true },

  '/snapshots': { path: () => '/snapshots' },
  '/snapshots/detail': { path: () => '/snapshots/detail?with_count=true' },
  '/snapshots/{id}': { path: ({ snapshot }) => `/snapshots/${snapshot}` },
  '/snapshots/{id}/access-list': { path: ({ snapshot }) => `/snapshots/${snapshot}/access-list` },
  '/snapshots/{id}/export-locations': { path: ({ snapshot }) => `/snapshots/${snapshot}/export-locations` },
  '/snapshots/{id}/export-locations/{el}': {
    path: ({ snapshot, snapshotExportLocation }) =>
      `/snapshots/${snapshot}/export-locations/${snapshotExportLocation}`,
  },
  '/snapshots/{id}/metadata': { path: ({ snapshot }) => `/snapshots/${snapshot}/metadata`, data: true },
  '/snapshots/{id}/metadata/{key}': {
    path: ({ snapshot }) => `/snapshots/${snapshot}/metadata/a`,
    data: true,
  },

  '/snapshot-instances': { path: () => '/snapshot-instances' },
  '/snapshot-instances/detail': { path: () => '/snapshot-instances/detail' },
  '/snapshot-instances/{id}': { path: ({ snapshotInstance }) => `/snapshot-instances/${snapshotInstance}` },
  '/snapshot-instances/{id}/export-locations': {
    path: ({ snapshotInstance }) => `/snapshot-instances/${snapshotInstance}/export-locations`,
  },

  '/share-replicas': { path: () => '/share-replicas' },
  '/share-replicas/detail': { path: () => '/share-replicas/detail' },
  '/share-replicas/{id}': { path: ({ replica }) => `/share-replicas/${replica}`, data: true },
  '/share-replicas/{id}/export-locations': {
    path: ({ replica }) => `/share-replicas/${replica}/export-locations`,
  },
  '/share-replicas/{id}/export-locations/{el}': {
    path: ({ replica, replicaExportLocation }) =>
      `/share-replicas/${replica}/export-locations/${replicaExportLocation}`,
  },
  '/share-replicas/{id}/metadata': {
    path: ({ replica }) => `/share-replicas/${replica}/metadata`,
    data: true,
  },

  '/types': { path: () => '/types' },
  '/types/default': { path: () => '/types/default', data: true },
  '/types/{id}': { path: ({ type }) => `/types/${type}`, data: true },
  '/types/{id}/extra_specs': { path: ({ type }) => `/types/${type}/extra_specs`, data: true },
  '/types/{id}/extra_specs/{key}': { path: ({ type }) => `/types/${type}/extra_specs/snapshot_support` },
  '/types/{id}/share_type_access': { path: ({ type }) => `/types/${type}/share_type_access` },
  '/types/{id}/os-share-type-access': { path: ({ type }) => `/types/${type}/os-share-type-access` },

  '/share-group-types': { path: () => '/share-group-types' },
  '/share-group-types/{id}': {
    path: ({ shareGroupType }) => `/share-group-types/${shareGroupType}`,
    data: true,
  },
  '/share-group-types/{id}/access': {
    path: ({ shareGroupType }) => `/share-group-types/${shareGroupType}/access`,
  },
  '/share-group-types/{id}/group-specs': {
    path: ({ shareGroupType }) => `/share-group-types/${shareGroupType}/group-specs`,
    data: true,
  },
  '/share-group-types/{id}/group-specs/{key}': {
    path: ({ shareGroupType }) => `/share-group-types/${shareGroupType}/group-specs/a`,
    data: true,
  },

  '/share-groups': { path: () => '/share-groups' },
  '/share-groups/detail': { path: () => '/share-groups/detail' },
  '/share-groups/{id}': { path: ({ shareGroup }) => `/share-groups/${shareGroup}` },

  '/share-group-snapshots': { path: () => '/share-group-snapshots' },
  '/share-group-snapshots/detail': { path: () => '/share-group-snapshots/detail' },
  '/share-group-snapshots/{id}': {
    path: ({ shareGroupSnapshot }) => `/share-group-snapshots/${shareGroupSnapshot}`,
  },
  '/share-group-snapshots/{id}/members': {
    path: ({ shareGroupSnapshot }) => `/share-group-snapshots/${shareGroupSnapshot}/members`,
  },

  '/qos-types': { path: () => '/qos-types' },
  '/qos-types/{id}': { path: ({ qosType }) => `/qos-types/${qosType}`, data: true },
  '/qos-types/{id}/specs': { path: ({ qosType }) => `/qos-types/${qosType}/specs`, data: true },
  '/qos-types/{id}/specs/{key}': { path: ({ qosType }) => `/qos-types/${qosType}/specs/a`, data: true },

  '/quota-sets/{id}': { path: (objects, as) => `/quota-sets/${project(objects, as)}` },
  '/quota-sets/{id}/detail': { path: (objects, as) => `/quota-sets/${project(objects, as)}/detail` },
  '/quota-sets/{id}/defaults': { path: (objects, as) => `/quota-sets/${project(objects, as)}/defaults` },
  '/os-quota-sets/{id}': { path: (objects, as) => `/os-quota-sets/${project(objects, as)}` },
  '/os-quota-sets/{id}/defaults': {
    path: (objects, as) => `/os-quota-sets/${project(objects, as)}/defaults`,
  },
  '/quota-class-sets/{id}': { path: () => '/quota-class-sets/default' },
  '/os-quota-class-sets/{id}': { path: () => '/os-quota-class-sets/default' },
};

/** Whether a recorded read is covered. */
export function isReadCovered(read: string, notCovered: readonly OperationName[]): boolean {
  const path = `/v2${read.replace(/ \(.*\)$/, '').replaceAll(/\{\w+\}/g, 'x')}`;
  return !notCovered.some((each) => isOperation(each, { method: 'GET', path }));
}
