/** What the flows ask of the API and of exports: one share at a time, waited for. */
import type { ApiClient } from '../../server/local/apiClient.ts';
import { mountNfs } from '../../server/local/nfs/client.ts';

export interface Share {
  id: string;
  host: string;
  status: string;
  task_state: string | null;
  share_server_id: string | null;
}
export interface Location {
  path: string;
  preferred: boolean;
  metadata: { port?: string };
}

/** A share of 1 GiB, available, that this machine may write to. */
export async function makeShare(client: ApiClient, over: object = {}): Promise<Share> {
  const asked = { share_proto: 'NFS', size: 1, share_type: 'default', ...over };
  const { share } = await client.post<{ share: Share }>('/shares', { share: asked });
  await settled(client, share.id);
  await allow(client, share.id);
  return share;
}

/** Lets this machine read and write the share. */
export async function allow(client: ApiClient, id: string): Promise<void> {
  await client.post(`/shares/${id}/action`, {
    allow_access: { access_type: 'ip', access_to: '127.0.0.0/8', access_level: 'rw' },
  });
  await accessActive(client, id);
}

/** Waits until nothing is done with the share any more, which must have ended well. */
export async function settled(client: ApiClient, id: string): Promise<Share> {
  const found = await client.until<{ share: Share }, Share>(`/shares/${id}`, 'the share', ({ share }) =>
    share.status === 'available' || /error/.test(share.status) ? share : null,
  );
  expect(found.status).toBe('available');
  return found;
}

/** Waits until all rules of the share hold. */
export async function accessActive(client: ApiClient, id: string): Promise<void> {
  await client.until<{ access_list: { state: string }[] }, true>(
    `/share-access-rules?share_id=${id}`,
    'access',
    ({ access_list }) => access_list.every((rule) => rule.state === 'active') || null,
  );
}

/** The preferred one of the export locations that `path` lists. */
export async function locationOf(client: ApiClient, path: string): Promise<Location> {
  const { export_locations } = await client.get<{ export_locations: Location[] }>(path);
  return export_locations.find(({ preferred }) => preferred)!;
}

/** The files of an export, mounted. */
export async function filesAt(location: Location): ReturnType<typeof mountNfs> {
  return mountNfs(location.path, { port: Number(location.metadata.port ?? 2049) });
}

/** What the file of the share says. */
export async function read(client: ApiClient, id: string): Promise<string> {
  const nfs = await filesAt(await locationOf(client, `/shares/${id}/export_locations`));
  try {
    return await nfs.read('/file');
  } finally {
    await nfs.unmount();
  }
}

/** Writes the file of the share, there or not. */
export async function write(client: ApiClient, id: string, text: string): Promise<void> {
  const nfs = await filesAt(await locationOf(client, `/shares/${id}/export_locations`));
  try {
    await nfs.write('/file', text);
  } finally {
    await nfs.unmount();
  }
}
