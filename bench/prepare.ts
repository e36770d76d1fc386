/**
 * The same data on both sides: share types, a project of 300 shares, and quotas that are in nobody's way. The
 * reference keeps it for the next run; what is there already is used.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { call, inParallel, projects, send, type Target } from './target.ts';

export const SHARES = 300;

interface ShareType {
  id: string;
  name: string;
  extra_specs: Record<string, string>;
}

const one = { driver_handles_share_servers: 'False' };
const snapshots = { snapshot_support: 'True', create_share_from_snapshot_support: 'True' };

/** As many as the recorded figures were measured with. */
const usualTypes: readonly Omit<ShareType, 'id'>[] = [
  { name: 'default', extra_specs: { ...one, ...snapshots, revert_to_snapshot_support: 'True' } },
  { name: 'plain', extra_specs: one },
  { name: 'alpha', extra_specs: { ...one, ...snapshots, share_backend_name: 'alpha' } },
  { name: 'snaponly', extra_specs: { ...one, snapshot_support: 'True' } },
  { name: 'nowhere', extra_specs: { ...one, share_backend_name: 'does-not-exist' } },
  { name: 'replicated', extra_specs: { ...one, ...snapshots, replication_type: 'readable' } },
  { name: 'dhss', extra_specs: { driver_handles_share_servers: 'True', ...snapshots } },
  { name: 'contract', extra_specs: { ...one, ...snapshots, mount_snapshot_support: 'True' } },
];

/** Share ids of the project that is read. */
export async function prepare(targets: readonly Target[], say: (line: string) => void): Promise<string[][]> {
  let types = usualTypes;
  // The reference comes first: the other gets the types that are there.
  const order = [...targets].sort((a) => (a.name === 'reference' ? -1 : 1));
  const shares = new Map<Target, string[]>();
  for (const target of order) {
    say(`${target.name}: share types and ${SHARES} shares`);
    types = await ensureTypes(target, types);
    for (const project of Object.values(projects)) await liftQuotas(target, project);
    shares.set(target, await ensureShares(target));
  }
  return targets.map((target) => shares.get(target)!);
}

/** Makes what is missing; answers all there are. */
async function ensureTypes(
  target: Target,
  wanted: readonly Omit<ShareType, 'id'>[],
): Promise<readonly Omit<ShareType, 'id'>[]> {
  const list = async () =>
    (await call<{ share_types: ShareType[] }>(target, { path: '/v2/types', admin: true })).share_types;
  const there = new Set((await list()).map(({ name }) => name));
  if (target.name === 'reference' && there.has('default')) return list();
  for (const { name, extra_specs } of wanted) {
    if (there.has(name)) continue;
    const share_type = { name, extra_specs, 'share_type_access:is_public': true };
    await call(target, { method: 'POST', path: '/v2/types', admin: true, body: { share_type } });
  }
  return list();
}

async function liftQuotas(target: Target, project: string): Promise<void> {
  const quota_set = { shares: -1, gigabytes: -1 };
  await call(target, {
    method: 'PUT',
    path: `/v2/quota-sets/${project}`,
    admin: true,
    body: { quota_set },
  });
}

async function ensureShares(target: Target): Promise<string[]> {
  const missing = SHARES - (await sharesIn(target, projects.reads)).length;
  if (missing > 0) {
    await inParallel(target, missing, 8, async (i, connection) => {
      const answer = await send(target, connection, createCall(projects.reads, `read ${i}`));
      if (answer.status !== 200)
        throw new Error(`${target.name} refused a share: ${JSON.stringify(answer.body)}`);
    });
    await settled(target, projects.reads);
  }
  return (await sharesIn(target, projects.reads)).slice(0, SHARES).map(({ id }) => id);
}

export function createCall(project: string, name: string) {
  const share = { share_proto: 'NFS', size: 1, name, share_type: 'default', metadata: { purpose: 'bench' } };
  return { method: 'POST', path: '/v2/shares', project, body: { share } } as const;
}

/** Deletes all shares of the project that gets the created ones, and waits for the end of it. */
export async function cleanUp(target: Target): Promise<void> {
  await settled(target, projects.creates);
  const left = await sharesIn(target, projects.creates);
  await inParallel(target, left.length, 8, async (i, connection) => {
    await send(target, connection, {
      method: 'DELETE',
      path: `/v2/shares/${left[i]!.id}`,
      project: projects.creates,
    });
  });
  await until(
    async () => (await sharesIn(target, projects.creates)).length === 0,
    `${target.name}: deletion`,
  );
}

/** Waits until no share of the project is on its way. */
export async function settled(target: Target, project: string): Promise<void> {
  await until(
    async () => (await sharesIn(target, project)).every(({ status }) => !status.endsWith('ing')),
    `${target.name}: shares on their way`,
  );
}

async function sharesIn(target: Target, project: string): Promise<{ id: string; status: string }[]> {
  const found: { id: string; status: string }[] = [];
  for (;;) {
    const path = `/v2/shares/detail?limit=500&offset=${found.length}`;
    const { shares } = await call<{ shares: typeof found }>(target, { path, project });
    found.push(...shares);
    if (shares.length < 500) return found;
  }
}

const SETTLING_SECONDS = 180;

async function until(check: () => Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + SETTLING_SECONDS * 1000;
  while (!(await check())) {
    if (performance.now() > end) throw new Error(`${what} took longer than ${SETTLING_SECONDS} s`);
    await sleep(500);
  }
}
