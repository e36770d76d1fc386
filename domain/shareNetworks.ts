/** What may be asked of share networks and their subnets. */
import { fault } from './faults.ts';

/** What administrators may set the status of a network to. */
export const networkStatuses = ['active', 'error', 'network_change'] as const;

/** Refuses, as a bad request, what needs the network active. */
export function refuseInactive({ id, status }: { id: string; status: string }): void {
  if (status === 'active') return;
  throw fault('invalidInput', {
    reason: `share network ${id} is ${status}; this needs it active, and may be asked again then`,
  });
}

interface Zoned {
  /** name of its zone; null when it is for every zone */
  availability_zone: string | null;
}

/** Does a subnet of these serve a zone? */
export function servesZone(subnets: readonly Zoned[], zone: string): boolean {
  return subnets.some((subnet) => subnet.availability_zone === null || subnet.availability_zone === zone);
}

/** Refuses half of a Neutron network: it is a network and a subnet of it, or neither. */
export function refuseHalfNeutron(net: unknown, subnet: unknown): void {
  if ((net === undefined || net === null) === (subnet === undefined || subnet === null)) return;
  throw fault('invalidInput', {
    reason: 'neutron_net_id and neutron_subnet_id must be given both, or neither',
  });
}
