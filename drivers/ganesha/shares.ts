/** Shares of the gateway: their life, their access lists, and the way back to a snapshot. */
import {
  type AccessRule,
  type BackendShare,
  type Driver,
  DriverError,
  type ExportLocation,
} from '../driver.ts';
import { accessList } from './accessList.ts';
import { giveUpIf } from './command.ts';
import { type Gateway, volume } from './gateway.ts';
import { GiB } from './settings.ts';
import type { Volume } from './storage.ts';

export function gatewayShares(gateway: Gateway): Driver['shares'] {
  const { exclusively } = gateway;
  const at = (share: BackendShare): Volume => volume('shares', share.id);
  return {
    create: async (share, signal) =>
      exclusively([at(share).id], signal, () =>
        make(gateway, share, signal, () => gateway.storage.create(share.id, share.size * GiB, signal)),
      ),

    createFromSnapshot: async (share, snapshot, signal) => {
      const source = volume('snapshots', snapshot.id);
      return exclusively([at(share).id, source.id], signal, () =>
        make(gateway, share, signal, async () => {
          if (!(await gateway.storage.exists(at(share)))) await gateway.assertThere(source);
          await gateway.storage.clone(share.id, source.id, share.size * GiB, signal);
        }),
      );
    },

    delete: async (share, signal) =>
      exclusively([at(share).id], signal, async () => {
        giveUpIf(signal, 'the delete');
        await gateway.attached.close(at(share), signal);
        await gateway.withdraw(at(share), signal);
        await gateway.storage.remove(at(share), signal);
      }),

    extend: async (share, newSize, signal) =>
      exclusively([at(share).id], signal, async () => {
        giveUpIf(signal, 'the extension');
        await gateway.assertThere(at(share));
        await gateway.assertRoom((newSize - share.size) * GiB);
        await gateway.storage.resize(share.id, newSize * GiB, signal);
      }),

    shrink: async (share, newSize, signal) =>
      exclusively([at(share).id], signal, () => shrink(gateway, share, newSize, signal)),

    ensure: async (share, rules, signal) =>
      exclusively([at(share).id], signal, async () => {
        giveUpIf(signal, 'the check');
        await gateway.assertThere(at(share));
        await gateway.storage.resize(share.id, share.size * GiB, signal);
        await gateway.publish(at(share), accessList(rules).blocks, signal);
        const locations = gateway.locations(at(share));
        return sameLocations(share.exportLocations, locations) ? null : locations;
      }),
  };
}

async function make(
  gateway: Gateway,
  share: BackendShare,
  signal: AbortSignal,
  store: () => Promise<void>,
): Promise<ExportLocation[]> {
  const at = volume('shares', share.id);
  giveUpIf(signal, 'the creation');
  if (share.protocol !== 'NFS')
    throw new DriverError('unsupported', `this back end serves NFS, not ${share.protocol}`);
  if (!(await gateway.storage.exists(at))) await gateway.assertRoom(share.size * GiB);
  await store();
  await gateway.publish(at, undefined, signal);
  return gateway.locations(at);
}

/** The limit comes first, so that nothing is written between looking and shrinking; then it may go back. */
async function shrink(
  gateway: Gateway,
  share: BackendShare,
  newSize: number,
  signal: AbortSignal,
): Promise<void> {
  const { storage } = gateway;
  giveUpIf(signal, 'the shrinking');
  await gateway.assertThere(volume('shares', share.id));
  const refuseIfFuller = async (): Promise<void> => {
    const used = await storage.used(share.id, signal);
    if (used > newSize * GiB)
      throw new DriverError('possibleDataLoss', `${used} bytes are used, more than ${newSize} GiB`);
  };
  await refuseIfFuller();
  await storage.resize(share.id, newSize * GiB, signal);
  try {
    await refuseIfFuller();
  } catch (error) {
    await storage.resize(share.id, share.size * GiB, AbortSignal.timeout(10_000));
    throw error;
  }
}

/** Export locations are compared by what a client needs of them. */
function sameLocations(
  known: readonly ExportLocation[] | undefined,
  now: readonly ExportLocation[],
): boolean {
  const spell = (location: ExportLocation): string =>
    [location.path, location.isAdminOnly, location.metadata?.port ?? ''].join(' ');
  return known?.map(spell).sort().join('\n') === now.map(spell).sort().join('\n');
}

export function gatewayAccess(gateway: Gateway): Driver['access'] {
  return {
    sync: async (share, rules, signal) => {
      const at = volume('shares', share.id);
      return gateway.exclusively([at.id], signal, async () => {
        giveUpIf(signal, 'the access change');
        await gateway.assertThere(at);
        const { blocks, results } = accessList(rules);
        await gateway.publish(at, blocks, signal);
        return results;
      });
    },
  };
}

export function gatewayRevert(gateway: Gateway): NonNullable<Driver['revert']> {
  return {
    toSnapshot: async (share, snapshot, rules, signal) => {
      const [at, source] = [volume('shares', share.id), volume('snapshots', snapshot.id)];
      await gateway.exclusively([at.id, source.id], signal, async () => {
        giveUpIf(signal, 'the revert');
        await gateway.assertThere(at);
        await gateway.assertThere(source);
        await whileReadOnly(gateway, at, rules, signal, () =>
          gateway.storage.revert(share.id, snapshot.id, share.size * GiB, signal),
        );
      });
    },
  };
}

/** Nobody writes while files are put back: see restore.ts. */
async function whileReadOnly(
  gateway: Gateway,
  at: Volume,
  rules: readonly AccessRule[],
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  const { blocks } = accessList(rules);
  await gateway.publish(
    at,
    blocks.map((block) => ({ ...block, level: 'ro' })),
    signal,
  );
  try {
    await work();
  } finally {
    await gateway.publish(at, blocks, signal.aborted ? AbortSignal.timeout(10_000) : signal);
  }
}
