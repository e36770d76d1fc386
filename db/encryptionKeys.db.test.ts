import { randomUUID } from 'node:crypto';
import { startWorld, type World, type WorldShare } from '#server/local/testing/world.ts';
import { dropKey, useKey } from './encryptionKeys.ts';
import { withQuota } from './quotas.ts';
import { beginShareDeletion } from './shareDeletion.ts';
import { findShare } from './shares.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const defaults = { encryption_keys: 2 } as never;
const use = (share: WorldShare, key: string, userId = share.userId) =>
  withQuota(world.db, (tx) =>
    useKey(tx, { projectId: share.projectId, userId, shareTypeId: null }, share.instanceId, key, defaults),
  );
const drop = (share: WorldShare) => world.db.transaction((tx) => dropKey(tx, share.instanceId));
const counted = async (projectId: string) => (await world.usage(projectId)).encryption_keys?.[0] ?? 0;

test('a key counts once for a project, from its first use to its last', async () => {
  const projectId = randomUUID();
  const [one, two, other] = [
    await world.share({ projectId }),
    await world.share({ projectId }),
    await world.share(),
  ];
  const key = randomUUID();
  await Promise.all([use(one, key), use(two, key, 'v'), use(other, key)]);
  expect(await counted(projectId)).toBe(1);
  expect(await counted(other.projectId)).toBe(1);
  await drop(one);
  await drop(one);
  expect(await counted(projectId)).toBe(1);
  await drop(two);
  expect(await counted(projectId)).toBe(0);
  expect(await counted(other.projectId)).toBe(1);
});

test('no more keys are used than the quota has room for', async () => {
  const projectId = randomUUID();
  const shares = await Promise.all(Array.from({ length: 5 }, () => world.share({ projectId })));
  const results = await Promise.allSettled(shares.map((share) => use(share, randomUUID())));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
  expect(await counted(projectId)).toBe(2);
});

test('a share that is deleted drops its key', async () => {
  const share = await world.share({ encryptionKeyRef: randomUUID() });
  await use(share, randomUUID());
  const row = (await findShare(world.db, share.id))!;
  await world.db.transaction((tx) => beginShareDeletion(tx, row, {}));
  await world.work(share.id);
  expect(await counted(share.projectId)).toBe(0);
});
