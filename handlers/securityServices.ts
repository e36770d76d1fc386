/** Security services: creation, lists, one, changes, deletion. */
import { randomUUID } from 'node:crypto';
import {
  findSecurityService,
  insertSecurityService,
  isServiceInUse,
  listSecurityServices,
  lockSecurityService,
  removeSecurityService,
  type SecurityServiceFields,
  type SecurityServiceRow,
  securityServiceIs,
  updateSecurityService,
} from '#db/securityServices.ts';
import type { Sql } from '#db/sql.ts';
import { asBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import { readSecurityServiceType, refuseTwoWays } from '#domain/securityServices.ts';
import { now } from '#domain/time.ts';
import type { Operations } from '#generated/handlers.ts';
import type { PolicyName } from '#generated/policies.ts';
import type { Ctx } from './context.ts';
import type { Handlers } from './request.ts';
import { pageOf } from './shareNetworkFilters.ts';
import { visibleShareNetwork } from './visibleShareNetwork.ts';

export const securityServices = {
  async listSecurityServices({ ctx, query }) {
    return { security_services: (await list(ctx, query)).map(shown) };
  },

  async listSecurityServicesDetail({ ctx, query }) {
    return { security_services: (await list(ctx, query)).map(shown) };
  },

  async getSecurityService({ ctx, path }) {
    return { security_service: shown(await allowedService(ctx, path.id, 'security_service:show')) };
  },

  async createSecurityService({ ctx, body }) {
    const type = readSecurityServiceType(body.type);
    const { type: _, ...given } = fieldsOf(body);
    const service = { ...nothingSaid, ...given, type };
    refuseTwoWays(service);
    const id = randomUUID();
    await ctx.transaction((tx) =>
      insertSecurityService(tx, { ...service, id, createdAt: now(), projectId: ctx.projectId }),
    );
    return { security_service: shown((await findSecurityService(ctx.db, id))!) };
  },

  async updateSecurityService({ ctx, path, body }) {
    const { id } = await allowedService(ctx, path.id, 'security_service:update');
    const changes = fieldsOf(body);
    const fields = Object.keys(changes);
    await ctx.transaction(async (tx) => {
      if (!(await lockSecurityService(tx, id))) throw fault('securityServiceNotFound', { id });
      const onlyNamed = fields.every((field) => field === 'name' || field === 'description');
      if (!onlyNamed && (await isServiceInUse(tx, id))) {
        throw fault('notAllowed', {
          reason: `Security service ${id} is used by share servers: only its name and description can be changed.`,
        });
      }
      if (fields.length > 0) await updateSecurityService(tx, id, changes);
    });
    return { security_service: shown((await findSecurityService(ctx.db, id))!) };
  },

  async deleteSecurityService({ ctx, path }) {
    const { id } = await allowedService(ctx, path.id, 'security_service:delete');
    await ctx.transaction(async (tx) => {
      if (!(await lockSecurityService(tx, id))) throw fault('securityServiceNotFound', { id });
      const networks = (await findSecurityService(tx, id))!.share_networks;
      if (networks.length > 0) {
        throw fault('notAllowed', {
          reason: `Security service ${id} is used by share networks ${networks.join(', ')}: remove it from them first.`,
        });
      }
      await removeSecurityService(tx, id);
    });
  },
} satisfies Partial<Handlers>;

/** The service, if the caller may do this to it: 404 when there is none, 403 when it is another project's. */
async function allowedService(ctx: Ctx, id: string, policy: PolicyName): Promise<SecurityServiceRow> {
  const service = await findSecurityService(ctx.db, id);
  if (!service) throw fault('securityServiceNotFound', { id });
  ctx.authorize(policy, { id, project_id: service.project_id });
  return service;
}

/** Its status is a word that the API always had, and never another. */
function shown(service: SecurityServiceRow) {
  return { ...service, status: 'new' as const };
}

const nothingSaid: Omit<SecurityServiceFields, 'type'> = {
  name: null,
  description: null,
  dns_ip: null,
  server: null,
  domain: null,
  user: null,
  password: null,
  ou: null,
  default_ad_site: null,
};

/** The fields that a request has, as they are stored. */
function fieldsOf(body: Operations['updateSecurityService']['body']): Partial<SecurityServiceFields> {
  const given: Record<string, string | null> = {};
  for (const field of Object.keys(nothingSaid) as (keyof typeof nothingSaid)[]) {
    const value = body[field];
    if (value !== undefined) given[field] = value === null ? null : String(value);
  }
  return body.type === undefined ? given : { ...given, type: readSecurityServiceType(body.type) };
}

type Query = Operations['listSecurityServices']['query'];

async function list(ctx: Ctx, query: Query): Promise<SecurityServiceRow[]> {
  return listSecurityServices(ctx.db, { where: await conditions(ctx, query), page: pageOf(ctx, query) });
}

/** A network's services are listed for all who see the network; else those of the caller's project. */
async function conditions(ctx: Ctx, query: Query): Promise<Sql[]> {
  const where: Sql[] = [];
  if (query.share_network_id !== undefined) {
    const { id } = await visibleShareNetwork(ctx, query.share_network_id);
    where.push(securityServiceIs.ofNetwork(id));
  } else {
    where.push(...scope(ctx, query));
  }
  for (const field of ['id', 'name', 'type', 'user', 'server', 'dns_ip', 'domain'] as const) {
    const value = query[field];
    if (value !== undefined) where.push(securityServiceIs.with(field, value));
  }
  return where;
}

function scope(ctx: Ctx, query: Query): Sql[] {
  const all = query.all_tenants !== undefined && asBoolean(query.all_tenants) !== false;
  if (!all || !ctx.can('security_service:get_all_security_services'))
    return [securityServiceIs.ofProject(ctx.projectId)];
  return query.project_id === undefined ? [] : [securityServiceIs.ofProject(query.project_id)];
}
