/**
 * Share groups. A group is nothing by itself here; the snapshots of its members are taken while the NFS server
 * stands still, so that they are of one moment: whatever a client was told is written is in all of them, and
 * nothing that came after is in any.
 */
import type { BackendSnapshot, Groups, SnapshotCreated } from '../driver.ts';
import { giveUpIf } from './command.ts';
import { assertThere, type Gateway, type Home } from './gateway.ts';

export function gatewayGroups(gateway: Gateway): Groups {
  return {
    create: async (_group, signal) => giveUpIf(signal, 'the creation'),

    delete: async (_group, signal) => giveUpIf(signal, 'the delete'),

    createSnapshot: async ({ members }, signal) => {
      const ids = members.flatMap(({ id, share }) => [id, share.id]);
      return gateway.exclusively(ids, signal, async () => {
        giveUpIf(signal, 'the snapshots');
        const created = new Map<string, SnapshotCreated>();
        const wanting: { member: BackendSnapshot; home: Home }[] = [];
        for (const member of members) {
          const [home, source] = [gateway.snapshot(member), gateway.share(member.share)];
          created.set(member.id, {
            providerLocation: `snapshots/${member.id}`,
            exportLocations: gateway.locations(home),
          });
          if (await home.storage.exists(home.volume)) continue;
          await assertThere(source);
          await home.storage.flush(signal);
          wanting.push({ member, home });
        }
        const take = async (): Promise<void> => {
          for (const { member, home } of wanting)
            await home.storage.snapshot(member.share.id, member.id, signal);
        };
        const [first] = wanting;
        if (first?.home.serving && first.home.storage.instantSnapshots) await first.home.serving.paused(take);
        else await take();
        return created;
      });
    },

    deleteSnapshot: async ({ members }, signal) => {
      for (const member of members) {
        const home = gateway.snapshot(member);
        await gateway.exclusively([member.id], signal, async () => {
          giveUpIf(signal, 'the delete');
          await gateway.withdraw(home, signal);
          await home.storage.remove(home.volume, signal);
        });
      }
    },
  };
}
