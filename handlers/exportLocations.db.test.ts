/** Export locations and share instances: who sees which, their metadata, what admins do to instances. */
import { randomUUID } from 'node:crypto';
import { connect, type Db } from '#db/connection.ts';
import { replaceExportLocations } from '#db/shareInstances.ts';
import { createEnforcer } from '#domain/policy/enforcer.ts';
import { RequestCtx } from '#server/http/ctx.ts';
import { startTestDatabase, type TestDatabase } from '#server/local/testing/services.ts';
import { exportLocationMetadata } from './exportLocationMetadata.ts';
import { exportLocations } from './exportLocations.ts';
import type { Settings } from './settings.ts';
import { shareInstances } from './shareInstances.ts';

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

const settings = { osapi_max_limit: 1000, admin_only_el_metadata: ['preferred'] } as unknown as Settings;
const member = ['member', 'reader'];
const admin = ['admin', 'member', 'reader'];
const nothing = { query: {} as never, body: undefined as never };
const fault = (code: string, status: number) => expect.objectContaining({ code, status });

interface Caller {
  projectId?: string;
  roles?: string[];
  version?: number;
}

interface Copy {
  status?: string;
  host?: string | null;
  replica_state?: string | null;
}

/** A share with an instance for each of `copies`, each with a path for tenants and one for admins. */
async function given(copies: Copy[] = [{}]) {
  const [id, projectId] = [randomUUID(), randomUUID()];
  await db.run`
    INSERT INTO shares (id, created_at, deleted, user_id, project_id, size, share_proto, is_public, is_soft_deleted)
    VALUES (${id}, UTC_TIMESTAMP(6), 'False', 'u', ${projectId}, 1, 'NFS', 0, 0)`;
  const instances: string[] = [];
  for (const { status = 'available', host = 'h@b#p', replica_state = null } of copies) {
    const instance = randomUUID();
    instances.push(instance);
    await db.run`
      INSERT INTO share_instances (id, created_at, deleted, share_id, host, status, access_rules_status, cast_rules_to_readonly, replica_state)
      VALUES (${instance}, UTC_TIMESTAMP(6), 'False', ${id}, ${host}, ${status}, 'active', 0, ${replica_state})`;
    await db.transaction((tx) =>
      replaceExportLocations(tx, instance, [
        { path: `10.0.0.1:/${instance}`, isAdminOnly: false, metadata: { preferred: 'True' } },
        { path: `11.0.0.1:/${instance}`, isAdminOnly: true, metadata: { preferred: 'False' } },
      ]),
    );
  }
  const as = ({ roles = member, version = 99, ...caller }: Caller = {}) =>
    new RequestCtx(
      { db, settings, enforcer: createEnforcer(), reports: async () => [], explanation: async () => null },
      { userId: 'u', projectId: caller.projectId ?? projectId, roles } as never,
      { id: 'req-1', version, links: { self: '', bookmark: '' }, url: '/' },
    );
  return {
    id,
    instances,
    as,
    list: async (caller?: Caller) =>
      (
        await exportLocations.listShareExportLocations({
          ctx: as(caller),
          path: { share_id: id },
          ...nothing,
        })
      ).export_locations,
    show: async (location: string, caller?: Caller) =>
      (
        await exportLocations.getShareExportLocation({
          ctx: as(caller),
          path: { share_id: id, export_location_uuid: location },
          ...nothing,
        })
      ).export_location,
  };
}

describe('export locations', () => {
  test('of administration are shown to admins only', async () => {
    const share = await given();
    const [instance] = share.instances;
    const seen = await share.list();
    expect(seen).toEqual([
      expect.objectContaining({
        path: `10.0.0.1:/${instance}`,
        preferred: true,
        metadata: {},
        share_instance_id: instance,
      }),
    ]);
    const all = await share.list({ roles: admin });
    expect(all.map(({ is_admin_only, preferred }) => [is_admin_only, preferred])).toEqual([
      [false, true],
      [true, false],
    ]);
    expect(await share.show(seen[0]!.id)).toMatchObject(seen[0]!);
    await expect(share.show(all[1]!.id)).rejects.toThrow(fault('notAllowed', 403));
    expect(await share.show(all[1]!.id, { roles: admin })).toMatchObject({ is_admin_only: true });
  });

  test('are found by their own share only, and by those who see it', async () => {
    const [share, other] = [await given(), await given()];
    const [location] = await other.list();
    await expect(share.show(location!.id)).rejects.toThrow(fault('exportLocationNotFound', 404));
    await expect(other.list({ projectId: randomUUID() })).rejects.toThrow(fault('shareNotFound', 404));
  });

  test('of a replica that is not active are no more the share’s since each replica lists its own', async () => {
    const share = await given([{ replica_state: 'active' }, { replica_state: 'in_sync' }]);
    expect(await share.list()).toHaveLength(1);
    expect(await share.list({ version: 46 })).toHaveLength(2);
  });

  test('of what the share is being copied to are not to be mounted yet', async () => {
    const share = await given([{ status: 'migrating' }, { status: 'migrating_to' }]);
    expect((await share.list()).map(({ share_instance_id }) => share_instance_id)).toEqual([
      share.instances[0],
    ]);
  });

  test('are listed by instance', async () => {
    const share = await given();
    const [instance] = share.instances;
    const ctx = share.as({ roles: admin });
    const listed = await exportLocations.listShareInstanceExportLocations({
      ctx,
      path: { share_instance_id: instance! },
      ...nothing,
    });
    expect(listed.export_locations).toHaveLength(2);
    const one = (id: string, location: string) =>
      exportLocations.getShareInstanceExportLocation({
        ctx,
        path: { share_instance_id: id, export_location_uuid: location },
        ...nothing,
      });
    const [first] = listed.export_locations;
    expect((await one(instance!, first!.id)).export_location).toMatchObject({ id: first!.id });
    await expect(one(instance!, 'nope')).rejects.toThrow(fault('exportLocationNotFound', 404));
    await expect(one('nope', first!.id)).rejects.toThrow(fault('shareInstanceNotFound', 404));
  });
});

describe('metadata of export locations', () => {
  async function location() {
    const share = await given();
    const { id } = (await share.list())[0]!;
    const request = (caller?: Caller) => ({
      ctx: share.as(caller),
      path: { share_id: share.id, resource_id: id },
      query: {} as never,
    });
    return {
      create: (body: Record<string, string>, caller?: Caller) =>
        exportLocationMetadata.createExportLocationMetadata({ ...request(caller), body }),
      replace: (body: Record<string, string>, caller?: Caller) =>
        exportLocationMetadata.replaceExportLocationMetadata({ ...request(caller), body }),
      set: (key: string, body: Record<string, string>) => {
        const { path, ...rest } = request();
        return exportLocationMetadata.updateExportLocationMetadataItem({
          ...rest,
          path: { ...path, key },
          body,
        });
      },
      get: (key: string) => {
        const { path, ...rest } = request();
        return exportLocationMetadata.getExportLocationMetadataItem({
          ...rest,
          path: { ...path, key },
          body: undefined as never,
        });
      },
      remove: (key: string, caller?: Caller) => {
        const { path, ...rest } = request(caller);
        return exportLocationMetadata.deleteExportLocationMetadataItem({
          ...rest,
          path: { ...path, key },
          body: undefined as never,
        });
      },
      shown: async () => share.show(id),
    };
  }

  test('is merged, replaced, set and removed; what is shown as a field is no part of it', async () => {
    const it = await location();
    expect(await it.create({ a: 'b' })).toEqual({ metadata: { preferred: '1', a: 'b' } });
    expect(await it.set('c', { c: 'd' })).toEqual({ metadata: { c: 'd' } });
    expect(await it.get('c')).toEqual({ meta: { c: 'd' } });
    expect(await it.shown()).toMatchObject({ preferred: true, metadata: { a: 'b', c: 'd' } });
    expect(await it.replace({ n: '1' })).toEqual({ metadata: { preferred: '1', n: '1' } });
    await it.remove('n');
    expect(await it.shown()).toMatchObject({ preferred: true, metadata: {} });
    await expect(it.remove('n')).rejects.toThrow(fault('metadataNotFound', 404));
    await expect(it.get('n')).rejects.toThrow(fault('metadataNotFound', 404));
    await expect(it.set('c', { d: 'e' })).rejects.toThrow(fault('invalidBody', 400));
  });

  test('has keys for admins', async () => {
    const it = await location();
    for (const change of [
      () => it.create({ preferred: '0' }),
      () => it.create({ a: 'b', Preferred: '0' }),
      () => it.replace({ preferred: '0' }),
      () => it.set('preferred', { preferred: '0' }),
      () => it.remove('preferred'),
    ]) {
      await expect(change()).rejects.toThrow(fault('notAllowed', 403));
    }
    await it.create({ preferred: '0' }, { roles: admin });
    expect(await it.shown()).toMatchObject({ preferred: false, metadata: {} });
  });

  test('is for members of the project to change', async () => {
    const it = await location();
    await expect(it.create({ a: 'b' }, { roles: ['reader'] })).rejects.toThrow(fault('forbidden', 403));
    await expect(it.create({ a: 'b' }, { projectId: randomUUID() })).rejects.toThrow(
      fault('shareNotFound', 404),
    );
  });
});

describe('share instances', () => {
  const boss = { roles: admin };
  const listed = async (
    share: Awaited<ReturnType<typeof given>>,
    query: Record<string, string>,
    version = 99,
  ) =>
    (
      await shareInstances.listShareInstances({
        ctx: share.as({ ...boss, version }),
        path: {} as never,
        query,
        body: undefined as never,
      })
    ).share_instances;

  test('are listed by host, status and export location, whoever’s they are', async () => {
    const host = `h${randomUUID()}@b#pool`;
    const share = await given([{ host }, { host, status: 'error' }]);
    const ids = async (query: Record<string, string>) => (await listed(share, query)).map(({ id }) => id);
    const [first, second] = share.instances;
    const location = (await share.list())[0]!;
    expect(await ids({ host })).toEqual([first, second]);
    expect(await ids({ host: host.split('#')[0]! })).toEqual([first, second]);
    expect(await ids({ host: host.split('@')[0]! })).toEqual([first, second]);
    expect(await ids({ host, status: 'error' })).toEqual([second]);
    expect(await ids({ export_location_id: location.id })).toEqual([first]);
    expect(await ids({ export_location_path: `11.0.0.1:/${second}` })).toEqual([second]);
    expect(await ids({ host, limit: '1', offset: '1' })).toEqual([second]);
    await db.run`UPDATE shares SET is_soft_deleted = 1 WHERE id = ${share.id}`;
    expect(await ids({ host })).toEqual([]);
    expect(await ids({ host, is_soft_deleted: 'true' })).toEqual([first, second]);
  });

  test('show their paths in versions without export locations', async () => {
    const host = `h${randomUUID()}@b#pool`;
    const share = await given([{ host }]);
    const [old] = await listed(share, { host }, 8);
    const paths = [`10.0.0.1:/${share.instances[0]}`, `11.0.0.1:/${share.instances[0]}`];
    expect(old).toMatchObject({ export_location: paths[0], export_locations: paths });
    const of = await shareInstances.listInstancesOfShare({
      ctx: share.as(boss),
      path: { share_id: share.id },
      ...nothing,
    });
    expect(of.share_instances).toEqual([
      expect.not.objectContaining({ export_locations: expect.anything() }),
    ]);
  });

  test('have a status that admins set', async () => {
    const share = await given();
    const reset = (status: 'error' | 'migrating' | 'available', id = share.instances[0]!) =>
      shareInstances.resetShareInstanceStatus({
        ctx: share.as(boss),
        path: { id },
        query: {} as never,
        body: { status },
      });
    const show = async () =>
      (
        await shareInstances.getShareInstance({
          ctx: share.as(boss),
          path: { id: share.instances[0]! },
          ...nothing,
        })
      ).share_instance.status;
    for (const status of ['error', 'migrating', 'available'] as const) {
      await reset(status);
      expect(await show()).toBe(status);
    }
    await expect(reset('error', 'nope')).rejects.toThrow(fault('shareInstanceNotFound', 404));
  });

  test('are deleted by force from any state, the last one only when the share has no snapshots', async () => {
    const share = await given([{}, { status: 'creating' }]);
    const force = (id: string) =>
      shareInstances.forceDeleteShareInstance({ ctx: share.as(boss), path: { id }, ...nothing });
    await db.run`
      INSERT INTO share_snapshots (id, share_id, project_id, size, deleted) VALUES (${randomUUID()}, ${share.id}, 'p', 1, 'False')`;
    await force(share.instances[1]!);
    const [job] = await db.rows`
      SELECT queue, kind, resource FROM shoal_outbox WHERE payload LIKE ${`%${share.instances[1]}%`}`;
    expect(job).toEqual({ queue: 'share.h@b', kind: 'share.delete', resource: share.id });
    await db.run`UPDATE share_instances SET deleted = id WHERE id = ${share.instances[1]!}`;
    await expect(force(share.instances[0]!)).rejects.toThrow(fault('conflict', 409));
    await db.run`UPDATE share_snapshots SET deleted = id WHERE share_id = ${share.id}`;
    await force(share.instances[0]!);
    await expect(force('nope')).rejects.toThrow(fault('shareInstanceNotFound', 404));
  });

  test('that no back end ever had are gone at once', async () => {
    const share = await given([{ status: 'error', host: null }]);
    await shareInstances.forceDeleteShareInstance({
      ctx: share.as(boss),
      path: { id: share.instances[0]! },
      ...nothing,
    });
    await expect(share.list()).rejects.toThrow(fault('shareNotFound', 404));
  });
});
