/** Opens shares to the data worker, as directories of this machine. */
import type { DataAccess } from '../driver.ts';
import { giveUpIf } from './command.ts';
import { type Gateway, volume } from './gateway.ts';

export function gatewayData(gateway: Gateway): DataAccess {
  const { attached } = gateway;
  return {
    attach: async (share, mode, signal) => {
      const at = volume('shares', share.id);
      return gateway.exclusively([at.id], signal, async () => {
        giveUpIf(signal, 'the attachment');
        await gateway.assertThere(at);
        return {
          kind: 'directory',
          path: await attached.open(at, gateway.storage.directory(at), mode, signal),
        };
      });
    },

    detach: async (share, signal) => {
      const at = volume('shares', share.id);
      await gateway.exclusively([at.id], signal, async () => {
        giveUpIf(signal, 'the detachment');
        await attached.close(at, signal);
      });
    },
  };
}
