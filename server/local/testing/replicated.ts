/** Replicated shares in the world of the tests: a type with replication, and a back end with pools to replicate between. */
import { randomUUID } from 'node:crypto';
import { insertShareType } from '#db/shareTypes.ts';
import { HOST, type World, type WorldShare } from './world.ts';

/** Options of a back end with three pools; more lay over them. */
export const replicating = (more: Record<string, string> = {}): Record<string, string> => ({
  share_backend_name: 'fake',
  replication_domain: 'rd',
  fake_driver_pools: 'pool:1000:1000,pool2:1000:1000,pool3:1000:1000',
  ...more,
});

/** An available share of a type that replicates so, 1 GiB unless said, alone with its active replica. */
export async function replicatedShare(
  world: World,
  { replication = 'readable', size = 1, projectId = randomUUID(), specs = {} as Record<string, string> } = {},
): Promise<WorldShare> {
  const id = randomUUID();
  await world.db.transaction((tx) =>
    insertShareType(tx, {
      id,
      name: `replicated-${id}`,
      description: null,
      isPublic: true,
      specs: { driver_handles_share_servers: 'False', replication_type: replication, ...specs },
    }),
  );
  const share = await world.share({
    projectId,
    size,
    shareTypeId: id,
    host: `${HOST}#pool`,
    capabilities: {
      snapshot_support: true,
      create_share_from_snapshot_support: true,
      revert_to_snapshot_support: true,
      mount_snapshot_support: true,
      replication_type: replication,
    },
  });
  await world.db.run`UPDATE share_instances SET replica_state = 'active' WHERE id = ${share.instanceId}`;
  return share;
}
