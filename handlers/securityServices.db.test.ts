import { randomUUID } from 'node:crypto';
import { startWorld, type World } from '#server/local/testing/world.ts';
import type { Ctx } from './context.ts';
import { securityServices } from './securityServices.ts';
import { shareNetworkSecurity } from './shareNetworkSecurity.ts';
import { shareNetworks } from './shareNetworks.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };
const make = async (ctx: Ctx, body: Record<string, unknown> = { type: 'ldap' }) =>
  (await securityServices.createSecurityService({ ...none, ctx, body })).security_service;
const show = async (ctx: Ctx, id: string) =>
  (await securityServices.getSecurityService({ ...none, ctx, path: { id } })).security_service;
const change = async (ctx: Ctx, id: string, body: Record<string, unknown>) =>
  (await securityServices.updateSecurityService({ ...none, ctx, path: { id }, body })).security_service;
const remove = (ctx: Ctx, id: string) =>
  securityServices.deleteSecurityService({ ...none, ctx, path: { id } });
const ids = async (ctx: Ctx, query: Record<string, string> = {}) =>
  (
    await securityServices.listSecurityServices({ ...none, ctx, query: query as never })
  ).security_services.map(({ id }) => id);

const network = async (ctx: Ctx) =>
  (await shareNetworks.createShareNetwork({ ...none, ctx, body: {} })).share_network;
const act = shareNetworkSecurity;
const add = (ctx: Ctx, id: string, serviceId: string) =>
  act.addShareNetworkSecurityService({
    ...none,
    ctx,
    path: { id },
    body: { security_service_id: serviceId },
  });
const checkAdd = (ctx: Ctx, id: string, serviceId: string, reset_operation?: unknown) =>
  act.checkAddShareNetworkSecurityService({
    ...none,
    ctx,
    path: { id },
    body: { security_service_id: serviceId, reset_operation },
  });
const take = (ctx: Ctx, id: string, serviceId: string) =>
  act.removeShareNetworkSecurityService({
    ...none,
    ctx,
    path: { id },
    body: { security_service_id: serviceId },
  });
const pair = (current: string, next: string) => ({ current_service_id: current, new_service_id: next });
const replace = (ctx: Ctx, id: string, current: string, next: string) =>
  act.updateShareNetworkSecurityService({ ...none, ctx, path: { id }, body: pair(current, next) });
const checkReplace = (ctx: Ctx, id: string, current: string, next: string) =>
  act.checkUpdateShareNetworkSecurityService({ ...none, ctx, path: { id }, body: pair(current, next) });

function people() {
  const projectId = randomUUID();
  return {
    projectId,
    owner: world.caller({ projectId }),
    reader: world.caller({ projectId, roles: ['reader'] }),
    stranger: world.caller(),
    admin: world.caller({ roles: ['admin', 'member', 'reader'] }),
  };
}

/** A share server in the network; whether it takes other security services while it serves. */
async function server(subnetId: string, takes = false): Promise<void> {
  const id = randomUUID();
  await world.db.run`
    INSERT INTO share_servers (created_at, deleted, id, host, status, is_auto_deletable, security_service_update_support)
    VALUES (UTC_TIMESTAMP(6), 'False', ${id}, 'testhost@fake', 'active', 1, ${takes})`;
  await world.db.run`
    INSERT INTO share_server_share_network_subnet_mappings (created_at, deleted, share_server_id, share_network_subnet_id)
    VALUES (UTC_TIMESTAMP(6), 0, ${id}, ${subnetId})`;
}

test('a service is made, shown, changed and removed', async () => {
  const { owner, projectId } = people();
  const made = await make(owner, {
    type: 'active_directory',
    name: 5,
    dns_ip: '10.0.0.1',
    user: 'u',
    password: 'p',
    ou: 'o',
    default_ad_site: 'd',
  });
  expect(made).toMatchObject({
    type: 'active_directory',
    status: 'new',
    name: '5',
    password: 'p',
    default_ad_site: 'd',
    server: null,
    project_id: projectId,
  });
  expect(await show(owner, made.id)).toEqual(made);
  expect(await change(owner, made.id, { name: null, type: 'kerberos' })).toMatchObject({
    name: null,
    type: 'kerberos',
    user: 'u',
  });
  expect(await change(owner, made.id, {})).toMatchObject({ user: 'u' });
  await remove(owner, made.id);
  await expect(show(owner, made.id)).rejects.toMatchObject({ status: 404 });
  await expect(remove(owner, made.id)).rejects.toMatchObject({ status: 404 });
});

test.each([{}, { type: 'x' }, { type: 'active_directory', server: 's', default_ad_site: 'd' }])(
  'a service %j is refused',
  async (body) => {
    await expect(make(people().owner, body)).rejects.toMatchObject({ status: 400 });
  },
);

test('another project is refused, with 403; readers read', async () => {
  const { owner, reader, stranger, admin } = people();
  const { id } = await make(owner);
  expect(await show(reader, id)).toMatchObject({ id });
  expect(await show(admin, id)).toMatchObject({ id });
  for (const call of [show, remove, (ctx: Ctx) => change(ctx, id, {})])
    await expect(call(stranger, id)).rejects.toMatchObject({ status: 403 });
  await expect(remove(reader, id)).rejects.toMatchObject({ status: 403 });
  await expect(change(reader, id, {})).rejects.toMatchObject({ status: 403 });
  await expect(change(owner, 'nope', {})).rejects.toMatchObject({ status: 404 });
  await expect(change(owner, id, { type: 'x' })).rejects.toMatchObject({ status: 400 });
});

test('lists are narrowed, and of the own project unless an administrator asks', async () => {
  const { owner, stranger, admin, projectId } = people();
  const a = await make(owner, { type: 'ldap', name: 'a', server: 's', user: 'u', domain: 'd', dns_ip: 'i' });
  const b = await make(owner, { type: 'kerberos', name: 'b' });
  const net = await network(owner);
  await add(owner, net.id, b.id);
  const expected: [Record<string, string>, string[]][] = [
    [{}, [a.id, b.id]],
    [{ name: 'a' }, [a.id]],
    [{ type: 'kerberos' }, [b.id]],
    [{ server: 's', user: 'u', domain: 'd', dns_ip: 'i' }, [a.id]],
    [{ id: b.id }, [b.id]],
    [{ share_network_id: net.id }, [b.id]],
    [{ share_network_id: net.id, type: 'ldap' }, []],
    [{ project_id: 'x' }, [a.id, b.id]],
    [{ limit: '1', offset: '1' }, [b.id]],
    [{ limit: '0' }, [a.id, b.id]],
  ];
  for (const [query, found] of expected) expect([query, await ids(owner, query)]).toEqual([query, found]);
  expect(await ids(stranger, { all_tenants: '1' })).toEqual([]);
  await expect(ids(stranger, { share_network_id: net.id })).rejects.toMatchObject({ status: 404 });
  expect(await ids(admin)).toEqual([]);
  expect(await ids(admin, { all_tenants: '1' })).toEqual(expect.arrayContaining([a.id, b.id]));
  expect(await ids(admin, { all_tenants: '1', project_id: projectId })).toEqual([a.id, b.id]);
  const detail = await securityServices.listSecurityServicesDetail({
    ...none,
    ctx: owner,
    query: {} as never,
  });
  expect(detail.security_services.map(({ share_networks }) => share_networks)).toEqual([[], [net.id]]);
});

test('a network has one service of each type, which is not removed meanwhile', async () => {
  const { owner } = people();
  const [ldap, other, kerberos] = [
    await make(owner),
    await make(owner),
    await make(owner, { type: 'kerberos' }),
  ];
  const { id } = await network(owner);
  expect(await checkAdd(owner, id, ldap.id)).toEqual({
    compatible: true,
    requested_operation: {
      operation: 'add_security_service',
      current_security_service: null,
      new_security_service: ldap.id,
    },
  });
  expect((await add(owner, id, ldap.id)).share_network).toMatchObject({ id });
  for (const second of [ldap.id, other.id]) {
    await expect(add(owner, id, second)).rejects.toMatchObject({ status: 409 });
    await expect(checkAdd(owner, id, second)).rejects.toMatchObject({ status: 409 });
  }
  await add(owner, id, kerberos.id);
  await expect(remove(owner, ldap.id)).rejects.toMatchObject({ status: 403 });
  await expect(checkReplace(owner, id, ldap.id, kerberos.id)).rejects.toMatchObject({ status: 409 });
  await expect(checkReplace(owner, id, other.id, ldap.id)).rejects.toMatchObject({ status: 409 });
  expect(await checkReplace(owner, id, ldap.id, other.id)).toMatchObject({ compatible: true });
  await replace(owner, id, ldap.id, other.id);
  await remove(owner, ldap.id);
  await expect(replace(owner, id, ldap.id, other.id)).rejects.toMatchObject({ status: 400 });
  await expect(take(owner, id, ldap.id)).rejects.toMatchObject({ status: 404 });
  await take(owner, id, other.id);
  await expect(take(owner, id, other.id)).rejects.toMatchObject({ status: 400 });
  expect(await ids(owner, { share_network_id: id })).toEqual([kerberos.id]);
});

test('of several who add a service of one type at once, one does', async () => {
  const { owner } = people();
  const { id } = await network(owner);
  const services = await Promise.all([1, 2, 3].map(() => make(owner)));
  const outcomes = await Promise.allSettled(services.map((service) => add(owner, id, service.id)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(await ids(owner, { share_network_id: id })).toHaveLength(1);
});

test('a service of another project, a network of another project, and readers are refused', async () => {
  const { owner, reader, stranger } = people();
  const [own, foreign] = [await make(owner), await make(stranger)];
  const { id } = await network(owner);
  await expect(add(owner, id, foreign.id)).rejects.toMatchObject({ status: 404 });
  await expect(checkAdd(owner, id, foreign.id)).rejects.toMatchObject({ status: 400 });
  await expect(checkAdd(owner, id, 'nope')).rejects.toMatchObject({ status: 400 });
  await expect(checkAdd(owner, id, own.id, 'perhaps')).rejects.toMatchObject({ status: 400 });
  await expect(replace(owner, id, own.id, foreign.id)).rejects.toMatchObject({ status: 400 });
  for (const [ctx, status] of [
    [stranger, 404],
    [reader, 403],
  ] as const) {
    await expect(add(ctx, id, own.id)).rejects.toMatchObject({ status });
    await expect(checkAdd(ctx, id, own.id)).rejects.toMatchObject({ status });
    await expect(take(ctx, id, own.id)).rejects.toMatchObject({ status });
    await expect(replace(ctx, id, own.id, own.id)).rejects.toMatchObject({ status });
    await expect(checkReplace(ctx, id, own.id, own.id)).rejects.toMatchObject({ status });
  }
});

test('a network that is not active takes no change of its services', async () => {
  const { owner } = people();
  const service = await make(owner);
  const { id } = await network(owner);
  await world.db.run`UPDATE share_networks SET status = 'error' WHERE id = ${id}`;
  await expect(add(owner, id, service.id)).rejects.toMatchObject({ status: 400 });
  await expect(checkAdd(owner, id, service.id)).rejects.toMatchObject({ status: 400 });
  await expect(replace(owner, id, service.id, service.id)).rejects.toMatchObject({ status: 400 });
});

test('a service that share servers use keeps what they were made with', async () => {
  const { owner, admin } = people();
  const [service, kerberos] = [await make(owner), await make(owner, { type: 'kerberos' })];
  const net = await network(owner);
  await add(owner, net.id, service.id);
  await server(net.share_network_subnets[0]!.id);
  expect(await change(owner, service.id, { name: 'n', description: 'd' })).toMatchObject({ name: 'n' });
  await expect(change(owner, service.id, { name: 'n', server: 's' })).rejects.toMatchObject({ status: 403 });
  await expect(take(owner, net.id, service.id)).rejects.toMatchObject({ status: 403 });
  await expect(add(owner, net.id, kerberos.id)).rejects.toMatchObject({ status: 403 });
  expect(await checkAdd(owner, net.id, kerberos.id)).toMatchObject({ compatible: false });
  expect(await checkAdd(admin, net.id, kerberos.id)).toMatchObject({
    compatible: false,
    hosts_check_result: { 'testhost@fake': false },
  });
});
