/** Finding a share replica that a caller names, and none that it may not know of. */
import { findReplica, type ReplicaRow } from '#db/shareReplicas.ts';
import { fault } from '#domain/faults.ts';
import type { PolicyName } from '#generated/policies.ts';
import type { Ctx } from './context.ts';

/**
 * The replica, if the caller may see it; throws shareReplicaNotFound for another project's, as for one that isn't
 * there. `policy` is what the caller wants to do to it: 403 when only that isn't allowed.
 */
export async function visibleReplica(ctx: Ctx, id: string, policy?: PolicyName): Promise<ReplicaRow> {
  const replica = await findReplica(ctx.db, id);
  if (!replica || !ctx.can('share_replica:show', ownerOf(replica)))
    throw fault('shareReplicaNotFound', { id });
  if (policy) ctx.authorize(policy, ownerOf(replica));
  return replica;
}

/** Whom policies ask about: the project and user of the replica's share. */
function ownerOf({ project_id, user_id }: ReplicaRow) {
  return { project_id, user_id };
}
