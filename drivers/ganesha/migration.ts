/**
 * Moving a share to another pool of the back end. It is copied while it serves, by this process and on its own;
 * when the move is completed it takes no more writing, what changed meanwhile is copied, and the copy is opened.
 * A worker that is killed copies on where it was, since what is the same is left alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { BackendShare, Migration } from '../driver.ts';
import { accessList } from './accessList.ts';
import { giveUpIf } from './command.ts';
import { assertThere, type Gateway } from './gateway.ts';
import { copy } from './replication.ts';
import { GiB } from './settings.ts';

/** for so long a step waits for the end of the copy */
const STEP_MS = 500;

interface Copying {
  abort: AbortController;
  ended: Promise<void>;
  outcome: 'running' | 'done' | { failed: unknown };
}

export function gatewayMigration(gateway: Gateway): Migration {
  /** by the destination's id */
  const running = new Map<string, Copying>();

  const begin = (source: BackendShare, destination: BackendShare): Copying => {
    const abort = new AbortController();
    const copying: Copying = { abort, ended: Promise.resolve(), outcome: 'running' };
    const run = async (): Promise<void> => {
      try {
        await copy(gateway.share(source), gateway.share(destination), source.size, abort.signal);
        copying.outcome = 'done';
      } catch (error) {
        copying.outcome = { failed: error };
      }
    };
    copying.ended = run();
    running.set(destination.id, copying);
    return copying;
  };

  const end = async (destination: BackendShare): Promise<void> => {
    const copying = running.get(destination.id);
    copying?.abort.abort(new Error('the migration ends'));
    await copying?.ended;
    running.delete(destination.id);
  };

  return {
    check: async (source, destination, signal) => {
      giveUpIf(signal, 'the check');
      const compatible =
        source.pool !== destination.pool && gateway.isOurs(source) && gateway.isOurs(destination);
      return {
        compatible: compatible && source.server?.id === destination.server?.id,
        writable: true,
        preserveMetadata: true,
        nondisruptive: false,
        preserveSnapshots: false,
      };
    },

    start: async (source, destination, signal) => {
      const [from, to] = [gateway.share(source), gateway.share(destination)];
      await gateway.exclusively([source.id, destination.id], signal, async () => {
        giveUpIf(signal, 'the migration');
        await assertThere(from);
        if (!(await to.storage.exists(to.volume))) await gateway.assertRoom(to.storage, source.size * GiB);
        await to.storage.create(destination.id, source.size * GiB, signal);
        await gateway.publish(to, { blocks: [], readOnly: true }, signal);
        if (!running.has(destination.id)) begin(source, destination);
      });
    },

    continue: async (source, destination, signal) => {
      giveUpIf(signal, 'the migration');
      const copying = running.get(destination.id) ?? begin(source, destination);
      await Promise.race([copying.ended, sleep(STEP_MS)]);
      const { outcome } = copying;
      if (typeof outcome === 'string') return outcome === 'done';
      running.delete(destination.id);
      throw outcome.failed;
    },

    progress: async (source, destination, signal) => {
      giveUpIf(signal, 'the look');
      if (running.get(destination.id)?.outcome === 'done') return 100;
      const [from, to] = [gateway.share(source), gateway.share(destination)];
      if (!(await to.storage.exists(to.volume))) return 0;
      const [whole, done] = [
        await from.storage.used(from.volume, signal),
        await to.storage.used(to.volume, signal),
      ];
      return Math.min(99, Math.floor((100 * done) / Math.max(1, whole)));
    },

    complete: async (source, destination, rules, signal) => {
      await end(destination);
      const [from, to] = [gateway.share(source), gateway.share(destination)];
      return gateway.exclusively([source.id, destination.id], signal, async () => {
        giveUpIf(signal, 'the migration');
        await assertThere(to);
        // opened already, by a run that was killed: what clients wrote since is not to be lost
        if (to.serving?.record(destination.id)?.readOnly !== false) {
          await gateway.publish(from, { readOnly: true }, signal);
          try {
            await copy(from, to, source.size, signal);
          } catch (error) {
            await gateway.publish(from, { readOnly: false }, AbortSignal.timeout(10_000));
            throw error;
          }
        }
        await gateway.publish(to, { blocks: accessList(rules).blocks, readOnly: false }, signal);
        return gateway.locations(to);
      });
    },

    cancel: async (source, destination, signal) => {
      await end(destination);
      const [from, to] = [gateway.share(source), gateway.share(destination)];
      await gateway.exclusively([source.id, destination.id], signal, async () => {
        giveUpIf(signal, 'the cancellation');
        if (from.serving?.record(source.id)?.readOnly)
          await gateway.publish(from, { readOnly: false }, signal);
        await gateway.withdraw(to, signal);
        await to.storage.remove(to.volume, signal);
      });
    },
  };
}
