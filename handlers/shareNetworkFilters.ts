/** What a list of share networks can be narrowed by. */
import { networkIs } from '#db/shareNetworkConditions.ts';
import type { Sql } from '#db/sql.ts';
import { asBoolean } from '#domain/booleans.ts';
import { fault } from '#domain/faults.ts';
import type { Page } from '#domain/paging.ts';
import { readPage } from '#domain/paging.ts';
import type { Operations } from '#generated/handlers.ts';
import type { Ctx } from './context.ts';

type Query = Operations['listShareNetworks']['query'];

/** The conditions of a list request on `n`, the network. */
export function networkConditions(ctx: Ctx, query: Query): Sql[] {
  return [scope(ctx, query), ...ofNetwork(query), ...ofSubnets(query)];
}

/** Whose networks: the caller's project's; an admin may ask for another project's, or for all. */
function scope(ctx: Ctx, query: Query): Sql {
  if (ctx.can('share_network:get_all_share_networks')) {
    if (query.project_id !== undefined) return networkIs.ofProject(query.project_id);
    if (query.all_tenants !== undefined && asBoolean(query.all_tenants) !== false) return networkIs.anyOnes();
  }
  return networkIs.ofProject(ctx.projectId);
}

function ofNetwork(query: Query): Sql[] {
  return [
    ...given(query.id, networkIs.called),
    ...given(query.user_id, networkIs.ofUser),
    ...given(query.name, networkIs.named),
    ...given(query['name~'], networkIs.namedLike),
    ...given(query.description, networkIs.described),
    ...given(query['description~'], networkIs.describedLike),
    ...given(query.status, networkIs.inStatus),
    ...given(query.created_since, (text) => networkIs.createdSince(day(text, 'created_since'))),
    ...given(query.created_before, (text) => networkIs.createdBefore(day(text, 'created_before'))),
    ...given(query.security_service_id, networkIs.withSecurityService),
    ...given(query.nova_net_id, networkIs.none),
  ];
}

function ofSubnets(query: Query): Sql[] {
  return [
    ...given(query.neutron_net_id, networkIs.onNeutronNet),
    ...given(query.neutron_subnet_id, networkIs.onNeutronSubnet),
    ...given(query.network_type, networkIs.ofNetworkType),
    ...given(query.segmentation_id, (text) => networkIs.onSegment(integer(text, 'segmentation_id'))),
    ...given(query.cidr, networkIs.inCidr),
    ...given(query.ip_version, (text) => networkIs.ofIpVersion(integer(text, 'ip_version'))),
    ...given(query.availability_zone, networkIs.inZone),
  ];
}

function given(value: string | undefined, condition: (text: string) => Sql): Sql[] {
  return value === undefined ? [] : [condition(value)];
}

function integer(text: string, where: string): number {
  if (!/^\d{1,9}$/.test(text))
    throw fault('invalidQuery', { where, reason: `must be a whole number, not ${JSON.stringify(text)}` });
  return Number(text);
}

/** A day that there is, as it was written. */
function day(text: string, where: string): string {
  const date = new Date(`${text}T00:00:00Z`);
  if (/^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text))
    return text;
  throw fault('invalidQuery', {
    where,
    reason: `must be a day of the form yyyy-mm-dd, not ${JSON.stringify(text)}`,
  });
}

/** Here no limit can be asked for as 0, too. */
export function pageOf(ctx: Ctx, query: { limit?: string; offset?: string }): Page {
  const page = readPage(query, ctx.settings.osapi_max_limit);
  return page.limit === 0 ? { ...page, limit: null } : page;
}
