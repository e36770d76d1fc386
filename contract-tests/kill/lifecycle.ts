/** What a client does with a share, from creation to deletion, while parts of the service die. */
import type { Answer, PatientClient } from './client.ts';

const settled = (answer: Answer): boolean => ['available', 'error'].includes(answer.body?.share?.status);

/** One whole life of a share; each step is waited for. */
export async function liveOnce(client: PatientClient, name: string): Promise<void> {
  const id = await create(client, name);
  await client.until(`/shares/${id}`, (a) => a.body?.share?.status === 'available', 'available');
  await allow(client, id);
  await snapshotAndBack(client, id);
  await client.ask('POST', `/shares/${id}/action`, { extend: { new_size: 2 } });
  await client.until(`/shares/${id}`, settled, 'settled');
  await remove(client, `/shares/${id}`);
}

/** A creation whose answer was lost may have happened: the share is found by its name. */
export async function create(client: PatientClient, name: string, share_type = 'default'): Promise<string> {
  const share = { share_proto: 'NFS', size: 1, name, share_type };
  const answer = await client.ask('POST', '/shares', { share });
  if (answer.status !== 200) throw new Error(`creation refused: ${JSON.stringify(answer.body)}`);
  return answer.body.share.id as string;
}

async function allow(client: PatientClient, id: string): Promise<void> {
  const rule = { access_type: 'ip', access_to: '10.0.0.1', access_level: 'rw' };
  // 400: an attempt whose answer was lost has made the rule.
  await client.ask('POST', `/shares/${id}/action`, { allow_access: rule });
  await client.until(
    `/share-access-rules?share_id=${id}`,
    (a) => a.body?.access_list?.some((each: { state: string }) => each.state === 'active'),
    'active',
  );
}

async function snapshotAndBack(client: PatientClient, shareId: string): Promise<void> {
  await client.ask('POST', '/snapshots', { snapshot: { share_id: shareId } });
  const list = await client.until(
    `/snapshots/detail?share_id=${shareId}`,
    (a) =>
      a.body?.snapshots?.length > 0 &&
      a.body.snapshots.every((s: { status: string }) => s.status !== 'creating'),
    'made',
  );
  for (const { id } of list.body.snapshots as { id: string }[]) await remove(client, `/snapshots/${id}`);
}

/** Deletes and waits until it is gone; a deletion that is under way already is waited for alike. */
export async function remove(client: PatientClient, path: string): Promise<void> {
  await client.ask('DELETE', path);
  await client.until(path, (a) => a.status === 404, 'gone');
}
