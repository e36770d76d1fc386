import { randomUUID } from 'node:crypto';
import type { QuotaScope } from '#domain/quotaLimits.ts';
import { type QuotaDefaults, quotaResources } from '#domain/quotas.ts';
import { startTestDatabase, type TestDatabase } from '#server/local/testing/services.ts';
import { connect, type Db } from './connection.ts';
import {
  classLimits,
  largestUserLimits,
  limitsOf,
  removeLimits,
  setClassLimits,
  setLimits,
  usageOf,
} from './quotaLimits.ts';
import { reserve, take, withQuota } from './quotas.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await startTestDatabase();
  db = connect(database.address);
});
afterAll(async () => {
  await db.close();
  await database.stop();
});

const defaults = Object.fromEntries(quotaResources.map((name) => [name, 50])) as QuotaDefaults;
const ofProject = (projectId: string = randomUUID()): QuotaScope => ({
  projectId,
  userId: null,
  shareTypeId: null,
});
const set = (scope: QuotaScope, limits: Parameters<typeof setLimits>[2]) =>
  db.transaction((tx) => setLimits(tx, scope, limits));
const own = async (scope: QuotaScope) => (await limitsOf(db, scope, defaults)).own;

async function shareType(): Promise<string> {
  const id = randomUUID();
  await db.run`INSERT INTO share_types (id, name, deleted, is_public) VALUES (${id}, ${id}, 'False', 1)`;
  return id;
}

test('limits are those set, else the project’s, else the default class’s, else the configured ones', async () => {
  const project = ofProject();
  const user = { ...project, userId: 'u' };
  const type = { ...project, shareTypeId: await shareType() };
  expect(await own(project)).toEqual(defaults);
  await set(project, { shares: 20, gigabytes: 30 });
  await set(user, { shares: 10 });
  await set(type, { gigabytes: 5 });
  expect(await own(project)).toMatchObject({ shares: 20, gigabytes: 30, snapshots: 50 });
  expect(await own(user)).toMatchObject({ shares: 10, gigabytes: 30, snapshots: 50 });
  expect(await own(type)).toMatchObject({ shares: 20, gigabytes: 5, snapshots: 50 });
  expect(await own({ ...project, userId: 'another' })).toMatchObject({ shares: 20 });
  expect((await limitsOf(db, user, defaults)).project).toMatchObject({ shares: 20 });

  await db.transaction((tx) => setClassLimits(tx, 'default', { snapshots: 7, shares: 8 }));
  expect(await own(project)).toMatchObject({ shares: 20, snapshots: 7 });
  expect(await own(ofProject())).toMatchObject({ shares: 8, snapshots: 7 });
  await db.run`DELETE FROM quota_classes`;
});

test('a limit set again replaces the first, and unlimited is one too', async () => {
  for (const scope of [
    ofProject(),
    { ...ofProject(), userId: 'u' },
    { ...ofProject(), shareTypeId: await shareType() },
  ]) {
    await set(scope, { shares: 20 });
    await set(scope, { shares: -1, snapshots: 3 });
    expect(await own(scope)).toMatchObject({ shares: -1, snapshots: 3 });
  }
});

test('a project’s users lose their limits with it, its share types keep theirs', async () => {
  const project = ofProject();
  const [user, type] = [
    { ...project, userId: 'u' },
    { ...project, shareTypeId: await shareType() },
  ];
  const another = { ...project, userId: 'v' };
  for (const scope of [project, user, another, type]) await set(scope, { shares: 9 });
  await db.transaction((tx) => removeLimits(tx, another));
  expect(await own(another)).toMatchObject({ shares: 9 });
  await set(project, { shares: 11 });
  expect(await own(another)).toMatchObject({ shares: 11 });
  expect(await own(user)).toMatchObject({ shares: 9 });
  await db.transaction((tx) => removeLimits(tx, project));
  expect(await own(project)).toMatchObject({ shares: 50 });
  expect(await own(user)).toMatchObject({ shares: 50 });
  expect(await own(type)).toMatchObject({ shares: 9 });
  await db.transaction((tx) => removeLimits(tx, type));
  expect(await own(type)).toMatchObject({ shares: 50 });
  await set(type, { shares: 4 });
  expect(await own(type)).toMatchObject({ shares: 4 });
});

test('usage is summed over users, and counted apart for a user and a type', async () => {
  const project = ofProject();
  const [typeA, typeB] = [await shareType(), await shareType()];
  const use = (userId: string, shareTypeId: string, gigabytes: number) =>
    withQuota(db, (tx) =>
      take(tx, { projectId: project.projectId, userId, shareTypeId }, { shares: 1, gigabytes }, defaults),
    );
  await use('u', typeA, 3);
  await use('u', typeB, 4);
  await use('v', typeA, 5);
  await withQuota(db, (tx) =>
    reserve(
      tx,
      { projectId: project.projectId, userId: 'v', shareTypeId: typeB },
      { gigabytes: 2 },
      defaults,
      60,
    ),
  );
  const usage = async (over: Partial<QuotaScope>) =>
    Object.fromEntries(await usageOf(db, { ...project, ...over }));
  expect(await usage({})).toEqual({
    shares: { in_use: 3, reserved: 0 },
    gigabytes: { in_use: 12, reserved: 2 },
  });
  expect(await usage({ userId: 'u' })).toMatchObject({ gigabytes: { in_use: 7, reserved: 0 } });
  expect(await usage({ userId: 'v' })).toMatchObject({ gigabytes: { in_use: 5, reserved: 2 } });
  expect(await usage({ shareTypeId: typeA })).toMatchObject({ shares: { in_use: 2, reserved: 0 } });
  expect(await usage({ shareTypeId: typeB })).toMatchObject({ gigabytes: { in_use: 4, reserved: 2 } });
  expect(await usage({ userId: 'nobody' })).toEqual({});
});

test('the largest limit among users', async () => {
  const project = ofProject();
  await set({ ...project, userId: 'u' }, { shares: 3 });
  await set({ ...project, userId: 'v' }, { shares: 8, gigabytes: -1 });
  await set({ ...project, userId: 'gone' }, { shares: 30 });
  await db.transaction((tx) => removeLimits(tx, { ...project, userId: 'gone' }));
  expect(Object.fromEntries(await largestUserLimits(db, project.projectId))).toEqual({
    shares: 8,
    gigabytes: -1,
  });
});

test('classes are independent of each other', async () => {
  await db.transaction((tx) => setClassLimits(tx, 'gold', { shares: 500 }));
  await db.transaction((tx) => setClassLimits(tx, 'gold', { shares: 600, backups: 1 }));
  expect(await classLimits(db, 'gold', defaults)).toEqual({ ...defaults, shares: 600, backups: 1 });
  expect(await classLimits(db, 'default', defaults)).toEqual(defaults);
});
