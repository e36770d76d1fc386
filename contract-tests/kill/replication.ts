/** What a client does with a share and its replicas while parts of the service die. */
import type { Answer, PatientClient } from './client.ts';
import { create, remove } from './lifecycle.ts';

interface Replica {
  id: string;
  status: string;
  replica_state: string;
}

const replicasOf = async (client: PatientClient, shareId: string): Promise<Replica[]> =>
  (await client.ask('GET', `/share-replicas?share_id=${shareId}`)).body.share_replicas;

const settled = (answer: Answer): boolean =>
  ['available', 'error'].includes(answer.body?.share_replica?.status);

/** One life of a replicated share: another replica takes the first one's place. */
export async function replicateOnce(client: PatientClient, name: string): Promise<void> {
  const id = await create(client, name, 'replicated');
  await client.until(`/shares/${id}`, (a) => a.body?.share?.status === 'available', 'available');
  const other = await replicate(client, id);
  await client.ask('POST', `/share-replicas/${other.id}/action`, { promote: null });
  await client.until(
    `/share-replicas/${other.id}`,
    (a) => a.body?.share_replica?.status === 'available' && a.body.share_replica.replica_state === 'active',
    'active',
  );
  await removeReplicas(client, id);
  await remove(client, `/shares/${id}`);
}

/** A replica in sync. One that found no pool, since back ends just came back, is deleted and asked for again. */
async function replicate(client: PatientClient, shareId: string): Promise<Replica> {
  for (let attempt = 1; attempt <= 10; attempt++) {
    await client.ask('POST', '/share-replicas', { share_replica: { share_id: shareId } });
    for (const { id } of await replicasOf(client, shareId))
      await client.until(`/share-replicas/${id}`, settled, 'settled');
    const ready = (await replicasOf(client, shareId)).find(
      ({ status, replica_state }) => status === 'available' && replica_state === 'in_sync',
    );
    if (ready) return ready;
    await removeReplicas(client, shareId);
  }
  throw new Error(`share ${shareId} never had a replica in sync`);
}

/** Deletes all replicas of a share but the active one. */
export async function removeReplicas(client: PatientClient, shareId: string): Promise<void> {
  for (const { id, replica_state } of await replicasOf(client, shareId)) {
    if (replica_state === 'active') continue;
    await client.until(`/share-replicas/${id}`, (a) => a.status === 404 || settled(a), 'settled');
    await remove(client, `/share-replicas/${id}`);
  }
}
