/** Share servers as drivers see them: with their details, the subnets and ports that they have, the security services. */
import type { BackendShareServer } from '#domain/backend.ts';
import type { Queries } from './connection.ts';
import { json } from './jsonRow.ts';
import { Sql, sql } from './sql.ts';

const port = "JSON_OBJECT('id', a.id, 'ipAddress', a.ip_address, 'macAddress', a.mac_address)";

const ports = (where: string) =>
  json(`COALESCE((SELECT JSON_ARRAYAGG(${port} ORDER BY a.created_at, a.id)
    FROM network_allocations a WHERE a.share_server_id = v.id AND a.deleted = 'False' AND ${where}), '[]')`);

const network = `JSON_OBJECT('subnetId', u.id, 'neutronNetId', u.neutron_net_id, 'neutronSubnetId', u.neutron_subnet_id,
  'networkType', u.network_type, 'segmentationId', u.segmentation_id, 'cidr', u.cidr, 'gateway', u.gateway, 'mtu', u.mtu,
  'ipVersion', u.ip_version,
  'metadata', ${json(`COALESCE((SELECT JSON_OBJECTAGG(x.\`key\`, x.value) FROM share_network_subnet_metadata x
    WHERE x.share_network_subnet_id = u.id AND x.deleted = 'False'), '{}')`)},
  'ports', ${ports('a.share_network_subnet_id = u.id')}, 'adminPorts', ${ports("a.label = 'admin'")})`;

const securityService = `JSON_OBJECT('id', y.id, 'type', y.type, 'dnsIp', y.dns_ip, 'ou', y.ou, 'server', y.server,
  'domain', y.domain, 'user', y.user, 'password', y.password, 'defaultAdSite', y.default_ad_site)`;

const ofServer = `share_server_share_network_subnet_mappings m JOIN share_network_subnets u ON u.id = m.share_network_subnet_id
  AND m.share_server_id = v.id AND m.deleted = 0`;

/** A server `v` as JSON, for statements that read it with what is on it; parsed by `parseServer`. */
export const serverObject = new Sql(
  `JSON_OBJECT('id', v.id, 'identifier', v.identifier,
    'projectId', (SELECT n.project_id FROM ${ofServer} JOIN share_networks n ON n.id = u.share_network_id ORDER BY m.id LIMIT 1),
    'details', ${json(`COALESCE((SELECT JSON_OBJECTAGG(d.\`key\`, d.value) FROM share_server_backend_details d
      WHERE d.share_server_id = v.id AND d.deleted = 'False'), '{}')`)},
    'networks', ${json(`COALESCE((SELECT JSON_ARRAYAGG(${network} ORDER BY m.id) FROM ${ofServer}), '[]')`)},
    'securityServices', ${json(`COALESCE((SELECT JSON_ARRAYAGG(${securityService} ORDER BY c.id)
      FROM share_network_security_service_association c JOIN security_services y ON y.id = c.security_service_id AND y.deleted = 'False'
      WHERE c.deleted = 0 AND c.share_network_id = (SELECT u.share_network_id FROM ${ofServer} ORDER BY m.id LIMIT 1)), '[]')`)})`,
  [],
);

export function parseServer(text: string): BackendShareServer {
  return JSON.parse(text) as BackendShareServer;
}

/** A server in the state that it is in, with what a driver needs; undefined when it is gone. */
export interface DrivenServer {
  id: string;
  host: string;
  status: string;
  taskState: string | null;
  sourceId: string | null;
  server: BackendShareServer;
}

type Raw = Omit<DrivenServer, 'server'> & { server: string };

const columns = sql`v.id, v.host, v.status, v.task_state AS taskState, v.source_share_server_id AS sourceId, ${serverObject} AS server`;

export async function findDrivenServer(db: Queries, id: string): Promise<DrivenServer | undefined> {
  const raw =
    await db.row<Raw>`SELECT ${columns} FROM share_servers v WHERE v.id = ${id} AND v.deleted = 'False'`;
  return raw && { ...raw, server: parseServer(raw.server) };
}

/** The live servers of a back end, `host@backend`, oldest first. */
export async function drivenServersOn(db: Queries, host: string): Promise<DrivenServer[]> {
  const rows = await db.rows<Raw>`
    SELECT ${columns} FROM share_servers v WHERE v.host = ${host} AND v.deleted = 'False' ORDER BY v.created_at, v.id`;
  return rows.map((raw) => ({ ...raw, server: parseServer(raw.server) }));
}
