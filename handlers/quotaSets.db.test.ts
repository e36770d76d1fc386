import { randomUUID } from 'node:crypto';
import { connect, type Db } from '#db/connection.ts';
import { take, withQuota } from '#db/quotas.ts';
import { createEnforcer } from '#domain/policy/enforcer.ts';
import { type QuotaDefaults, quotaResources } from '#domain/quotas.ts';
import { RequestCtx } from '#server/http/ctx.ts';
import { startTestDatabase, type TestDatabase } from '#server/local/testing/services.ts';
import type { Ctx } from './context.ts';
import { limits } from './limits.ts';
import { quotaClassSets } from './quotaClassSets.ts';
import { quotaSets } from './quotaSets.ts';
import type { Settings } from './settings.ts';

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

const quota = Object.fromEntries(quotaResources.map((name) => [name, 50])) as QuotaDefaults;
const admin = ['admin', 'member', 'reader'];

function ctxOf(projectId: string, roles: string[], userId = 'u'): Ctx {
  const shared = {
    db,
    settings: { quota } as Settings,
    enforcer: createEnforcer(),
    reports: async () => [],
    explanation: async () => null,
  };
  const request = { id: 'req-1', version: 99, links: { self: '', bookmark: '' }, url: '/' };
  return new RequestCtx(shared, { userId, projectId, roles } as never, request);
}

interface Asked {
  query?: { user_id?: string; share_type?: string };
  roles?: string[];
  caller?: string;
}

/** A project, the caller an admin of another one unless said. */
function project() {
  const id = randomUUID();
  const request = ({ query = {}, roles = admin, caller = randomUUID() }: Asked) => ({
    ctx: ctxOf(caller, roles),
    path: { id },
    query,
  });
  return {
    id,
    show: async (asked: Asked = {}) =>
      (await quotaSets.getQuotaSet({ ...request(asked), body: undefined })).quota_set,
    detail: async (asked: Asked = {}) =>
      (await quotaSets.getQuotaSetDetail({ ...request(asked), body: undefined })).quota_set,
    update: async (body: Record<string, unknown>, asked: Asked = {}) =>
      (await quotaSets.updateQuotaSet({ ...request(asked), body: body as never })).quota_set,
    remove: (asked: Asked = {}) => quotaSets.deleteQuotaSet({ ...request(asked), body: undefined }),
    use: (userId: string, shareTypeId: string | null, gigabytes: number) =>
      withQuota(db, (tx) =>
        take(tx, { projectId: id, userId, shareTypeId }, { shares: 1, gigabytes }, quota),
      ),
  };
}

async function shareType(): Promise<string> {
  const id = randomUUID();
  await db.run`INSERT INTO share_types (id, name, deleted, is_public) VALUES (${id}, ${id}, 'False', 1)`;
  return id;
}

test('another project’s quotas are not a member’s to see, its own are', async () => {
  const { id, show } = project();
  await expect(show({ roles: ['member', 'reader'] })).rejects.toMatchObject({ status: 403 });
  expect(await show({ roles: ['reader'], caller: id })).toEqual({ id, ...quota });
});

test('limits are set, shown and forgotten for project, user and type', async () => {
  const { show, update, remove } = project();
  const type = await shareType();
  expect(await update({ shares: '20' })).toMatchObject({ shares: 20, gigabytes: 50 });
  await update({ shares: 10 }, { query: { user_id: 'u' } });
  const ofType = await update({ shares: 5 }, { query: { share_type: type } });
  expect(ofType).toMatchObject({ shares: 5, gigabytes: 50 });
  expect(ofType).not.toHaveProperty('share_networks');
  expect(await show({ query: { user_id: 'u' } })).toMatchObject({ shares: 10 });
  expect(await show({ query: { user_id: 'v' } })).toMatchObject({ shares: 20 });
  expect(await show({ query: { share_type: type } })).toMatchObject({ shares: 5 });
  await remove({ query: { share_type: type } });
  await remove();
  for (const query of [{}, { user_id: 'u' }, { share_type: type }])
    expect(await show({ query })).toMatchObject({ shares: 50 });
});

test('a limit that others or usage contradict needs force', async () => {
  const { update, use, detail } = project();
  const type = await shareType();
  await use('u', type, 3);
  await use('v', type, 4);
  const refused = (body: Record<string, unknown>, query = {}) =>
    expect(update(body, { query })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/shares|gigabytes/),
    });
  await refused({ shares: 1 });
  await refused({ gigabytes: 6 });
  await refused({ gigabytes: 2 }, { user_id: 'u' });
  await refused({ shares: 1 }, { share_type: type });
  await refused({ shares: 51 }, { user_id: 'u' });
  await refused({ shares: -1 }, { share_type: type });
  await update({ shares: 30 }, { query: { user_id: 'u' } });
  await refused({ shares: 29 });
  // nothing of a refused change is kept
  await refused({ snapshots: 1, shares: 1 });
  expect(await detail()).toMatchObject({
    shares: { limit: 50, in_use: 2, reserved: 0 },
    gigabytes: { limit: 50, in_use: 7 },
    snapshots: { limit: 50, in_use: 0, reserved: 0 },
  });
  expect(await update({ shares: 1, force: 'true' })).toMatchObject({ shares: 1 });
  expect(await detail({ query: { user_id: 'u' } })).toMatchObject({
    gigabytes: { in_use: 3 },
    shares: { limit: 30, in_use: 1 },
  });
  expect(await detail({ query: { share_type: type } })).toMatchObject({
    gigabytes: { in_use: 7 },
    shares: { limit: 1, in_use: 2 },
  });
});

test('what the quotas are of is one thing, and one that is there', async () => {
  const { show } = project();
  const type = await shareType();
  await expect(show({ query: { user_id: 'u', share_type: type } })).rejects.toMatchObject({ status: 400 });
  await expect(show({ query: { share_type: 'nonesuch' } })).rejects.toMatchObject({ status: 404 });
  expect(await show({ query: { user_id: '', share_type: '' } })).toHaveProperty('share_networks');
});

test('the default class is what projects have that were given nothing', async () => {
  const { id, show, update } = project();
  const ctx = ctxOf(randomUUID(), admin);
  await update({ shares: 40 });
  const path = { id: 'default' };
  const set = await quotaClassSets.updateQuotaClassSet({
    ctx,
    path,
    query: {},
    body: { shares: 9, gigabytes: 8 },
  });
  expect(set.quota_class_set).toMatchObject({ shares: 9, gigabytes: 8, snapshots: 50 });
  expect(set.quota_class_set).not.toHaveProperty('id');
  expect(await quotaClassSets.getQuotaClassSet({ ctx, path, query: {}, body: undefined })).toMatchObject({
    quota_class_set: { id: 'default', shares: 9 },
  });
  expect(await show()).toMatchObject({ shares: 40, gigabytes: 8 });
  const { quota_set } = await quotaSets.getQuotaSetDefaults({
    ctx,
    path: { id },
    query: {},
    body: undefined,
  });
  expect(quota_set).toMatchObject({ id, shares: 9, gigabytes: 8, snapshots: 50 });
  await db.run`DELETE FROM quota_classes`;
});

test('limits are the project’s, with what all its users use', async () => {
  const { id, update, use } = project();
  await update({ shares: 20 });
  await update({ shares: 10 }, { query: { user_id: 'u' } });
  await use('u', null, 3);
  await use('v', null, 4);
  const { limits: shown } = await limits.getLimits({
    ctx: ctxOf(id, ['member']),
    path: {},
    query: {},
    body: undefined,
  });
  expect(shown.rate).toEqual([]);
  expect(shown.absolute).toMatchObject({
    maxTotalShares: 20,
    totalSharesUsed: 2,
    maxTotalShareGigabytes: 50,
    totalShareGigabytesUsed: 7,
    totalBackupGigabytesUsed: 0,
  });
});
