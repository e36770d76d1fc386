import { randomUUID } from 'node:crypto';
import { startWorld, type World } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { groupSpecs } from './groupSpecs.ts';
import { shareGroups } from './shareGroups.ts';
import { shareGroupTypeAccess } from './shareGroupTypeAccess.ts';
import { shareGroupTypes } from './shareGroupTypes.ts';
import { shareTypes } from './shareTypes.ts';

let world: World;
let admin: Ctx;
let shareType: { id: string; name: string };
beforeAll(async () => {
  world = await startWorld();
  admin = world.caller({ roles: ['admin', 'member', 'reader'] });
  const body = { name: 'plain', extra_specs: { driver_handles_share_servers: 'False' } };
  shareType = (await shareTypes.createShareType({ ...none, ctx: admin, body })).share_type;
});
afterAll(() => world.close());

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };

const make = async (body: Record<string, unknown> = {}) =>
  (
    await shareGroupTypes.createShareGroupType({
      ...none,
      ctx: admin,
      body: { name: randomUUID(), share_types: [shareType.name], ...body } as never,
    })
  ).share_group_type;
const show = async (id: string, ctx = admin) =>
  (await shareGroupTypes.getShareGroupType({ ...none, ctx, path: { id } })).share_group_type;
const list = async (query: Record<string, string>, ctx = admin) =>
  (await shareGroupTypes.listShareGroupTypes({ ...none, ctx, query })).share_group_types.map(({ id }) => id);

test('a type is made, seen by all projects, and removed', async () => {
  const made = await make({ name: 'trio', group_specs: { a: 'b' } });
  expect(made).toMatchObject({
    name: 'trio',
    is_public: true,
    group_specs: { a: 'b' },
    share_types: [shareType.id],
    is_default: false,
  });
  expect(await show(made.id, world.caller())).toEqual(made);
  const path = { id: shareType.id };
  await expect(shareTypes.deleteShareType({ ...none, ctx: admin, path })).rejects.toMatchObject({
    status: 400,
  });
  await expect(make({ name: 'trio' })).rejects.toMatchObject({ status: 409 });
  await shareGroupTypes.deleteShareGroupType({ ...none, ctx: admin, path: { id: made.id } });
  await expect(show(made.id)).rejects.toMatchObject({ status: 404 });
  await make({ name: 'trio' });
});

test.each([
  [{ name: '' }, 400],
  [{ name: null }, 400],
  [{ share_types: [] }, 400],
  [{ share_types: null }, 400],
  [{ share_types: ['nope'] }, 404],
])('%j is refused', async (body, status) => {
  await expect(make(body)).rejects.toMatchObject({ status });
});

test('lists are of what the caller may use, and narrowed by specs', async () => {
  const open = await make({ group_specs: { k: 'v', l: 'w' } });
  const closed = await make({ group_specs: { k: 'v' }, is_public: 'false' });
  expect(await list({ group_specs: '{"k": "v"}' })).toEqual([open.id]);
  expect(await list({ group_specs: "{'k': 'v'}", is_public: 'all' })).toHaveLength(2);
  expect(await list({ is_public: 'false' })).toEqual([closed.id]);
  expect(await list({ is_public: 'all' }, world.caller())).not.toContain(closed.id);
  await expect(list({ is_public: 'perhaps' })).rejects.toMatchObject({ status: 400 });
  await expect(list({ group_specs: 'k=v' })).rejects.toMatchObject({ status: 400 });
});

test('without a default type there is none to show', async () => {
  await expect(shareGroupTypes.getDefaultShareGroupType({ ...none, ctx: admin })).rejects.toMatchObject({
    status: 404,
  });
});

test('the default type is shown as such, and is that of groups that name none', async () => {
  const { id, name } = await make();
  Object.assign(admin.settings, { default_share_group_type: name, default_share_type: shareType.name });
  try {
    const found = await shareGroupTypes.getDefaultShareGroupType({ ...none, ctx: admin });
    expect(found.share_group_type).toMatchObject({ id, is_default: true });
    const { share_group: group } = await shareGroups.createShareGroup({
      ...none,
      ctx: world.caller(),
      body: {},
    });
    expect(group).toMatchObject({ share_group_type_id: id, share_types: [shareType.id] });
    const path = { id };
    const remove = shareGroupTypes.deleteShareGroupType({ ...none, ctx: admin, path });
    await expect(remove).rejects.toMatchObject({ status: 400 });
  } finally {
    Object.assign(admin.settings, { default_share_group_type: null, default_share_type: null });
  }
});

test('a private type is for the projects that it was given to', async () => {
  const { id } = await make({ is_public: false });
  const member = world.caller();
  const change = { ...none, ctx: admin, path: { id }, body: { project: member.projectId } };
  await expect(show(id, member)).rejects.toMatchObject({ status: 404 });
  await shareGroupTypeAccess.addShareGroupTypeAccess(change);
  await expect(shareGroupTypeAccess.addShareGroupTypeAccess(change)).rejects.toMatchObject({ status: 409 });
  expect(await show(id, member)).toMatchObject({ is_public: false });
  expect(await list({}, member)).toContain(id);
  expect(await shareGroupTypeAccess.listShareGroupTypeAccess({ ...none, ctx: admin, path: { id } })).toEqual({
    share_group_type_access: [{ share_group_type_id: id, project_id: member.projectId }],
  });
  await shareGroupTypeAccess.removeShareGroupTypeAccess(change);
  await expect(shareGroupTypeAccess.removeShareGroupTypeAccess(change)).rejects.toMatchObject({
    status: 404,
  });
  await expect(show(id, member)).rejects.toMatchObject({ status: 404 });
  await expect(
    shareGroupTypeAccess.addShareGroupTypeAccess({ ...change, body: { project: 'x' } }),
  ).rejects.toMatchObject({ status: 400 });
});

test('a public type has no access list', async () => {
  const { id } = await make();
  const change = { ...none, ctx: admin, path: { id }, body: { project: randomUUID() } };
  await expect(shareGroupTypeAccess.listShareGroupTypeAccess(change as never)).rejects.toMatchObject({
    status: 404,
  });
  await expect(shareGroupTypeAccess.addShareGroupTypeAccess(change)).rejects.toMatchObject({ status: 409 });
  await expect(shareGroupTypeAccess.removeShareGroupTypeAccess(change)).rejects.toMatchObject({
    status: 409,
  });
});

test('specs are added, changed, shown one by one, and removed', async () => {
  const { id } = await make({ group_specs: { a: 'b' } });
  const all = { ...none, ctx: admin, path: { id } };
  const one = { ...none, ctx: admin, path: { id, key: 'c' } };
  expect(await groupSpecs.createGroupSpecs({ ...all, body: { c: 'd', t: true } })).toEqual({
    group_specs: { c: 'd', t: true },
  });
  expect(await groupSpecs.updateGroupSpec({ ...one, body: { c: 'e' } })).toEqual({ c: 'e' });
  expect(await groupSpecs.getGroupSpec(one)).toEqual({ c: 'e' });
  expect(await groupSpecs.listGroupSpecs(all)).toEqual({ group_specs: { a: 'b', c: 'e', t: 'True' } });
  await groupSpecs.deleteGroupSpec(one);
  await expect(groupSpecs.deleteGroupSpec(one)).rejects.toMatchObject({ status: 404 });
  await expect(groupSpecs.getGroupSpec(one)).rejects.toMatchObject({ status: 404 });
  await expect(groupSpecs.createGroupSpecs({ ...all, body: { 'a b': 'c' } })).rejects.toMatchObject({
    status: 400,
  });
  await expect(groupSpecs.updateGroupSpec({ ...one, body: { x: 'e' } })).rejects.toMatchObject({
    status: 400,
  });
});

test('of a type that is not there nothing is known', async () => {
  const id = randomUUID();
  const all = { ...none, ctx: admin, path: { id }, body: { project: randomUUID() } };
  const one = { ...none, ctx: admin, path: { id, key: 'c' } };
  for (const ask of [
    () => show(id),
    () => shareGroupTypes.deleteShareGroupType(all as never),
    () => shareGroupTypeAccess.listShareGroupTypeAccess(all as never),
    () => shareGroupTypeAccess.addShareGroupTypeAccess(all),
    () => shareGroupTypeAccess.removeShareGroupTypeAccess(all),
    () => groupSpecs.listGroupSpecs(all as never),
    () => groupSpecs.createGroupSpecs({ ...all, body: { a: 'b' } }),
    () => groupSpecs.getGroupSpec(one),
    () => groupSpecs.updateGroupSpec({ ...one, body: { c: 'e' } }),
    () => groupSpecs.deleteGroupSpec(one),
  ]) {
    await expect(ask()).rejects.toMatchObject({ status: 404 });
  }
});
