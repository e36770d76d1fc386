/** Snapshots of the gateway. One is exported, read-only, as long as it has access rules. */
import type { Driver } from '../driver.ts';
import { accessList } from './accessList.ts';
import { giveUpIf } from './command.ts';
import { assertThere, type Gateway } from './gateway.ts';

export function gatewaySnapshots(gateway: Gateway): NonNullable<Driver['snapshots']> {
  return {
    create: async (snapshot, signal) => {
      const [home, source] = [gateway.snapshot(snapshot), gateway.share(snapshot.share)];
      return gateway.exclusively([snapshot.id, snapshot.share.id], signal, async () => {
        giveUpIf(signal, 'the snapshot');
        if (!(await home.storage.exists(home.volume))) await assertThere(source);
        await home.storage.snapshot(snapshot.share.id, snapshot.id, signal);
        return { providerLocation: `snapshots/${snapshot.id}`, exportLocations: gateway.locations(home) };
      });
    },

    delete: async (snapshot, signal) => {
      const home = gateway.snapshot(snapshot);
      await gateway.exclusively([snapshot.id], signal, async () => {
        giveUpIf(signal, 'the delete');
        await gateway.withdraw(home, signal);
        await home.storage.remove(home.volume, signal);
      });
    },

    syncAccess: async (snapshot, rules, signal) => {
      const home = gateway.snapshot(snapshot);
      return gateway.exclusively([snapshot.id], signal, async () => {
        giveUpIf(signal, 'the access change');
        await assertThere(home);
        const { blocks, results } = accessList(rules.map((rule) => ({ ...rule, accessLevel: 'ro' })));
        if (blocks.length === 0) await gateway.withdraw(home, signal);
        else await gateway.publish(home, { blocks }, signal);
        return results;
      });
    },
  };
}
