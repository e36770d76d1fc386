/** What lists of share networks can be narrowed by: conditions on `n`, the network. */
import { containing } from './like.ts';
import { type Sql, sql } from './sql.ts';

/** Has the network a subnet such that…? Conditions are on `s` and its zone `z`. */
const withSubnet = (condition: Sql): Sql => sql`EXISTS (SELECT 1 FROM share_network_subnets s
  LEFT JOIN availability_zones z ON z.id = s.availability_zone_id
  WHERE s.share_network_id = n.id AND s.deleted = 'False' AND ${condition})`;

export const networkIs = {
  anyOnes: (): Sql => sql`TRUE`,
  none: (): Sql => sql`FALSE`,
  called: (id: string): Sql => sql`n.id = ${id}`,
  ofProject: (id: string): Sql => sql`n.project_id = ${id}`,
  ofUser: (id: string): Sql => sql`n.user_id = ${id}`,
  named: (name: string): Sql => sql`n.name = ${name}`,
  namedLike: (part: string): Sql => sql`n.name LIKE ${containing(part)}`,
  described: (text: string): Sql => sql`n.description = ${text}`,
  describedLike: (part: string): Sql => sql`n.description LIKE ${containing(part)}`,
  inStatus: (status: string): Sql => sql`n.status = ${status}`,
  /** days, as the database writes them */
  createdSince: (day: string): Sql => sql`n.created_at >= ${day}`,
  createdBefore: (day: string): Sql => sql`n.created_at <= ${day}`,
  withSecurityService: (
    id: string,
  ): Sql => sql`EXISTS (SELECT 1 FROM share_network_security_service_association a
    WHERE a.share_network_id = n.id AND a.security_service_id = ${id} AND a.deleted = 0)`,
  onNeutronNet: (id: string): Sql => withSubnet(sql`s.neutron_net_id = ${id}`),
  onNeutronSubnet: (id: string): Sql => withSubnet(sql`s.neutron_subnet_id = ${id}`),
  /** A subnet whose type (or segment) isn't known yet may be of any. */
  ofNetworkType: (type: string): Sql => withSubnet(sql`COALESCE(s.network_type, ${type}) = ${type}`),
  onSegment: (id: number): Sql => withSubnet(sql`COALESCE(s.segmentation_id, ${id}) = ${id}`),
  inCidr: (cidr: string): Sql => withSubnet(sql`s.cidr = ${cidr}`),
  ofIpVersion: (version: number): Sql => withSubnet(sql`s.ip_version = ${version}`),
  inZone: (name: string): Sql => withSubnet(sql`z.name = ${name}`),
} as const;
