/** A share and its share server, on back ends that handle those: chosen when it is made, left when it goes. */
import type { Tx } from '#db/connection.ts';
import { serverOfGroup } from '#db/serverPlacement.ts';
import { backendShare, type InstanceRow } from '#db/shareInstances.ts';
import type { BackendShare } from '#domain/backend.ts';
import type { Driver } from '#drivers/driver.ts';
import type { Run } from './job.ts';
import { NoShareServer, provideServer } from './serverPlacement.ts';
import { leaveServer } from './shareServers.ts';

/**
 * The share as its driver sees it, with a server that serves where the back end has such; `source` is what the share
 * is made from, and it stays on that one's server. Throws NoShareServer (also for a share network where the back end has no servers), or TryAgain while a server is being made.
 */
export async function shareOnServer(
  instance: InstanceRow,
  { servers }: Driver,
  run: Run,
  source?: InstanceRow,
): Promise<BackendShare> {
  if (!servers) {
    if (instance.shareNetworkId === null) return backendShare(instance);
    const why = `share ${instance.shareId} has a share network, which its back end does not take`;
    throw new NoShareServer(why, false, 'unexpectedNetwork');
  }
  const networkId = instance.shareNetworkId ?? source?.shareNetworkId ?? null;
  if (networkId === null) throw new NoShareServer(`share ${instance.shareId} has no share network`);
  const isWhole = instance.extraSpecs.encryption_support === 'share_server';
  const server = await provideServer(
    {
      holder: 'share_instances',
      id: instance.id,
      host: instance.host!,
      networkId,
      zone: instance.availabilityZone,
      size: instance.size,
      encryptionKeyRef: isWhole ? instance.encryptionKeyRef : null,
      only: await bound(instance, run, source),
    },
    run,
  );
  return { ...backendShare(instance), server };
}

/** The server that nothing but the share's origin decides. */
async function bound(
  instance: InstanceRow,
  { tools }: Run,
  source: InstanceRow | undefined,
): Promise<string | null> {
  if (source?.shareServerId && sameBackend(source, instance)) return source.shareServerId;
  return instance.shareGroupId === null ? null : serverOfGroup(tools.db, instance.shareGroupId);
}

function sameBackend(a: InstanceRow, b: InstanceRow): boolean {
  return a.host?.split('#')[0] === b.host?.split('#')[0];
}

/** A share without a server on a back end that handles servers was never made there: there is nothing to be undone. */
export function isOnBackend(instance: InstanceRow, { servers }: Driver): boolean {
  return !servers || instance.server !== null;
}

/** The share is gone from its server. */
export async function leave(tx: Tx, instance: InstanceRow, run: Run): Promise<void> {
  if (instance.shareServerId !== null) await leaveServer(tx, instance.shareServerId, run);
}
