/** Snapshots of the gateway. One is exported, read-only, as long as it has access rules. */
import type { Driver } from '../driver.ts';
import { accessList } from './accessList.ts';
import { giveUpIf } from './command.ts';
import { type Gateway, volume } from './gateway.ts';

export function gatewaySnapshots(gateway: Gateway): NonNullable<Driver['snapshots']> {
  return {
    create: async (snapshot, signal) => {
      const [at, source] = [volume('snapshots', snapshot.id), volume('shares', snapshot.share.id)];
      return gateway.exclusively([at.id, source.id], signal, async () => {
        giveUpIf(signal, 'the snapshot');
        if (!(await gateway.storage.exists(at))) await gateway.assertThere(source);
        await gateway.storage.snapshot(source.id, at.id, signal);
        return { providerLocation: `snapshots/${at.id}`, exportLocations: gateway.locations(at) };
      });
    },

    delete: async (snapshot, signal) => {
      const at = volume('snapshots', snapshot.id);
      await gateway.exclusively([at.id], signal, async () => {
        giveUpIf(signal, 'the delete');
        await gateway.withdraw(at, signal);
        await gateway.storage.remove(at, signal);
      });
    },

    syncAccess: async (snapshot, rules, signal) => {
      const at = volume('snapshots', snapshot.id);
      return gateway.exclusively([at.id], signal, async () => {
        giveUpIf(signal, 'the access change');
        await gateway.assertThere(at);
        const { blocks, results } = accessList(rules.map((rule) => ({ ...rule, accessLevel: 'ro' })));
        if (blocks.length === 0) await gateway.withdraw(at, signal);
        else await gateway.publish(at, blocks, signal);
        return results;
      });
    },
  };
}
