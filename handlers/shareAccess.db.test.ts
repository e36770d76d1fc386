/** Access rules from request to back end: the handlers, the states in the database, the job. */
import { randomUUID } from 'node:crypto';
import { connect, type Db } from '#db/connection.ts';
import { loadJob } from '#db/outbox.ts';
import { findInstance, removeInstance } from '#db/shareInstances.ts';
import { createEnforcer } from '#domain/policy/enforcer.ts';
import { type AccessRule, type AccessRuleResult, type Driver, DriverError } from '#drivers/driver.ts';
import { accessJob, syncAccess } from '#jobs/access.ts';
import type { Tools } from '#jobs/job.ts';
import { runJob } from '#jobs/runner.ts';
import { RequestCtx } from '#server/http/ctx.ts';
import { startTestDatabase, type TestDatabase } from '#server/local/testing/services.ts';
import { accessRules } from './accessRules.ts';
import type { Settings } from './settings.ts';
import { shareAccess } from './shareAccess.ts';

let database: TestDatabase;
let db: Db;
beforeAll(async () => {
  database = await startTestDatabase();
  db = connect(database.address);
});
afterEach(async () => {
  await db.run`DELETE FROM shoal_outbox`;
});
afterAll(async () => {
  await db.close();
  await database.stop();
});

const never = new AbortController().signal;

interface Caller {
  projectId?: string;
  userId?: string;
  roles?: string[];
  version?: number;
}

/** Requests to one share of a project of its own, as its member unless said. */
async function given({
  instances = 1,
  status = 'available',
  host = 'h@b#p' as string | null,
  isPublic = false,
} = {}) {
  const projectId = randomUUID();
  const id = randomUUID();
  const instanceIds = Array.from({ length: instances }, () => randomUUID());
  await db.run`
    INSERT INTO shares (id, created_at, deleted, user_id, project_id, size, share_proto, is_public, is_soft_deleted)
    VALUES (${id}, UTC_TIMESTAMP(6), 'False', 'u', ${projectId}, 1, 'NFS', ${isPublic}, 0)`;
  for (const [i, instanceId] of instanceIds.entries()) {
    await db.run`
      INSERT INTO share_instances (id, created_at, deleted, share_id, host, status, access_rules_status, cast_rules_to_readonly)
      VALUES (${instanceId}, UTC_TIMESTAMP(6), 'False', ${id}, ${host}, ${status}, 'active', ${i > 0})`;
  }
  const as = ({ userId = 'u', roles = ['member', 'reader'], version = 99, ...caller }: Caller = {}) =>
    new RequestCtx(
      {
        db,
        settings: {} as Settings,
        enforcer: createEnforcer(),
        reports: async () => [],
        explanation: async () => null,
      },
      { userId, projectId: caller.projectId ?? projectId, roles } as never,
      { id: 'req-1', version, links: { self: '', bookmark: '' }, url: '/' },
    );
  return {
    id,
    projectId,
    instanceIds,
    as,
    allow: async (access_to: string, body: Record<string, unknown> = {}, caller?: Caller) =>
      (
        await shareAccess.allowShareAccess({
          ctx: as(caller),
          path: { id },
          query: {} as never,
          body: { access_type: 'ip', access_to, ...body } as never,
        })
      ).access,
    deny: (access_id: unknown, body: Record<string, unknown> = {}, caller?: Caller) =>
      shareAccess.denyShareAccess({
        ctx: as(caller),
        path: { id },
        query: {} as never,
        body: { access_id, ...body } as never,
      }),
    update: async (rule: string, access_level: string, caller?: Caller) =>
      (
        await accessRules.updateAccessRule({
          ctx: as(caller),
          path: { id: rule },
          query: {} as never,
          body: { access_level },
        })
      ).access,
    list: async (query: Record<string, string> = {}, caller?: Caller) =>
      (
        await accessRules.listAccessRules({
          ctx: as(caller),
          path: {} as never,
          query: { share_id: id, ...query },
          body: undefined as never,
        })
      ).access_list,
    show: async (rule: string, caller?: Caller) =>
      (
        await accessRules.getAccessRule({
          ctx: as(caller),
          path: { id: rule },
          query: {} as never,
          body: undefined as never,
        })
      ).access,
    statuses: async () =>
      (
        await db.rows<{ s: string }>`
          SELECT access_rules_status AS s FROM share_instances WHERE share_id = ${id} ORDER BY created_at, id`
      ).map(({ s }) => s),
    messages: async () =>
      (
        await db.rows<{ m: string }>`
          SELECT CONCAT(action_id, '/', detail_id) AS m FROM messages WHERE resource_id = ${id}`
      ).map(({ m }) => m),
    /** runs the jobs that wait for the share, as a worker would */
    work: async (backend: TestBackend) => {
      const waiting = await db.rows<{ id: number }>`
        SELECT id FROM shoal_outbox WHERE resource = ${id} AND kind = ${accessJob.kind} ORDER BY id`;
      for (const row of waiting) {
        await runJob(row.id, new Map([[accessJob.kind, accessJob]]), backend.tools, never);
      }
      return waiting.length;
    },
  };
}

interface TestBackend {
  /** what each instance holds, after each synchronisation */
  held: { instance: string; rules: string[] }[];
  tools: Tools;
  driver: Driver;
}

/** A back end that opens shares to addresses; `during` happens while it is asked. */
function backend({
  judge = (rule: AccessRule): AccessRuleResult | undefined => ({
    state: rule.accessType === 'ip' ? 'active' : 'error',
  }),
  during = async (): Promise<void> => {},
} = {}): TestBackend {
  const held: TestBackend['held'] = [];
  const driver = {
    access: {
      async sync(share: { id: string }, rules: readonly AccessRule[]) {
        await during();
        held.push({
          instance: share.id,
          rules: rules.map(({ accessTo, accessLevel }) => `${accessTo} ${accessLevel}`).sort(),
        });
        return new Map(
          rules.flatMap((rule) => {
            const verdict = judge(rule);
            return verdict ? [[rule.id, verdict] as const] : [];
          }),
        );
      },
    },
  } as unknown as Driver;
  const tools = {
    db,
    settings: { message_ttl: 3600 },
    log: () => {},
    driver: () => driver,
    reports: async () => [],
  } as unknown as Tools;
  return { held, driver, tools };
}

const states = (rules: readonly { access_to: string; state: string }[]) =>
  Object.fromEntries(rules.map(({ access_to, state }) => [access_to, state]));
const fault = (code: string, status: number) => expect.objectContaining({ code, status });

describe('from request to back end', () => {
  test('a rule is queued, applied, active; then denied and gone', async () => {
    const share = await given();
    const disk = backend();
    const rule = await share.allow('10.0.0.0/24', { access_level: 'ro', metadata: { k: 'v' } });
    expect(rule).toMatchObject({
      share_id: share.id,
      state: 'queued_to_apply',
      access_level: 'ro',
      access_key: null,
      updated_at: null,
      metadata: { k: 'v' },
    });
    expect(await share.show(rule.id)).toMatchObject({ ...rule, share_access_rules_status: 'syncing' });
    expect(await share.statuses()).toEqual(['syncing']);
    expect(await share.work(disk)).toBe(1);
    expect(await share.show(rule.id)).toMatchObject({ state: 'active', updated_at: expect.any(String) });
    expect(await share.statuses()).toEqual(['active']);

    await share.deny(rule.id);
    await share.deny(rule.id);
    expect(states(await share.list())).toEqual({ '10.0.0.0/24': 'queued_to_deny' });
    expect(await share.work(disk)).toBe(1);
    expect(await share.list()).toEqual([]);
    await expect(share.show(rule.id)).rejects.toThrow(fault('accessNotFound', 404));
    await expect(share.deny(rule.id)).rejects.toThrow(fault('accessNotFound', 404));
    expect(await share.statuses()).toEqual(['active']);
    expect(disk.held.map(({ rules }) => rules)).toEqual([['10.0.0.0/24 ro'], []]);
    expect(
      await db.rows`
      SELECT id FROM share_access_rules_metadata WHERE access_id = ${rule.id} AND deleted = 'False'`,
    ).toEqual([]);
  });

  test('one bad rule is in error, the others hold, and a message says so', async () => {
    const share = await given();
    const disk = backend();
    await share.allow('10.0.0.1');
    const bad = await share.allow('alice', { access_type: 'user' });
    await share.allow('10.0.0.2');
    expect(await share.work(disk)).toBe(3);
    expect(states(await share.list())).toEqual({
      '10.0.0.1': 'active',
      alice: 'error',
      '10.0.0.2': 'active',
    });
    expect(await share.statuses()).toEqual(['error']);
    expect(await share.messages()).toEqual(['010/021']);
    // All in one go: the later jobs had nothing left to do.
    expect(disk.held).toHaveLength(1);

    const later = await share.allow('10.0.0.3');
    expect(await share.statuses()).toEqual(['syncing']);
    await share.work(disk);
    expect(await share.statuses()).toEqual(['error']);
    expect(await share.show(later.id)).toMatchObject({ state: 'active' });
    expect(disk.held.at(-1)!.rules).toEqual(['10.0.0.1 rw', '10.0.0.2 rw', '10.0.0.3 rw']);

    await share.deny(bad.id);
    await share.work(disk);
    expect(await share.statuses()).toEqual(['active']);
    expect(await share.messages()).toHaveLength(1);
  });

  test('a level is changed in place', async () => {
    const share = await given();
    const disk = backend();
    const rule = await share.allow('10.0.0.1');
    await share.work(disk);
    expect(await share.update(rule.id, 'ro')).toMatchObject({ access_level: 'ro', state: 'active' });
    expect(await share.show(rule.id)).toMatchObject({ access_level: 'ro', state: 'queued_to_update' });
    await share.work(disk);
    expect(await share.show(rule.id)).toMatchObject({ access_level: 'ro', state: 'active' });
    expect(disk.held.at(-1)!.rules).toEqual(['10.0.0.1 ro']);
    await share.update(rule.id, 'ro');
    expect(await share.work(disk)).toBe(0);
    await share.deny(rule.id);
    await expect(share.update(rule.id, 'rw')).rejects.toThrow(fault('invalidAccess', 400));
  });

  test('every instance of the share gets the rules; a copy that is cast to read-only gets them so', async () => {
    const share = await given({ instances: 2 });
    const [main, copy] = share.instanceIds;
    const disk = backend();
    const rule = await share.allow('10.0.0.1');
    expect(await share.work(disk)).toBe(2);
    expect(disk.held).toEqual([
      { instance: main, rules: ['10.0.0.1 rw'] },
      { instance: copy, rules: ['10.0.0.1 ro'] },
    ]);
    await share.deny(rule.id);
    const [first] = await db.rows<{ id: number }>`
      SELECT id FROM shoal_outbox WHERE resource = ${share.id} ORDER BY id LIMIT 1`;
    await runJob(first!.id, new Map([[accessJob.kind, accessJob]]), disk.tools, never);
    expect(states(await share.list())).toEqual({ '10.0.0.1': 'queued_to_deny' });
    await share.work(disk);
    expect(await share.list()).toEqual([]);
  });

  test('a mask reaches the back end as a prefix length, the client as it was sent', async () => {
    const share = await given();
    const disk = backend();
    await share.allow('10.0.0.0/255.255.255.0');
    await share.work(disk);
    expect(states(await share.list())).toEqual({ '10.0.0.0/255.255.255.0': 'active' });
    expect(disk.held[0]!.rules).toEqual(['10.0.0.0/24 rw']);
  });

  test('a key that the back end makes is kept, and shown to the project alone', async () => {
    const share = await given({ isPublic: true });
    const disk = backend({ judge: () => ({ state: 'active', accessKey: 'AQB==' }) });
    const { id } = await share.allow('joe', { access_type: 'cephx' });
    await share.work(disk);
    expect(await share.show(id)).toMatchObject({ access_key: 'AQB==' });
    expect(await share.show(id, { projectId: randomUUID() })).toMatchObject({ access_key: null });
    expect(await share.list({ access_key: 'AQB==' })).toHaveLength(1);
    expect(await share.list({ access_key: 'x' })).toEqual([]);
  });
});

describe('when things go wrong', () => {
  test('a back end that fails leaves what was under way in error, and what held before active', async () => {
    const share = await given();
    const disk = backend();
    const old = await share.allow('10.0.0.1');
    const going = await share.allow('10.0.0.2');
    await share.work(disk);
    const fresh = await share.allow('10.0.0.3');
    await share.deny(going.id);
    const broken = backend({
      judge: () => {
        throw new DriverError('failed', 'no answer');
      },
    });
    await share.work(broken);
    expect(states(await share.list())).toEqual({
      '10.0.0.1': 'active',
      '10.0.0.2': 'error',
      '10.0.0.3': 'error',
    });
    expect(await share.statuses()).toEqual(['error']);
    expect(await share.messages()).toEqual(['010/001']);

    for (const { id } of [going, fresh]) await share.deny(id);
    await share.work(disk);
    expect((await share.list()).map(({ id }) => id)).toEqual([old.id]);
    expect(await share.statuses()).toEqual(['active']);
    expect(disk.held.at(-1)!.rules).toEqual(['10.0.0.1 rw']);
  });

  test('a rule that the back end says nothing about is in error', async () => {
    const share = await given();
    await share.allow('10.0.0.1');
    await share.work(backend({ judge: () => undefined }));
    expect(states(await share.list())).toEqual({ '10.0.0.1': 'error' });
  });

  test('a job that was killed before its end is done again', async () => {
    const share = await given();
    const disk = backend();
    await share.allow('10.0.0.1');
    const instance = (await findInstance(db, share.instanceIds[0]!))!;
    await syncAccess(db, instance, disk.driver, never);
    expect(states(await share.list())).toEqual({ '10.0.0.1': 'applying' });
    await share.work(disk);
    expect(states(await share.list())).toEqual({ '10.0.0.1': 'active' });
    expect(disk.held.map(({ rules }) => rules)).toEqual([['10.0.0.1 rw'], ['10.0.0.1 rw']]);
  });

  test('what is queued while the back end is asked waits for its own job', async () => {
    const share = await given();
    const first = await share.allow('10.0.0.1');
    const busy = backend({
      during: async () => {
        await share.allow('10.0.0.2');
        await share.deny(first.id);
      },
    });
    await share.work(busy);
    expect(states(await share.list())).toEqual({
      '10.0.0.1': 'queued_to_deny',
      '10.0.0.2': 'queued_to_apply',
    });
    expect(await share.statuses()).toEqual(['syncing']);
    const disk = backend();
    await share.work(disk);
    expect(states(await share.list())).toEqual({ '10.0.0.2': 'active' });
    expect(disk.held[0]!.rules).toEqual(['10.0.0.2 rw']);
  });

  test('a job whose share is gone ends', async () => {
    const share = await given();
    await share.allow('10.0.0.1');
    await db.transaction((tx) => removeInstance(tx, share.instanceIds[0]!, share.id));
    const disk = backend();
    expect(await share.work(disk)).toBe(1);
    expect(disk.held).toEqual([]);
    expect(
      await db.rows`SELECT id FROM share_access_map WHERE share_id = ${share.id} AND deleted = 'False'`,
    ).toEqual([]);
  });

  test('the job’s row carries ids and no address', async () => {
    const share = await given();
    await share.allow('10.0.0.1');
    const [row] = await db.rows<{ id: number }>`SELECT id FROM shoal_outbox WHERE resource = ${share.id}`;
    expect(await loadJob(db, row!.id)).toMatchObject({
      queue: 'share.h@b',
      kind: 'share.access',
      payload: { shareId: share.id, instanceId: share.instanceIds[0], requestId: 'req-1' },
    });
  });
});

describe('what is refused', () => {
  test('the same client twice, however it is written, until it is gone', async () => {
    const share = await given();
    const rule = await share.allow('10.0.0.1');
    for (const same of ['10.0.0.1', '10.0.0.1/32', '10.0.0.1/255.255.255.255']) {
      await expect(share.allow(same)).rejects.toThrow(fault('accessExists', 400));
    }
    await share.deny(rule.id);
    await expect(share.allow('10.0.0.1')).rejects.toThrow(fault('accessExists', 400));
    await share.work(backend());
    await share.allow('10.0.0.1');
  });

  test('two requests at once for the same client: one of them', async () => {
    const share = await given();
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => share.allow('10.0.0.1')));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await share.list()).toHaveLength(1);
  });

  test('changes while something else is at work on the share, or it has no host', async () => {
    const busy = await given({ status: 'extending' });
    await expect(busy.allow('10.0.0.1')).rejects.toThrow(fault('invalidAccess', 400));
    const nowhere = await given({ host: null });
    await expect(nowhere.allow('10.0.0.1')).rejects.toThrow('no host');
    const share = await given();
    const rule = await share.allow('10.0.0.1');
    await db.run`UPDATE share_instances SET status = 'shrinking' WHERE share_id = ${share.id}`;
    await expect(share.deny(rule.id)).rejects.toThrow(fault('invalidAccess', 400));
    await expect(share.update(rule.id, 'ro')).rejects.toThrow(fault('invalidAccess', 400));
  });

  test('a further rule after a failure, in versions without a state per rule', async () => {
    const share = await given();
    await share.allow('alice', { access_type: 'user' });
    await share.work(backend());
    await expect(share.allow('10.0.0.1', {}, { version: 27 })).rejects.toThrow(fault('invalidAccess', 400));
    await share.allow('10.0.0.1', {}, { version: 28 });
    await expect(share.allow('10.0.0.2', {}, { version: 27 })).rejects.toThrow(fault('invalidAccess', 400));
  });

  test('rules of a share in the recycle bin', async () => {
    const share = await given();
    const rule = await share.allow('10.0.0.1');
    await db.run`UPDATE shares SET is_soft_deleted = 1 WHERE id = ${share.id}`;
    await expect(share.allow('10.0.0.2')).rejects.toThrow(fault('notAllowed', 403));
    await expect(share.deny(rule.id)).rejects.toThrow(fault('notAllowed', 403));
    expect(await share.list()).toHaveLength(1);
  });

  test('a rule of another share, and anything of another project', async () => {
    const [share, other] = [await given(), await given()];
    const rule = await share.allow('10.0.0.1');
    await expect(other.deny(rule.id)).rejects.toThrow(fault('accessNotFound', 404));
    const stranger = { projectId: randomUUID() };
    await expect(share.allow('10.0.0.2', {}, stranger)).rejects.toThrow(fault('notFound', 404));
    await expect(share.show(rule.id, stranger)).rejects.toThrow(fault('accessNotFound', 404));
    await expect(share.list({}, stranger)).rejects.toThrow(fault('shareNotFound', 400));
  });

  test('changes of a public share by another project, which sees its rules', async () => {
    const share = await given({ isPublic: true });
    const rule = await share.allow('10.0.0.1');
    const stranger = { projectId: randomUUID() };
    expect(await share.list({}, stranger)).toHaveLength(1);
    await expect(share.allow('10.0.0.2', {}, stranger)).rejects.toThrow(fault('forbidden', 403));
    await expect(share.deny(rule.id, {}, stranger)).rejects.toThrow(fault('forbidden', 403));
    await expect(share.update(rule.id, 'ro', stranger)).rejects.toThrow(fault('forbidden', 403));
    await expect(
      accessRules.updateAccessRuleMetadata({
        ctx: share.as(stranger),
        path: { access_id: rule.id },
        query: {} as never,
        body: { k: 'v' },
      }),
    ).rejects.toThrow(fault('forbidden', 403));
  });
});

test('lists are filtered', async () => {
  const share = await given();
  await share.allow('10.0.0.1', { metadata: { k: '1', z: 'y' } });
  await share.allow('10.0.0.2', { access_level: 'ro', metadata: { k: '2', z: 'y' } });
  await share.allow('alice', { access_type: 'user' });
  const found = async (query: Record<string, string>) =>
    (await share.list(query)).map(({ access_to }) => access_to);
  expect(await found({})).toEqual(['10.0.0.1', '10.0.0.2', 'alice']);
  expect(await found({ access_type: 'user' })).toEqual(['alice']);
  expect(await found({ access_level: 'ro' })).toEqual(['10.0.0.2']);
  expect(await found({ access_type: 'ip', access_to: '10.0.0.1' })).toEqual(['10.0.0.1']);
  expect(await found({ metadata: '{"z": "y"}' })).toEqual(['10.0.0.1', '10.0.0.2']);
  expect(await found({ metadata: "{'z': 'y', 'k': '2'}" })).toEqual(['10.0.0.2']);
  for (const [query, where] of [
    [{ access_to: '10.0.0.1' }, 'access_to'],
    [{ access_type: 'zz' }, 'access_type'],
    [{ access_level: 'zz' }, 'access_level'],
    [{ metadata: 'zz' }, 'metadata'],
    [{ share_id: '' }, 'share_id'],
  ] as const) {
    await expect(share.list(query)).rejects.toThrow(where);
  }
});

test('metadata is merged, and removed pair by pair', async () => {
  const share = await given();
  const { id } = await share.allow('10.0.0.1', { metadata: { a: '1' } });
  const path = { access_id: id };
  const request = { ctx: share.as(), query: {} as never };
  expect(await accessRules.updateAccessRuleMetadata({ ...request, path, body: { b: '2' } })).toEqual({
    metadata: { b: '2' },
  });
  expect((await share.show(id)).metadata).toEqual({ a: '1', b: '2' });
  const remove = () =>
    accessRules.deleteAccessRuleMetadataItem({
      ...request,
      path: { ...path, key: 'a' },
      body: undefined as never,
    });
  await remove();
  expect((await share.show(id)).metadata).toEqual({ b: '2' });
  await expect(remove()).rejects.toThrow(fault('metadataNotFound', 404));
});

describe('locked rules', () => {
  const other = { userId: 'somebody' };
  const admin = { userId: 'root', roles: ['admin', 'member', 'reader'] };
  const locksOn = async (id: string) =>
    (
      await db.rows<{ a: string }>`
      SELECT resource_action AS a FROM resource_locks WHERE resource_id = ${id} AND deleted = 'False'`
    ).map(({ a }) => a);

  test('against sight: others see that there is one, not for whom', async () => {
    const share = await given();
    const { id } = await share.allow('10.0.0.1', { lock_visibility: true, lock_reason: 'secret' });
    expect(await share.show(id)).toMatchObject({ access_to: '10.0.0.1' });
    expect(await share.show(id, admin)).toMatchObject({ access_to: '10.0.0.1' });
    expect(await share.show(id, other)).toMatchObject({ access_to: '******', access_key: '******' });
    expect(await share.list({ access_type: 'ip', access_to: '10.0.0.1' }, other)).toEqual([]);
    expect(await share.list({ access_type: 'ip', access_to: '10.0.0.1' })).toHaveLength(1);
    await share.deny(id, {}, other);
    await share.work(backend());
    expect(await locksOn(id)).toEqual([]);
  });

  test('against deletion: only who placed the lock, or an admin, denies the rule, and says so', async () => {
    const share = await given();
    const { id } = await share.allow('10.0.0.1', { lock_deletion: 'true' });
    expect(await locksOn(id)).toEqual(['delete']);
    expect(await locksOn(share.id)).toEqual(['delete']);
    await expect(share.deny(id)).rejects.toThrow(fault('notAllowed', 403));
    await expect(share.deny(id, {}, admin)).rejects.toThrow(fault('notAllowed', 403));
    await expect(share.deny(id, { unrestrict: true }, other)).rejects.toThrow(fault('notAllowed', 403));
    await share.deny(id, { unrestrict: true });
    expect(await locksOn(id)).toEqual([]);
    expect(await locksOn(share.id)).toEqual([]);
    const second = await share.allow('10.0.0.2', { lock_deletion: true });
    await share.deny(second.id, { unrestrict: true }, admin);
  });

  test('a reason needs a lock', async () => {
    const share = await given();
    await expect(share.allow('10.0.0.1', { lock_reason: 'x' })).rejects.toThrow(fault('invalidInput', 400));
    await expect(share.allow('10.0.0.1', { lock_reason: 'x', lock_deletion: 'maybe' })).rejects.toThrow(
      fault('invalidInput', 400),
    );
  });
});

test('a list takes two statements, and one more rule no more', async () => {
  const share = await given();
  for (let n = 1; n <= 3; n++) {
    await share.allow(`10.0.0.${n}`, { metadata: { k: 'v' } });
    const ctx = share.as();
    await accessRules.listAccessRules({
      ctx,
      path: {} as never,
      query: { share_id: share.id },
      body: undefined as never,
    });
    expect(ctx.db.statements).toBe(2);
  }
});
