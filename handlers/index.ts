/** Every operation's handler. One that is missing, or has the wrong type, doesn't compile. */
import { accessRules } from './accessRules.ts';
import { availabilityZones } from './availabilityZones.ts';
import { explanations } from './explanations.ts';
import { exportLocationMetadata } from './exportLocationMetadata.ts';
import { exportLocations } from './exportLocations.ts';
import { extensions } from './extensions.ts';
import { extraSpecs } from './extraSpecs.ts';
import { groupSpecs } from './groupSpecs.ts';
import { limits } from './limits.ts';
import { managing } from './managing.ts';
import { messages } from './messages.ts';
import { pools } from './pools.ts';
import { qosTypes } from './qosTypes.ts';
import { quotaClassSets } from './quotaClassSets.ts';
import { quotaSets } from './quotaSets.ts';
import type { Handlers } from './request.ts';
import { resourceLocks } from './resourceLocks.ts';
import { securityServices } from './securityServices.ts';
import { serverManaging } from './serverManaging.ts';
import { serverMigration } from './serverMigration.ts';
import { services } from './services.ts';
import { shareAccess } from './shareAccess.ts';
import { shareBackups } from './shareBackups.ts';
import { shareGroupSnapshots } from './shareGroupSnapshots.ts';
import { shareGroups } from './shareGroups.ts';

import { shareGroupTypeAccess } from './shareGroupTypeAccess.ts';
import { shareGroupTypes } from './shareGroupTypes.ts';
import { shareInstances } from './shareInstances.ts';
import { shareMetadata } from './shareMetadata.ts';
import { shareMigration } from './shareMigration.ts';
import { shareNetworkSecurity } from './shareNetworkSecurity.ts';
import { shareNetworkSubnetMetadata } from './shareNetworkSubnetMetadata.ts';
import { shareNetworkSubnets } from './shareNetworkSubnets.ts';
import { shareNetworks } from './shareNetworks.ts';
import { shareReplicaLocations } from './shareReplicaLocations.ts';
import { shareReplicaMetadata } from './shareReplicaMetadata.ts';
import { shareReplicas } from './shareReplicas.ts';
import { shareResize } from './shareResize.ts';
import { shareRevert } from './shareRevert.ts';
import { shareServers } from './shareServers.ts';
import { shareState } from './shareState.ts';
import { shares } from './shares.ts';
import { shareTransfers } from './shareTransfers.ts';
import { shareTypeAccess } from './shareTypeAccess.ts';
import { shareTypes } from './shareTypes.ts';
import { snapshotAccess } from './snapshotAccess.ts';
import { snapshotInstances } from './snapshotInstances.ts';
import { snapshotMetadata } from './snapshotMetadata.ts';
import { snapshots } from './snapshots.ts';

export const handlers = {
  ...accessRules,
  ...availabilityZones,
  ...explanations,
  ...exportLocationMetadata,
  ...exportLocations,
  ...extensions,
  ...extraSpecs,
  ...groupSpecs,
  ...limits,
  ...managing,
  ...messages,
  ...pools,
  ...qosTypes,
  ...quotaClassSets,
  ...quotaSets,
  ...resourceLocks,
  ...securityServices,
  ...serverManaging,
  ...serverMigration,
  ...services,
  ...shareAccess,
  ...shareGroupSnapshots,
  ...shareBackups,
  ...shareGroupTypeAccess,
  ...shareGroupTypes,
  ...shareGroups,
  ...shareInstances,
  ...shareMetadata,
  ...shareMigration,
  ...shareNetworkSecurity,
  ...shareNetworkSubnetMetadata,
  ...shareNetworkSubnets,
  ...shareNetworks,
  ...shareReplicaLocations,
  ...shareReplicaMetadata,
  ...shareReplicas,
  ...shareResize,
  ...shareRevert,
  ...shareServers,
  ...shareState,
  ...shareTransfers,
  ...shareTypeAccess,
  ...shareTypes,
  ...shares,
  ...snapshotAccess,
  ...snapshotInstances,
  ...snapshotMetadata,
  ...snapshots,
} satisfies Handlers;
