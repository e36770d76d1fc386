/** Opens shares to the data worker, as directories of this machine. */
import type { DataAccess } from '../driver.ts';
import { giveUpIf } from './command.ts';
import { assertThere, type Gateway } from './gateway.ts';

export function gatewayData(gateway: Gateway): DataAccess {
  const { attached } = gateway;
  return {
    attach: async (share, mode, signal) => {
      const home = gateway.share(share);
      return gateway.exclusively([share.id], signal, async () => {
        giveUpIf(signal, 'the attachment');
        await assertThere(home);
        return {
          kind: 'directory',
          path: await attached.open(home.volume, home.storage.directory(home.volume), mode, signal),
        };
      });
    },

    detach: async (share, signal) => {
      const home = gateway.share(share);
      await gateway.exclusively([share.id], signal, async () => {
        giveUpIf(signal, 'the detachment');
        await attached.close(home.volume, signal);
      });
    },
  };
}
