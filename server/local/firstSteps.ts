/**
 * What an operator would do first, done through the API: a default share type, a share, access for this machine,
 * and a file written and read over NFS. What is there from before is found again, not made twice.
 */
import type { ApiClient } from './apiClient.ts';

interface Share {
  id: string;
  name: string | null;
  size: number;
  status: string;
}

interface AccessRule {
  id: string;
  access_type: string;
  access_to: string;
  state: string;
}

/** The files of a mounted export. */
export interface Files {
  list(): Promise<string[]>;
  read(path: string): Promise<string>;
  write(path: string, text: string): Promise<void>;
  unmount(): Promise<void>;
}

export interface FirstSteps {
  share: Share;
  /** `127.0.0.1:/…` */
  exportLocation: string;
  /** where that is mounted from */
  port: number;
}

interface Tools {
  api: ApiClient;
  mount: (location: string, port: number) => Promise<Files>;
  say: (line: string) => void;
}

/** What the share is to be called; with a network, one of that name is made, and the share is served in it. */
export interface Demo {
  type: string;
  share: string;
  network?: string;
}

const nfsPort = 2049;
const fileName = '/hello.txt';
const client = '127.0.0.1';

/** Takes the steps, with a line said for each. */
export async function takeFirstSteps(
  { api, mount, say }: Tools,
  demo: Demo = { type: 'default', share: 'demo' },
): Promise<FirstSteps> {
  await haveType(api, demo, say);
  const share = await haveShare(api, demo, say);
  await haveAccess(api, share, say);
  const { path, metadata } = await preferredLocation(api, share);
  const port = Number(metadata?.port ?? nfsPort);
  const files = await mount(path, port);
  try {
    await haveFile(files, path, say);
  } finally {
    await files.unmount();
  }
  return { share, exportLocation: path, port };
}

async function haveType(api: ApiClient, { type, network }: Demo, say: Tools['say']): Promise<void> {
  const { share_types } = await api.get<{ share_types: { name: string }[] }>('/types');
  if (share_types.some(({ name }) => name === type)) return;
  await api.post('/types', {
    share_type: {
      name: type,
      extra_specs: {
        driver_handles_share_servers: network === undefined ? 'False' : 'True',
        snapshot_support: 'True',
        create_share_from_snapshot_support: 'True',
        revert_to_snapshot_support: 'True',
      },
    },
  });
  say(`made the share type ${type}`);
}

/** Answers the id. */
async function haveNetwork(api: ApiClient, name: string, say: Tools['say']): Promise<string> {
  const { share_networks } = await api.get<{ share_networks: { id: string; name: string | null }[] }>(
    '/share-networks',
  );
  const before = share_networks.find((network) => network.name === name);
  if (before) return before.id;
  const { share_network } = await api.post<{ share_network: { id: string } }>('/share-networks', {
    share_network: { name },
  });
  say(`made the share network ${name}`);
  return share_network.id;
}

async function haveShare(api: ApiClient, demo: Demo, say: Tools['say']): Promise<Share> {
  const { shares } = await api.get<{ shares: Share[] }>('/shares/detail');
  // told once, by the first of the demos
  for (const { name, id, size, status } of demo.network === undefined ? shares : [])
    say(`found the share ${name ?? id}, ${size} GiB, ${status}`);
  const before = shares.find(({ name, status }) => name === demo.share && status === 'available');
  if (before) return before;
  const network = demo.network && { share_network_id: await haveNetwork(api, demo.network, say) };
  const start = performance.now();
  const made = await api.post<{ share: Share }>('/shares', {
    share: { share_proto: 'NFS', size: 1, name: demo.share, share_type: demo.type, ...network },
  });
  say(`making the share ${demo.share}, 1 GiB: ${made.share.status}`);
  const share = await api.until<{ share: Share }, Share>(
    `/shares/${made.share.id}`,
    'the share',
    (answer) => {
      if (answer.share.status === 'error') return answer.share;
      return answer.share.status === 'available' ? answer.share : null;
    },
  );
  if (share.status === 'error')
    throw new Error(`the share could not be made: ${await reasonFor(api, share)}`);
  say(`making the share ${demo.share}: available after ${Math.round(performance.now() - start)} ms`);
  return share;
}

async function reasonFor(api: ApiClient, share: Share): Promise<string> {
  const query = `resource_id=${share.id}&limit=1&sort_key=created_at&sort_dir=desc`;
  const { messages } = await api.get<{ messages: { user_message: string }[] }>(`/messages?${query}`);
  return messages[0]?.user_message ?? 'no reason was given';
}

async function haveAccess(api: ApiClient, share: Share, say: Tools['say']): Promise<void> {
  const path = `/share-access-rules?share_id=${share.id}`;
  const rules = await api.get<{ access_list: AccessRule[] }>(path);
  const mine = (rule: AccessRule) => rule.access_type === 'ip' && rule.access_to === client;
  if (!rules.access_list.some(mine)) {
    await api.post(`/shares/${share.id}/action`, {
      allow_access: { access_type: 'ip', access_to: client, access_level: 'rw' },
    });
  }
  const rule = await api.until<{ access_list: AccessRule[] }, AccessRule>(path, 'the access rule', (answer) =>
    answer.access_list.find((one) => mine(one) && ['active', 'error'].includes(one.state)),
  );
  if (rule.state === 'error') throw new Error(`access for ${client} could not be given`);
  say(`${client} may read and write it`);
}

interface Location {
  path: string;
  preferred: boolean;
  metadata?: { port?: string };
}

async function preferredLocation(api: ApiClient, share: Share): Promise<Location> {
  const { export_locations } = await api.get<{ export_locations: Location[] }>(
    `/shares/${share.id}/export_locations`,
  );
  const location = export_locations.find(({ preferred }) => preferred) ?? export_locations[0];
  if (!location) throw new Error('the share has no export location');
  return location;
}

async function haveFile(files: Files, location: string, say: Tools['say']): Promise<void> {
  const name = fileName.slice(1);
  if (!(await files.list()).includes(name)) {
    await files.write(fileName, `Written over NFS to ${location} at ${new Date().toISOString()}\n`);
  }
  say(`${name}, read over NFS: ${(await files.read(fileName)).trim()}`);
}
