import { randomUUID } from 'node:crypto';
import { startWorld, type World } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { qosTypes } from './qosTypes.ts';
import { shares } from './shares.ts';
import { shareTypes } from './shareTypes.ts';

let world: World;
let admin: Ctx;
beforeAll(async () => {
  world = await startWorld();
  admin = world.caller({ roles: ['admin', 'member', 'reader'] });
});
afterAll(() => world.close());

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };

const make = async (body: {
  name?: string;
  description?: string;
  specs?: Record<string, string | boolean>;
}) => (await qosTypes.createQosType({ ...none, ctx: admin, body: { name: randomUUID(), ...body } })).qos_type;
const show = async (id: string, ctx = admin) =>
  (await qosTypes.getQosType({ ...none, ctx, path: { id } })).qos_type;
const remove = (id: string) => qosTypes.deleteQosType({ ...none, ctx: admin, path: { id } });

/** A share type whose shares get the QoS type of this name or id. */
async function typeWith(qosType: string): Promise<string> {
  const name = randomUUID();
  const extra_specs = { driver_handles_share_servers: 'False', default_qos_type: qosType };
  await shareTypes.createShareType({ ...none, ctx: admin, body: { name, extra_specs } });
  return name;
}

test('a type is made, seen by all projects, described anew, and removed', async () => {
  const made = await make({ name: 'gold', description: 'fast', specs: { iops: '100', bursts: true } });
  expect(made).toMatchObject({ name: 'gold', description: 'fast', specs: { iops: '100', bursts: 'True' } });
  expect(made).toMatchObject({ updated_at: null });
  expect(await show(made.id, world.caller())).toEqual(made);
  const { qos_type: changed } = await qosTypes.updateQosType({
    ...none,
    ctx: admin,
    path: { id: made.id },
    body: { description: null },
  });
  expect(changed).toMatchObject({ name: 'gold', description: null });
  await remove(made.id);
  await expect(show(made.id)).rejects.toMatchObject({ status: 404 });
  // The name is free again.
  await remove((await make({ name: 'gold' })).id);
});

test('a name is taken once', async () => {
  const { id, name } = await make({});
  await expect(make({ name })).rejects.toMatchObject({ status: 409 });
  await remove(id);
});

test('specs are added, changed, shown one by one, and removed', async () => {
  const { id } = await make({ specs: { a: 'b' } });
  const set = (body: Record<string, string>) =>
    qosTypes.createQosSpecs({ ...none, ctx: admin, path: { id }, body });
  const one = { ...none, ctx: admin, path: { id, key: 'c' } };
  expect(await set({ c: 'd', a: 'z' })).toEqual({ specs: { c: 'd', a: 'z' } });
  expect(await qosTypes.updateQosSpec({ ...one, body: { c: 'e' } })).toEqual({ c: 'e' });
  expect(await qosTypes.getQosSpec(one)).toEqual({ c: 'e' });
  expect(await qosTypes.listQosSpecs({ ...none, ctx: admin, path: { id } })).toEqual({
    specs: { a: 'z', c: 'e' },
  });
  await qosTypes.deleteQosSpec(one);
  await expect(qosTypes.deleteQosSpec(one)).rejects.toMatchObject({ status: 404 });
  await expect(qosTypes.getQosSpec(one)).rejects.toMatchObject({ status: 404 });
  await expect(set({ 'a b': 'c' })).rejects.toMatchObject({ status: 400 });
  await expect(qosTypes.updateQosSpec({ ...one, body: { x: 'e' } })).rejects.toMatchObject({ status: 400 });
  await expect(qosTypes.updateQosSpec({ ...one, body: {} })).rejects.toMatchObject({ status: 400 });
});

test('of a type that is not there nothing is known', async () => {
  const path = { id: randomUUID() };
  const one = { ...none, ctx: admin, path: { ...path, key: 'c' } };
  const all = { ...none, ctx: admin, path };
  for (const ask of [
    () => show(path.id),
    () => remove(path.id),
    () => qosTypes.updateQosType({ ...all, body: { description: 'x' } }),
    () => qosTypes.updateQosType({ ...all, body: {} }),
    () => qosTypes.listQosSpecs(all),
    () => qosTypes.createQosSpecs({ ...all, body: { a: 'b' } }),
    () => qosTypes.getQosSpec(one),
    () => qosTypes.updateQosSpec({ ...one, body: { c: 'e' } }),
    () => qosTypes.deleteQosSpec(one),
  ]) {
    await expect(ask()).rejects.toMatchObject({ status: 404 });
  }
});

test('lists are narrowed, ordered and cut into pages', async () => {
  const tag = randomUUID();
  for (const name of ['one', 'two_', 'three']) await make({ name: `${name} ${tag}`, description: tag });
  const listed = async (query: Record<string, string>) => {
    const all = await qosTypes.listQosTypes({
      ...none,
      ctx: world.caller(),
      query: { description: tag, ...query },
    });
    return all.qos_types.map(({ name }) => name.split(' ')[0]);
  };
  expect(await listed({})).toEqual(['three', 'two_', 'one']);
  expect(await listed({ sort_key: 'name', sort_dir: 'asc' })).toEqual(['one', 'three', 'two_']);
  expect(await listed({ limit: '1', offset: '1' })).toEqual(['two_']);
  expect(await listed({ name: `one ${tag}` })).toEqual(['one']);
  expect(await listed({ 'name~': '_' })).toEqual(['two_']);
  expect(await listed({ 'description~': tag.slice(3) })).toHaveLength(3);
  await expect(listed({ sort_key: 'bogus' })).rejects.toMatchObject({ status: 400 });
});

test('shares get the QoS type that their type names, and keep it from being deleted', async () => {
  const { id, name } = await make({ specs: { iops: '7' } });
  for (const named of [id, name]) {
    const owner = world.caller();
    const { share } = await shares.createShare({
      ...none,
      ctx: owner,
      body: { share_proto: 'NFS', size: 1, share_type: await typeWith(named) },
    });
    await world.work(share.id);
    expect((await shares.getShare({ ...none, ctx: owner, path: { id: share.id } })).share.status).toBe(
      'available',
    );
    await expect(remove(id)).rejects.toMatchObject({ status: 400 });
    await shares.deleteShare({ ...none, ctx: owner, path: { id: share.id } });
    await world.work(share.id);
  }
  await remove(id);
});

test('a type that names a QoS type which is not there makes no shares', async () => {
  const body = { share_proto: 'NFS', size: 1, share_type: await typeWith('nowhere') };
  await expect(shares.createShare({ ...none, ctx: world.caller(), body })).rejects.toMatchObject({
    status: 400,
  });
});
