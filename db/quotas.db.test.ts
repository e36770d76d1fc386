import { randomUUID } from 'node:crypto';
import { Fault } from '#domain/faults.ts';
import { type QuotaDefaults, quotaResources } from '#domain/quotas.ts';
import { startTestDatabase, type TestDatabase } from '../server/local/testing/services.ts';
import { connect, type Db } from './connection.ts';
import {
  commitReservation,
  expireReservations,
  type QuotaOwner,
  release,
  reserve,
  rollbackReservation,
  take,
  withQuota,
} from './quotas.ts';

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

const unlimited = Object.fromEntries(quotaResources.map((name) => [name, -1])) as QuotaDefaults;
const limits = (over: Partial<QuotaDefaults>): QuotaDefaults => ({ ...unlimited, ...over });

async function type(): Promise<string> {
  const id = randomUUID();
  await db.run`INSERT INTO share_types (id, name, deleted, is_public) VALUES (${id}, ${id}, 'False', 1)`;
  return id;
}
async function owner(): Promise<QuotaOwner> {
  return { projectId: randomUUID(), userId: randomUUID(), shareTypeId: await type() };
}
/** What is counted, the user's row and the type's, which must agree. */
async function counted(who: QuotaOwner, resource: string) {
  const rows = await db.rows<{ in_use: number; reserved: number }>`
    SELECT in_use, reserved FROM quota_usages WHERE project_id = ${who.projectId} AND resource = ${resource}`;
  expect(new Set(rows.map((row) => JSON.stringify(row))).size).toBeLessThanOrEqual(1);
  return { rows: rows.length, ...rows[0] };
}

test('16 at once against a limit of 5: exactly 5 are let through', async () => {
  const who = await owner();
  const all = await Promise.allSettled(
    Array.from({ length: 16 }, () =>
      withQuota(db, (tx) => take(tx, who, { shares: 1, gigabytes: 2 }, limits({ shares: 5 }))),
    ),
  );
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  for (const each of all)
    if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'overQuota', status: 413 });
  expect(await counted(who, 'shares')).toEqual({ rows: 2, in_use: 5, reserved: 0 });
  expect(await counted(who, 'gigabytes')).toEqual({ rows: 2, in_use: 10, reserved: 0 });
});

test('a transaction that fails later has taken nothing', async () => {
  const who = await owner();
  await withQuota(db, (tx) => take(tx, who, { shares: 1 }, unlimited));
  const failing = withQuota(db, async (tx) => {
    await take(tx, who, { shares: 1 }, unlimited);
    throw new Error('later');
  });
  await expect(failing).rejects.toThrow('later');
  expect(await counted(who, 'shares')).toMatchObject({ in_use: 1 });
});

test('the limit of a project counts all its users, a user’s limit only that user', async () => {
  const first = await owner();
  const second = { ...first, userId: randomUUID() };
  await withQuota(db, (tx) => take(tx, first, { shares: 3 }, limits({ shares: 4 })));
  await expect(withQuota(db, (tx) => take(tx, second, { shares: 2 }, limits({ shares: 4 })))).rejects.toThrow(
    Fault,
  );
  await db.run`INSERT INTO project_user_quotas (user_id, project_id, resource, hard_limit, deleted) VALUES (${first.userId}, ${first.projectId}, 'shares', 3, 0)`;
  await expect(withQuota(db, (tx) => take(tx, first, { shares: 1 }, unlimited))).rejects.toThrow(Fault);
  await expect(withQuota(db, (tx) => take(tx, second, { shares: 1 }, unlimited))).resolves.toBeUndefined();
});

test('the limit of a share type counts that type alone', async () => {
  const first = await owner();
  const other = { ...first, shareTypeId: await type() };
  await db.run`INSERT INTO project_share_type_quotas (project_id, share_type_id, resource, hard_limit, deleted) VALUES (${first.projectId}, ${first.shareTypeId}, 'gigabytes', 10, 0)`;
  await withQuota(db, (tx) => take(tx, first, { gigabytes: 10 }, unlimited));
  await expect(withQuota(db, (tx) => take(tx, first, { gigabytes: 1 }, unlimited))).rejects.toThrow(
    /gigabytes/,
  );
  await expect(
    withQuota(db, (tx) => take(tx, other, { gigabytes: 100 }, unlimited)),
  ).resolves.toBeUndefined();
});

test('a share larger than per_share_gigabytes is refused, and it is not counted', async () => {
  const who = await owner();
  const quota = limits({ per_share_gigabytes: 10 });
  await expect(
    withQuota(db, (tx) => take(tx, who, { shares: 1, per_share_gigabytes: 11 }, quota)),
  ).rejects.toThrow(/per_share_gigabytes/);
  await withQuota(db, (tx) => take(tx, who, { shares: 1, per_share_gigabytes: 10 }, quota));
  expect(await counted(who, 'per_share_gigabytes')).toEqual({ rows: 0 });
});

test('the class and the project override what is configured', async () => {
  const who = await owner();
  await db.run`INSERT INTO quotas (project_id, resource, hard_limit, deleted) VALUES (${who.projectId}, 'shares', 2, 0)`;
  await withQuota(db, (tx) => take(tx, who, { shares: 2 }, limits({ shares: 1 })));
  await expect(withQuota(db, (tx) => take(tx, who, { shares: 1 }, limits({ shares: 100 })))).rejects.toThrow(
    Fault,
  );
});

describe('reservations', () => {
  const hold = (who: QuotaOwner, gigabytes: number, quota = unlimited, seconds = 100) =>
    withQuota(db, (tx) => reserve(tx, who, { gigabytes }, quota, seconds));

  test('what is held counts against the limit, once committed it is used', async () => {
    const who = await owner();
    const uuid = await hold(who, 6, limits({ gigabytes: 10 }));
    await expect(hold(who, 5, limits({ gigabytes: 10 }))).rejects.toThrow(Fault);
    expect(await counted(who, 'gigabytes')).toMatchObject({ in_use: 0, reserved: 6 });
    await db.transaction((tx) => commitReservation(tx, uuid));
    expect(await counted(who, 'gigabytes')).toMatchObject({ in_use: 6, reserved: 0 });
  });

  test('ending one twice, either way, changes nothing more', async () => {
    const who = await owner();
    const uuid = await hold(who, 6);
    await db.transaction((tx) => rollbackReservation(tx, uuid));
    await db.transaction((tx) => commitReservation(tx, uuid));
    await db.transaction((tx) => rollbackReservation(tx, uuid));
    expect(await counted(who, 'gigabytes')).toMatchObject({ in_use: 0, reserved: 0 });
  });

  test('those past their time are given back, others are not', async () => {
    const late = await owner();
    const early = await owner();
    await hold(late, 3, unlimited, -10);
    await hold(early, 3, unlimited, 1000);
    expect(await expireReservations(db)).toBe(1);
    expect(await counted(late, 'gigabytes')).toMatchObject({ reserved: 0 });
    expect(await counted(early, 'gigabytes')).toMatchObject({ reserved: 3 });
  });
});

test('giving back never counts below nothing', async () => {
  const who = await owner();
  await withQuota(db, (tx) => take(tx, who, { shares: 1 }, unlimited));
  await db.transaction((tx) => release(tx, who, { shares: 5 }));
  expect(await counted(who, 'shares')).toMatchObject({ in_use: 0 });
});
