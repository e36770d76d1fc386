/** Lists beside that of shares: snapshots and access rules of one share each, and share networks. */
import { type Call, call, inParallel, projects, send, type Target } from './target.ts';

export const SNAPSHOTS = 50;
export const RULES = 50;
export const NETWORKS = 20;

/** Makes what is missing of each in the project that is read. */
export async function prepareLists(target: Target, shares: readonly string[]): Promise<void> {
  await call(target, {
    method: 'PUT',
    path: `/v2/quota-sets/${projects.reads}`,
    admin: true,
    body: { quota_set: { snapshots: -1, snapshot_gigabytes: -1, share_networks: -1 } },
  });
  const [ofSnapshots, ofRules] = shares as [string, string];
  await fill(target, { path: '/v2/snapshots', key: 'snapshots' }, SNAPSHOTS, (i) => ({
    path: '/v2/snapshots',
    body: { snapshot: { share_id: ofSnapshots, name: `read ${i}` } },
  }));
  await fill(
    target,
    { path: `/v2/share-access-rules?share_id=${ofRules}`, key: 'access_list' },
    RULES,
    (i) => ({
      path: `/v2/shares/${ofRules}/action`,
      body: { allow_access: { access_type: 'ip', access_to: `10.7.0.${i + 1}`, access_level: 'rw' } },
    }),
  );
  await fill(target, { path: '/v2/share-networks', key: 'share_networks' }, NETWORKS, (i) => ({
    path: '/v2/share-networks',
    body: { share_network: { name: `read ${i}` } },
  }));
}

async function fill(
  target: Target,
  list: { path: string; key: string },
  wanted: number,
  make: (i: number) => Call,
): Promise<void> {
  const there = (await call<Record<string, unknown[]>>(target, { path: list.path }))[list.key]!.length;
  await inParallel(target, Math.max(0, wanted - there), 4, async (i, connection) => {
    const { status, body } = await send(target, connection, { method: 'POST', ...make(there + i) });
    if (status > 299) throw new Error(`${target.name} refused ${list.key}: ${JSON.stringify(body)}`);
  });
}
