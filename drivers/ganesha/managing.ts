/**
 * Shares and snapshots that the back end has already. What is unmanaged waits, by name, in `unmanaged/` beside
 * `shares/` and in `unmanaged-snapshots/` beside `snapshots/` (of `<state directory>/volumes`, or of
 * `<data directory>/plain`): what Shoal let go is put there under the name it was exported by, and an operator may
 * put a directory or a subvolume there under any name. Export paths only name one of these: none leads elsewhere.
 * Moving there and back leaves contents, exports and open files as they are.
 */
import { type BackendShare, DriverError, type Managing } from '../driver.ts';
import { giveUpIf } from './command.ts';
import { pseudoPath } from './configuration.ts';
import { assertThere, type Gateway, type Home } from './gateway.ts';
import { GiB } from './settings.ts';
import type { Volume } from './storage.ts';

export function gatewayManaging(gateway: Gateway): Managing {
  const { exclusively } = gateway;
  return {
    share: async (share, options, signal) => {
      const home = gateway.share(share);
      const from = unmanagedShare(share, home);
      return exclusively([share.id, from.id], signal, async () => {
        giveUpIf(signal, 'the takeover');
        await take(home, from, signal);
        const size = await sizeFor(home, options, signal);
        await home.storage.resize(share.id, size * GiB, signal);
        await gateway.publish(home, { pseudo: pseudoPath('shares', from.id) }, signal);
        return { size, exportLocations: gateway.locations(home) };
      });
    },

    unmanageShare: async (share, signal) => {
      const home = gateway.share(share);
      const exported = home.serving?.record(share.id)?.pseudo;
      const to: Volume = { kind: 'unmanaged', id: exported?.split('/').at(-1) ?? share.id };
      await exclusively([share.id], signal, async () => {
        giveUpIf(signal, 'the release');
        await gateway.attached.close(home.volume, signal);
        await letGo(home, to, signal);
      });
    },

    snapshot: async (snapshot, _options, signal) => {
      const home = gateway.snapshot(snapshot);
      const from: Volume = {
        kind: 'unmanaged-snapshots',
        id: nameIn(snapshot.providerLocation ?? '', /^(?:(?:unmanaged-)?snapshots\/)?([^/]+)$/),
      };
      return exclusively([snapshot.id, from.id, snapshot.share.id], signal, async () => {
        giveUpIf(signal, 'the takeover');
        const there = (await home.storage.exists(from)) ? from : home.volume;
        await assertThere({ ...home, volume: there });
        if (!(await home.storage.isSnapshotOf(there, snapshot.share.id, signal)))
          throw new DriverError('invalid', `${from.id} is not a snapshot of share ${snapshot.share.shareId}`);
        await take(home, from, signal);
        const used = await home.storage.used(home.volume, signal);
        return {
          size: Math.max(1, Math.ceil(used / GiB)),
          providerLocation: `snapshots/${snapshot.id}`,
          exportLocations: gateway.locations(home),
        };
      });
    },

    unmanageSnapshot: async (snapshot, signal) => {
      const home = gateway.snapshot(snapshot);
      await exclusively([snapshot.id], signal, async () => {
        giveUpIf(signal, 'the release');
        await letGo(home, { kind: 'unmanaged-snapshots', id: snapshot.id }, signal);
      });
    },
  };
}

/** Where the share to be managed is, by the export location that was told. */
function unmanagedShare(share: BackendShare, { serving }: Home): Volume {
  const location = share.exportLocations?.[0]?.path ?? '';
  const colon = location.lastIndexOf(':');
  const host = location.slice(0, colon);
  if (serving !== undefined && host !== serving.exportHost)
    throw new DriverError(
      'invalid',
      `${location} is not of this back end: its export locations begin with ${serving.exportHost}:`,
    );
  return { kind: 'unmanaged', id: nameIn(location.slice(colon + 1), /^\/(?:shares|unmanaged)\/([^/]+)$/) };
}

/** A directory's name, safe in paths and in Ganesha's configuration. */
function nameIn(location: string, form: RegExp): string {
  const name = form.exec(location)?.[1] ?? '';
  if (!/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,200}$/.test(name))
    throw new DriverError(
      'invalid',
      `${JSON.stringify(location)} names nothing here: /shares/<name> is expected`,
    );
  return name;
}

/** Once as twice: what has been taken already stays so. */
async function take(home: Home, from: Volume, signal: AbortSignal): Promise<void> {
  const { storage, volume: to, serving } = home;
  if (!(await storage.exists(from)) && (await storage.exists(to))) return;
  await assertThere({ ...home, volume: from });
  await storage.move(from, to, signal);
  await serving?.rename(from.id, to.id, { kind: to.kind });
}

async function letGo(home: Home, to: Volume, signal: AbortSignal): Promise<void> {
  const { storage, volume: from, serving } = home;
  if (!(await storage.exists(from))) return;
  await storage.move(from, to, signal);
  await serving?.rename(from.id, to.id, { kind: to.kind });
}

/** GiB: what is asked for, else what it had, else what it needs. */
async function sizeFor(
  { storage, volume: at }: Home,
  options: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<number> {
  const needed = Math.max(1, Math.ceil((await storage.used(at, signal)) / GiB));
  if (options.size === undefined) return Math.max(needed, Math.ceil((await storage.sizeOf(at.id)) / GiB));
  const asked = Number(options.size);
  if (!Number.isInteger(asked) || asked < needed)
    throw new DriverError(
      'invalid',
      `size = ${options.size}: a whole number of GiB is expected, at least ${needed}`,
    );
  return asked;
}
