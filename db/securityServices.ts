/** Security services, and the share networks that each is tied to. Rows have the API's names. */

import type { Page } from '#domain/paging.ts';
import type { Queries, Tx } from './connection.ts';
import { json, jsonRow, parseRows, time } from './jsonRow.ts';
import { and, int, name, nothing, type Sql, sql } from './sql.ts';
import { updateRow } from './updateRow.ts';

/** What describes a service; the password is the tenant's secret, shown to those who may see the service. */
export interface SecurityServiceFields {
  type: 'active_directory' | 'ldap' | 'kerberos';
  name: string | null;
  description: string | null;
  dns_ip: string | null;
  server: string | null;
  domain: string | null;
  user: string | null;
  password: string | null;
  ou: string | null;
  default_ad_site: string | null;
}

export interface SecurityServiceRow extends SecurityServiceFields {
  id: string;
  project_id: string;
  created_at: string;
  updated_at: string | null;
  /** ids of the share networks that have it */
  share_networks: string[];
}

const columns = jsonRow({
  id: 'c.id',
  project_id: 'c.project_id',
  type: 'c.type',
  name: 'c.name',
  description: 'c.description',
  dns_ip: 'c.dns_ip',
  server: 'c.server',
  domain: 'c.domain',
  user: 'c.`user`',
  password: 'c.password',
  ou: 'c.ou',
  default_ad_site: 'c.default_ad_site',
  created_at: time('c.created_at'),
  updated_at: time('c.updated_at'),
  share_networks: json(`COALESCE((SELECT JSON_ARRAYAGG(a.share_network_id ORDER BY a.id)
    FROM share_network_security_service_association a WHERE a.security_service_id = c.id AND a.deleted = 0), '[]')`),
});

/** One service, whoever's it is; undefined when there is none. */
export async function findSecurityService(db: Queries, id: string): Promise<SecurityServiceRow | undefined> {
  const found = await db.rows<{ row: string }>`
    SELECT ${columns} FROM security_services c WHERE c.id = ${id} AND c.deleted = 'False'`;
  return parseRows<SecurityServiceRow>(found)[0];
}

/** What lists of security services can be narrowed by. */
export const securityServiceIs = {
  ofProject: (id: string): Sql => sql`c.project_id = ${id}`,
  ofNetwork: (id: string): Sql => sql`EXISTS (SELECT 1 FROM share_network_security_service_association a
    WHERE a.security_service_id = c.id AND a.share_network_id = ${id} AND a.deleted = 0)`,
  with: (field: 'id' | 'type' | 'name' | 'dns_ip' | 'server' | 'domain' | 'user', value: string): Sql =>
    sql`c.${name(field)} = ${value}`,
} as const;

/** A page of services, oldest first; one statement whatever its length. */
export async function listSecurityServices(
  db: Queries,
  { where, page: { limit, offset } }: { where: Sql[]; page: Page },
): Promise<SecurityServiceRow[]> {
  const page =
    limit === null && offset === 0
      ? nothing
      : sql`LIMIT ${int(limit ?? 2 ** 31)} OFFSET ${int(Math.min(offset, 2 ** 31))}`;
  return parseRows(
    await db.rows<{ row: string }>`
      SELECT ${columns} FROM security_services c WHERE c.deleted = 'False'${and(where)} ORDER BY c.created_at, c.id ${page}`,
  );
}

/** The services of a network. */
export function securityServicesOf(db: Queries, shareNetworkId: string): Promise<SecurityServiceRow[]> {
  return listSecurityServices(db, {
    where: [securityServiceIs.ofNetwork(shareNetworkId)],
    page: { limit: null, offset: 0 },
  });
}

export async function insertSecurityService(
  tx: Tx,
  service: SecurityServiceFields & { id: string; createdAt: string; projectId: string },
): Promise<void> {
  await tx.run`
    INSERT INTO security_services (created_at, deleted, id, project_id, type, name, description, dns_ip, server, domain, \`user\`,
      password, ou, default_ad_site)
    VALUES (${service.createdAt}, 'False', ${service.id}, ${service.projectId}, ${service.type}, ${service.name}, ${service.description},
      ${service.dns_ip}, ${service.server}, ${service.domain}, ${service.user}, ${service.password}, ${service.ou}, ${service.default_ad_site})`;
}

/** Changes what is given, leaves what is undefined. */
export function updateSecurityService(
  tx: Tx,
  id: string,
  set: { [Field in keyof SecurityServiceFields]?: SecurityServiceFields[Field] | undefined },
): Promise<void> {
  return updateRow(tx, 'security_services', id, set);
}

/** Locks a service until the transaction ends; false when there is none. */
export async function lockSecurityService(tx: Tx, id: string): Promise<boolean> {
  const row =
    await tx.row`SELECT id FROM security_services WHERE id = ${id} AND deleted = 'False' FOR UPDATE`;
  return row !== undefined;
}

/** Has one of the networks that have the service a share server? */
export async function isServiceInUse(db: Queries, id: string): Promise<boolean> {
  const rows = await db.rows`
    SELECT v.id FROM share_network_security_service_association a
    JOIN share_network_subnets s ON s.share_network_id = a.share_network_id AND s.deleted = 'False'
    JOIN share_server_share_network_subnet_mappings m ON m.share_network_subnet_id = s.id AND m.deleted = 0
    JOIN share_servers v ON v.id = m.share_server_id AND v.deleted = 'False'
    WHERE a.security_service_id = ${id} AND a.deleted = 0 LIMIT 1`;
  return rows.length > 0;
}

/** Ties a service to a network. Both are locked by the caller. */
export async function addServiceToNetwork(tx: Tx, id: string, shareNetworkId: string): Promise<void> {
  await tx.run`
    INSERT INTO share_network_security_service_association (created_at, deleted, share_network_id, security_service_id)
    VALUES (UTC_TIMESTAMP(6), 0, ${shareNetworkId}, ${id})`;
}

/** Unties them; false when they weren't tied. */
export async function removeServiceFromNetwork(tx: Tx, id: string, shareNetworkId: string): Promise<boolean> {
  const { affected } = await tx.run`
    UPDATE share_network_security_service_association SET deleted = id, deleted_at = UTC_TIMESTAMP(6)
    WHERE share_network_id = ${shareNetworkId} AND security_service_id = ${id} AND deleted = 0`;
  return affected > 0;
}

/** Soft-deletes a service. */
export async function removeSecurityService(tx: Tx, id: string): Promise<void> {
  await tx.run`
    UPDATE security_services SET deleted = id, deleted_at = UTC_TIMESTAMP(6) WHERE id = ${id} AND deleted = 'False'`;
}
