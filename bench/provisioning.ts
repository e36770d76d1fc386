/** From POST to a share that can be used, with clients that look for it every so often. */
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from './percentile.ts';
import { createCall } from './prepare.ts';
import { inParallel, projects, send, type Target } from './target.ts';

/** Milliseconds, right to within POLL_MS. */
export interface Provisioned {
  shares: number;
  p50: number;
  p90: number;
}

/** Between looks: seldom enough that looking isn't what is measured. */
const POLL_MS = 20;
const DEADLINE_MS = 60_000;

export async function provision(target: Target, clients: number, count: number): Promise<Provisioned> {
  const times: number[] = [];
  await inParallel(target, count, clients, async (i, connection) => {
    const begin = performance.now();
    const created = await send(target, connection, createCall(projects.creates, `provisioned ${i}`));
    let share = shareIn(created.body);
    const path = `/v2/shares/${share.id}`;
    while (share.status !== 'available') {
      if (share.status === 'error') throw new Error(`${target.name}: share ${share.id} became error`);
      if (performance.now() - begin > DEADLINE_MS)
        throw new Error(`${target.name}: share ${share.id} is ${share.status} after ${DEADLINE_MS / 1000} s`);
      await sleep(POLL_MS);
      share = shareIn((await send(target, connection, { path, project: projects.creates })).body);
    }
    times.push(performance.now() - begin);
  });
  return { shares: count, p50: percentile(times, 50), p90: percentile(times, 90) };
}

function shareIn(body: unknown): { id: string; status: string } {
  const { share } = body as { share?: { id: string; status: string } };
  if (!share) throw new Error(`no share in ${JSON.stringify(body)}`);
  return share;
}
