/**
 * The long flows through the API with real data: what clients wrote over NFS is looked at before and after shares
 * move, are replicated, backed up, let go and taken back, and tenants' shares are apart.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeHere } from '../../drivers/ganesha/workbench.ts';
import { type ApiClient, apiClient } from '../../server/local/apiClient.ts';
import { tenants } from '../../server/local/profiles/local.ts';
import { type Stack, startStack } from '../../server/local/stack.ts';
import {
  accessActive,
  allow,
  filesAt,
  locationOf,
  makeShare,
  read,
  type Share,
  settled,
  write,
} from './client.ts';

const ann = 'ann:a11ce:admin,member,reader';
const bob = 'bob:b0b:member,reader';

describeHere('the long flows', () => {
  let state: string;
  let stack: Stack;
  let api: ApiClient;
  let bobs: ApiClient;

  beforeAll(async () => {
    state = await mkdtemp(join(tmpdir(), 'shoal-flows-'));
    stack = await startStack({ profile: tenants, port: 0, stateDirectory: state, say: () => {} });
    api = apiClient(stack.url, ann);
    bobs = apiClient(stack.url, bob);
    await makeType('default', { driver_handles_share_servers: 'False' });
    await makeType('replicated', { driver_handles_share_servers: 'False', replication_type: 'readable' });
    await makeType('tenants', { driver_handles_share_servers: 'True' });
  }, 120_000);

  afterAll(async () => {
    await stack?.stop();
    if (state) await rm(state, { recursive: true, force: true });
  }, 60_000);

  const step = (name: string, work: () => Promise<void>) => test(name, work, 120_000);

  async function makeType(name: string, specs: Record<string, string>): Promise<void> {
    const extra_specs = { snapshot_support: 'True', create_share_from_snapshot_support: 'True', ...specs };
    await api.post('/types', { share_type: { name, extra_specs } });
  }

  step('tenants with networks of their own have servers of their own', async () => {
    const networkOf = async (client: ApiClient) =>
      (await client.post<{ share_network: { id: string } }>('/share-networks', { share_network: {} }))
        .share_network.id;
    const [anns, theirs] = [await networkOf(api), await networkOf(bobs)];
    const on = (share_network_id: string) => ({ share_type: 'tenants', share_network_id });
    const [one, two, other] = await Promise.all([
      makeShare(api, on(anns)),
      makeShare(api, on(anns)),
      makeShare(bobs, on(theirs)),
    ]);
    for (const [client, share] of [
      [api, one],
      [api, two],
      [bobs, other],
    ] as const)
      await write(client, share.id, share.id);
    for (const [client, share] of [
      [api, one],
      [api, two],
      [bobs, other],
    ] as const)
      expect(await read(client, share.id)).toBe(share.id);
    const [mine, shared, his] = await Promise.all(
      [one, two, other].map(async ({ id }) => (await api.get<{ share: Share }>(`/shares/${id}`)).share),
    );
    expect(mine!.share_server_id).toBe(shared!.share_server_id);
    expect(his!.share_server_id).not.toBe(mine!.share_server_id);
    // bob's export isn't there on ann's server
    const [at, elsewhere] = [
      await locationOf(api, `/shares/${one.id}/export_locations`),
      await locationOf(bobs, `/shares/${other.id}/export_locations`),
    ];
    const path = `${at.path.split(':')[0]}:${elsewhere.path.split(':')[1]}`;
    await expect(filesAt({ ...at, path })).rejects.toThrow(/NFS/);
  });

  step('a replica follows, and takes over', async () => {
    const share = await makeShare(api, { share_type: 'replicated' });
    await write(api, share.id, 'before');
    const { share_replica } = await api.post<{ share_replica: { id: string } }>('/share-replicas', {
      share_replica: { share_id: share.id },
    });
    const path = `/share-replicas/${share_replica.id}`;
    const stateIs = (wanted: string) =>
      api.until<{ share_replica: { replica_state: string; status: string } }, true>(
        path,
        `a replica that is ${wanted}`,
        ({ share_replica: { replica_state, status } }) =>
          (replica_state === wanted && status === 'available') || null,
      );
    await stateIs('in_sync');
    await write(api, share.id, 'after');
    await api.post(`${path}/action`, { promote: {} });
    await stateIs('active');
    await accessActive(api, share.id);
    const nfs = await filesAt(await locationOf(api, `${path}/export-locations`));
    expect(await nfs.read('/file')).toBe('after');
    await nfs.write('/file', 'written to the new one');
    await nfs.unmount();
  });

  const taskIs = (id: string, wanted: string) =>
    api.until<{ share: Share }, true>(`/shares/${id}`, `the task ${wanted}`, ({ share }) => {
      if (/error/.test(share.task_state ?? '')) throw new Error(`the task is ${share.task_state}`);
      return share.task_state === wanted || null;
    });

  test.each([
    ['by the back end itself', false],
    ["by the data worker's copy", true],
  ])(
    'a share moves to another pool %s, once its first move is given up',
    async (_, force_host_assisted_migration) => {
      const { id } = await makeShare(api);
      await write(api, id, 'before');
      // the scheduler may have chosen either pool
      const [from, to] = ['localhost@ganesha#ganesha', 'localhost@ganesha#second'];
      const host = (await settled(api, id)).host === from ? to : from;
      const act = (action: object) => api.post(`/shares/${id}/action`, action);
      const migration_start = {
        host,
        force_host_assisted_migration,
        preserve_metadata: !force_host_assisted_migration,
        preserve_snapshots: false,
        nondisruptive: false,
        writable: !force_host_assisted_migration,
      };
      const done = force_host_assisted_migration ? 'data_copying_completed' : 'migration_driver_phase1_done';
      await act({ migration_start });
      await taskIs(id, done);
      await act({ migration_cancel: null });
      await taskIs(id, 'migration_cancelled');
      await settled(api, id);
      await accessActive(api, id);
      await write(api, id, 'meanwhile');
      await act({ migration_start });
      await taskIs(id, done);
      if (!force_host_assisted_migration) await write(api, id, 'last');
      await act({ migration_complete: null });
      await taskIs(id, 'migration_success');
      expect((await settled(api, id)).host).toBe(host);
      await accessActive(api, id);
      expect(await read(api, id)).toBe(force_host_assisted_migration ? 'meanwhile' : 'last');
      await write(api, id, 'after');
    },
    120_000,
  );

  step('a backup is restored, to the share and to another', async () => {
    const { id } = await makeShare(api);
    await write(api, id, 'backed up');
    const { share_backup } = await api.post<{ share_backup: { id: string } }>('/share-backups', {
      share_backup: { share_id: id, name: 'evening' },
    });
    const path = `/share-backups/${share_backup.id}`;
    const available = () =>
      api.until<{ share_backup: { status: string } }, true>(
        path,
        'the backup',
        ({ share_backup: { status } }) => {
          if (/error/.test(status)) throw new Error(`the backup is ${status}`);
          return status === 'available' || null;
        },
      );
    await available();
    await settled(api, id);
    await write(api, id, 'lost');
    await api.post(`${path}/action`, { restore: null });
    await available();
    await settled(api, id);
    expect(await read(api, id)).toBe('backed up');
    const other = await makeShare(api);
    await api.post(`${path}/action`, { restore: { target_share_id: other.id } });
    await available();
    await settled(api, other.id);
    expect(await read(api, other.id)).toBe('backed up');
  });

  step('a share is let go, serves on, and is taken back with its snapshot', async () => {
    const { id } = await makeShare(api);
    await write(api, id, 'before');
    const { path } = await locationOf(api, `/shares/${id}/export_locations`);
    const { host } = (await api.get<{ share: Share }>(`/shares/${id}`)).share;
    const { snapshot } = await api.post<{ snapshot: { id: string } }>('/snapshots', {
      snapshot: { share_id: id },
    });
    const at = await api.until<{ snapshot: { status: string; provider_location: string } }, string>(
      `/snapshots/${snapshot.id}`,
      'the snapshot',
      ({ snapshot: { status, provider_location } }) => (status === 'available' ? provider_location : null),
    );
    await write(api, id, 'after');
    const gone = async (collection: 'shares' | 'snapshots', gone: string): Promise<void> => {
      await api.until<Record<string, { id: string }[]>, true>(
        `/${collection}`,
        'its going',
        (answer) => answer[collection]!.every((one) => one.id !== gone) || null,
      );
    };
    await api.post(`/snapshots/${snapshot.id}/action`, { unmanage: null });
    await gone('snapshots', snapshot.id);
    await api.post(`/shares/${id}/action`, { unmanage: null });
    await gone('shares', id);
    const { share } = await api.post<{ share: Share }>('/shares/manage', {
      share: { protocol: 'nfs', export_path: path, service_host: host, share_type: 'default' },
    });
    await api.until<{ share: Share }, true>(
      `/shares/${share.id}`,
      'the share',
      ({ share: { status } }) => status === 'available' || /error/.test(status) || null,
    );
    await settled(api, share.id);
    expect((await locationOf(api, `/shares/${share.id}/export_locations`)).path).toBe(path);
    await api.post(`/shares/${share.id}/action`, {
      allow_access: { access_type: 'ip', access_to: '127.0.0.1', access_level: 'rw' },
    });
    await accessActive(api, share.id);
    expect(await read(api, share.id)).toBe('after');
    const taken = await api.post<{ snapshot: { id: string } }>('/snapshots/manage', {
      snapshot: { share_id: share.id, provider_location: at },
    });
    await api.until<{ snapshot: { status: string } }, true>(
      `/snapshots/${taken.snapshot.id}`,
      'the snapshot',
      ({ snapshot: { status } }) => {
        if (/error/.test(status)) throw new Error(`the snapshot is ${status}`);
        return status === 'available' || null;
      },
    );
  });

  step('the shares of a group are snapshotted together, and made anew from that', async () => {
    const { share_types } = await api.get<{ share_types: { id: string; name: string }[] }>('/types');
    const ofShares = share_types.find(({ name }) => name === 'default')!.id;
    const { share_group_type } = await api.post<{ share_group_type: { id: string } }>('/share-group-types', {
      share_group_type: { name: 'together', share_types: [ofShares] },
    });
    const available = (what: string, path: string) =>
      api.until<Record<string, { status: string }>, true>(path, what, (answer) => {
        if (answer[what]!.status === 'error') throw new Error(`the ${what} is in error`);
        return answer[what]!.status === 'available' || null;
      });
    const make = async (from: object): Promise<string> => {
      const { share_group } = await api.post<{ share_group: { id: string } }>('/share-groups', {
        share_group: { share_group_type_id: share_group_type.id, ...from },
      });
      await available('share_group', `/share-groups/${share_group.id}`);
      return share_group.id;
    };
    const group = await make({ share_types: [ofShares] });
    const members = [
      await makeShare(api, { share_group_id: group, name: 'one' }),
      await makeShare(api, { share_group_id: group, name: 'two' }),
    ];
    for (const { id } of members) await write(api, id, id);
    const { share_group_snapshot } = await api.post<{ share_group_snapshot: { id: string } }>(
      '/share-group-snapshots',
      { share_group_snapshot: { share_group_id: group } },
    );
    await available('share_group_snapshot', `/share-group-snapshots/${share_group_snapshot.id}`);
    for (const { id } of members) await write(api, id, 'later');
    const second = await make({ source_share_group_snapshot_id: share_group_snapshot.id });
    const { shares } = await api.get<{ shares: { id: string }[] }>(`/shares?share_group_id=${second}`);
    const found = [];
    for (const { id } of shares) {
      await settled(api, id);
      await allow(api, id);
      found.push(await read(api, id));
    }
    expect(found.sort()).toEqual(members.map(({ id }) => id).sort());
  });

  step("a share server's shares move to another network's server", async () => {
    const networkOf = async () =>
      (await api.post<{ share_network: { id: string } }>('/share-networks', { share_network: {} }))
        .share_network.id;
    const [from, to] = [await networkOf(), await networkOf()];
    const { id } = await makeShare(api, { share_type: 'tenants', share_network_id: from });
    await write(api, id, 'before');
    const server = (await api.get<{ share: Share }>(`/shares/${id}`)).share.share_server_id!;
    const act = (action: object) => api.post(`/share-servers/${server}/action`, action);
    const migration_start = {
      host: 'localhost@tenants',
      writable: true,
      nondisruptive: false,
      preserve_snapshots: true,
      new_share_network_id: to,
    };
    await act({ migration_start });
    await api.until<{ share_server: { task_state: string | null } }, true>(
      `/share-servers/${server}`,
      'the first phase',
      ({ share_server: { task_state } }) => {
        if (/error/.test(task_state ?? '')) throw new Error(`the task is ${task_state}`);
        return task_state === 'migration_driver_phase1_done' || null;
      },
    );
    await write(api, id, 'meanwhile');
    await act({ migration_complete: null });
    await api.until<{ share: Share }, true>(
      `/shares/${id}`,
      'the share on its new server',
      ({ share }) => (share.status === 'available' && share.share_server_id !== server) || null,
    );
    expect(await read(api, id)).toBe('meanwhile');
    await write(api, id, 'after');
  });
});
