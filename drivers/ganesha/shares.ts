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
import { pseudoPath } from './configuration.ts';
import { assertThere, type Gateway, type Home } from './gateway.ts';
import { GiB } from './settings.ts';

export function gatewayShares(gateway: Gateway): Driver['shares'] {
  const { exclusively } = gateway;
  return {
    create: async (share, signal) => {
      const home = gateway.share(share);
      return exclusively([share.id], signal, () =>
        make(gateway, share, home, signal, () => home.storage.create(share.id, share.size * GiB, signal)),
      );
    },

    createFromSnapshot: async (share, snapshot, signal) => {
      const [home, source] = [gateway.share(share), gateway.snapshot(snapshot)];
      return exclusively([share.id, snapshot.id], signal, () =>
        make(gateway, share, home, signal, async () => {
          if (!(await home.storage.exists(home.volume))) await assertThere(source);
          const size = share.size * GiB;
          if (source.storage === home.storage) await home.storage.clone(share.id, snapshot.id, size, signal);
          else {
            const from = source.storage.directory(source.volume);
            await home.storage.receive(share.id, from, size, signal);
          }
        }),
      );
    },

    delete: async (share, signal) => {
      const home = gateway.share(share);
      await exclusively([share.id], signal, async () => {
        giveUpIf(signal, 'the delete');
        await gateway.attached.close(home.volume, signal);
        await gateway.withdraw(home, signal);
        await home.storage.remove(home.volume, signal);
      });
    },

    extend: async (share, newSize, signal) => {
      const home = gateway.share(share);
      await exclusively([share.id], signal, async () => {
        giveUpIf(signal, 'the extension');
        await assertThere(home);
        await gateway.assertRoom(home.storage, (newSize - share.size) * GiB);
        await home.storage.resize(share.id, newSize * GiB, signal);
      });
    },

    shrink: async (share, newSize, signal) => {
      const home = gateway.share(share);
      await exclusively([share.id], signal, () => shrink(home, share, newSize, signal));
    },

    ensure: async (share, rules, signal) => {
      const home = gateway.share(share);
      return exclusively([share.id], signal, async () => {
        giveUpIf(signal, 'the check');
        await assertThere(home);
        await home.storage.resize(share.id, share.size * GiB, signal);
        await gateway.publish(home, { ...named(share, home), blocks: accessList(rules).blocks }, signal);
        const locations = gateway.locations(home);
        return sameLocations(share.exportLocations, locations) ? null : locations;
      });
    },
  };
}

async function make(
  gateway: Gateway,
  share: BackendShare,
  home: Home,
  signal: AbortSignal,
  store: () => Promise<void>,
): Promise<ExportLocation[]> {
  giveUpIf(signal, 'the creation');
  if (share.protocol !== 'NFS')
    throw new DriverError('unsupported', `this back end serves NFS, not ${share.protocol}`);
  if (share.encryptionKeyRef) throw new DriverError('unsupported', 'this back end encrypts no shares');
  const name = named(share, home);
  if (!(await home.storage.exists(home.volume))) await gateway.assertRoom(home.storage, share.size * GiB);
  await store();
  await gateway.publish(home, name, signal);
  return gateway.locations(home);
}

/**
 * The path that the share is exported under, where that isn't made of its id: the mount point name that its owner
 * chose, or, when the export is made anew, the one that clients knew.
 */
function named(share: BackendShare, { volume: at, serving }: Home): { pseudo?: string } {
  if (serving?.record(at.id) !== undefined) return {};
  const { mountPointName } = share;
  if (mountPointName) {
    if (!/^[A-Za-z0-9_-]{1,200}$/.test(mountPointName))
      throw new DriverError('invalid', `${JSON.stringify(mountPointName)} can't name a mount point`);
    return { pseudo: pseudoPath('shares', mountPointName) };
  }
  const known = /:(\/shares\/[A-Za-z0-9_][A-Za-z0-9_.-]{0,200})$/.exec(
    share.exportLocations?.[0]?.path ?? '',
  );
  return known?.[1] === undefined ? {} : { pseudo: known[1] };
}

/** The limit comes first, so that nothing is written between looking and shrinking; then it may go back. */
async function shrink(home: Home, share: BackendShare, newSize: number, signal: AbortSignal): Promise<void> {
  const { storage } = home;
  giveUpIf(signal, 'the shrinking');
  await assertThere(home);
  const refuseIfFuller = async (): Promise<void> => {
    const used = await storage.used(home.volume, signal);
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
      const home = gateway.share(share);
      return gateway.exclusively([share.id], signal, async () => {
        giveUpIf(signal, 'the access change');
        await assertThere(home);
        const { blocks, results } = accessList(rules);
        await gateway.publish(home, { blocks }, signal);
        return results;
      });
    },
  };
}

export function gatewayRevert(gateway: Gateway): NonNullable<Driver['revert']> {
  return {
    toSnapshot: async (share, snapshot, rules, signal) => {
      const [home, source] = [gateway.share(share), gateway.snapshot(snapshot)];
      await gateway.exclusively([share.id, snapshot.id], signal, async () => {
        giveUpIf(signal, 'the revert');
        await assertThere(home);
        await assertThere(source);
        await whileReadOnly(gateway, home, rules, signal, () =>
          home.storage.revert(share.id, snapshot.id, share.size * GiB, signal),
        );
      });
    },
  };
}

/** Nobody writes while files are put back: see restore.ts. */
async function whileReadOnly(
  gateway: Gateway,
  home: Home,
  rules: readonly AccessRule[],
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  const { blocks } = accessList(rules);
  const readOnly = blocks.map((block) => ({ ...block, level: 'ro' as const }));
  await gateway.publish(home, { blocks: readOnly }, signal);
  try {
    await work();
  } finally {
    await gateway.publish(home, { blocks }, signal.aborted ? AbortSignal.timeout(10_000) : signal);
  }
}
