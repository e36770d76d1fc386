import { randomUUID } from 'node:crypto';
import { enqueue } from '#db/outbox.ts';
import { insertShareGroupSnapshot } from '#db/shareGroupSnapshots.ts';
import { insertShareGroup } from '#db/shareGroups.ts';
import { shareGroupJobs, shareGroupLife, shareGroupSnapshotLife } from '#domain/shareGroups.ts';
import { now } from '#domain/time.ts';
import { type Driver, DriverError } from '#drivers/driver.ts';
import { HOST, startWorld, type World } from '#server/local/testing/world.ts';

let world: World;
let groupTypeId: string;
beforeAll(async () => {
  world = await startWorld();
  groupTypeId = randomUUID();
  await world.db.run`
    INSERT INTO share_group_types (id, created_at, deleted, name, is_public)
    VALUES (${groupTypeId}, UTC_TIMESTAMP(6), 'False', 'any', 1)`;
});
afterAll(() => world.close());
afterEach(() => world.rebuild());

const requester = { requestId: 'req-1', userId: 'u', projectId: 'p' };

/** A group with shares in it, on a pool. */
async function group({ status = 'available', members = 0, host = `${HOST}#pool` } = {}) {
  const id = randomUUID();
  const projectId = randomUUID();
  const typeId = randomUUID();
  await world.db.run`
    INSERT INTO share_types (id, created_at, deleted, name, is_public) VALUES (${typeId}, UTC_TIMESTAMP(6), 'False', ${typeId}, 1)`;
  await world.db.transaction((tx) =>
    insertShareGroup(tx, {
      id,
      createdAt: now(),
      userId: 'u',
      projectId,
      name: null,
      description: null,
      status,
      host,
      shareGroupTypeId: groupTypeId,
      sourceSnapshotId: null,
      shareNetworkId: null,
      shareServerId: null,
      availabilityZoneId: null,
      shareTypes: [typeId],
    }),
  );
  const shares = [];
  for (let i = 0; i < members; i++) shares.push(await world.share({ projectId, shareGroupId: id }));
  return { id, projectId, shares };
}

/** A snapshot of the group in this state, its members in the same. */
async function snapshotOf(of: Awaited<ReturnType<typeof group>>, status: string): Promise<string> {
  const id = randomUUID();
  await world.db.transaction((tx) =>
    insertShareGroupSnapshot(tx, {
      id,
      createdAt: now(),
      userId: 'u',
      projectId: of.projectId,
      shareGroupId: of.id,
      name: null,
      description: null,
      status,
      members: of.shares.map(({ instanceId }) => ({
        id: randomUUID(),
        shareInstanceId: instanceId,
        size: 1,
        protocol: 'NFS',
      })),
    }),
  );
  return id;
}

function queue(resource: string, kind: string, payload: Record<string, unknown>): Promise<number> {
  return world.db.transaction((tx) =>
    enqueue(tx, { kind, queue: `share.${HOST}`, resource, payload: { ...requester, ...payload } }),
  );
}

const statusOf = async (id: string, table: 'group' | 'snapshot' = 'group') => {
  const rows =
    table === 'group'
      ? await world.db.rows<{ status: string }>`SELECT status FROM share_groups WHERE id = ${id}`
      : await world.db.rows<{ status: string }>`SELECT status FROM share_group_snapshots WHERE id = ${id}`;
  return rows[0]!.status;
};
const memberStates = (snapshotId: string) =>
  world.db.rows<{ status: string; provider_location: string | null }>`
    SELECT status, provider_location FROM share_snapshot_instances WHERE share_group_snapshot_id = ${snapshotId}`;

/** The back end without groups, its snapshot calls noted and, from the `failAt`th on, failing. */
function plain(calls: string[], failAt = Infinity) {
  return ({ groups: _, ...driver }: Driver): Driver => ({
    ...driver,
    snapshots: {
      async create(snapshot, signal) {
        calls.push(`create ${snapshot.id}`);
        if (calls.length >= failAt) throw new DriverError('failed', 'because the test says so');
        return driver.snapshots!.create(snapshot, signal);
      },
      async delete(snapshot) {
        calls.push(`delete ${snapshot.id}`);
      },
    },
  });
}

test('a back end that knows no groups has its shares snapshotted one after the other', async () => {
  const calls: string[] = [];
  await world.rebuild({}, plain(calls));
  const made = await group({ status: 'creating' });
  await queue(made.id, shareGroupJobs.provision, { groupId: made.id });
  await world.work(made.id);
  expect(await statusOf(made.id)).toBe('available');

  const full = await group({ members: 2 });
  const id = await snapshotOf(full, 'creating');
  await queue(full.id, shareGroupSnapshotLife.create.kind, { groupSnapshotId: id });
  await world.work(full.id);
  expect(await statusOf(id, 'snapshot')).toBe('available');
  const members = await memberStates(id);
  expect(members.map(({ status }) => status)).toEqual(['available', 'available']);
  for (const { provider_location } of members) expect(provider_location).toContain('/snapshot/');

  await world.db.run`UPDATE share_group_snapshots SET status = 'deleting' WHERE id = ${id}`;
  await queue(full.id, shareGroupSnapshotLife.delete.kind, { groupSnapshotId: id });
  await world.work(full.id);
  expect(calls.map((call) => call.split(' ')[0])).toEqual(['create', 'create', 'delete', 'delete']);
});

test('when one of the snapshots fails those taken before are removed', async () => {
  const calls: string[] = [];
  await world.rebuild({}, plain(calls, 2));
  const full = await group({ members: 2 });
  const id = await snapshotOf(full, 'creating');
  await queue(full.id, shareGroupSnapshotLife.create.kind, { groupSnapshotId: id });
  await world.work(full.id);
  expect(await statusOf(id, 'snapshot')).toBe('error');
  expect((await memberStates(id)).map(({ status }) => status)).toEqual(['error', 'error']);
  const [first, second, ...removed] = calls;
  expect(removed.sort()).toEqual([first!, second!].map((call) => call.replace('create', 'delete')).sort());
});

test('a back end without snapshots takes none of a group with shares, and an empty one of an empty group', async () => {
  await world.rebuild({}, ({ groups: _, snapshots: __, ...driver }) => driver);
  for (const [members, status] of [
    [1, 'error'],
    [0, 'available'],
  ] as const) {
    const of = await group({ members });
    const id = await snapshotOf(of, 'creating');
    await queue(of.id, shareGroupSnapshotLife.create.kind, { groupSnapshotId: id });
    await world.work(of.id);
    expect(await statusOf(id, 'snapshot')).toBe(status);
  }
});

test('a group whose back end is served nowhere is in error', async () => {
  const lost = await group({ status: 'creating', host: 'elsewhere@gone#pool' });
  await queue(lost.id, shareGroupJobs.provision, { groupId: lost.id });
  await world.work(lost.id);
  expect(await statusOf(lost.id)).toBe('error');
  expect(await world.messages(lost.id)).toEqual([['002', '001']]);
});

test('jobs of what has gone, or has been set to another state meanwhile, change nothing', async () => {
  const calls: string[] = [];
  await world.rebuild({}, plain(calls));
  const other = await group({ members: 1 });
  const snapshot = await snapshotOf(other, 'available');
  const missing = randomUUID();
  for (const kind of [
    shareGroupLife.create.kind,
    shareGroupJobs.provision,
    shareGroupJobs.fill,
    shareGroupLife.delete.kind,
  ]) {
    await queue(other.id, kind, { groupId: other.id });
    await queue(missing, kind, { groupId: missing });
  }
  for (const { kind } of [shareGroupSnapshotLife.create, shareGroupSnapshotLife.delete]) {
    await queue(other.id, kind, { groupSnapshotId: snapshot });
    await queue(missing, kind, { groupSnapshotId: missing });
  }
  expect(await world.work(other.id)).toHaveLength(6);
  expect(await world.work(missing)).toHaveLength(6);
  expect(calls).toEqual([]);
  expect(await statusOf(other.id)).toBe('available');
  expect(await statusOf(snapshot, 'snapshot')).toBe('available');
});
