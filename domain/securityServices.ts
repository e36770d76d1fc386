/** What may be asked of security services. */
import { fault } from './faults.ts';

export const securityServiceTypes = ['active_directory', 'ldap', 'kerberos'] as const;
export type SecurityServiceType = (typeof securityServiceTypes)[number];

/** A type as clients send it. Throws 400 for one that there isn't. */
export function readSecurityServiceType(given: unknown): SecurityServiceType {
  const type = securityServiceTypes.find((known) => known === given);
  if (type) return type;
  // Only texts are told back: anything else may be nested without end.
  const sent = typeof given === 'string' ? `; not ${JSON.stringify(given)}` : '';
  throw fault('invalidInput', { reason: `type must be one of ${securityServiceTypes.join(', ')}${sent}` });
}

/** A domain is found by a server or by its site, not by both. */
export function refuseTwoWays(service: {
  type: SecurityServiceType;
  server: string | null;
  default_ad_site: string | null;
}): void {
  if (service.type === 'active_directory' && service.server !== null && service.default_ad_site !== null)
    throw fault('invalidInput', { reason: 'server and default_ad_site can not be given both' });
}

interface Typed {
  id: string;
  type: string;
}

/** A network has one service of each type at most. */
export function refuseSecondOfType(present: readonly Typed[], service: Typed, shareNetworkId: string): void {
  const same = present.find(({ type }) => type === service.type);
  if (!same) return;
  throw fault('conflict', {
    reason: `Share network ${shareNetworkId} has a security service of type ${service.type} already, ${same.id}.`,
  });
}

/** One service takes the place of another that the network has, of the same type. */
export function refuseReplacement(
  present: readonly Typed[],
  current: Typed,
  next: Typed,
  shareNetworkId: string,
): void {
  if (!present.some(({ id }) => id === current.id)) {
    throw fault('conflict', {
      reason: `Share network ${shareNetworkId} doesn't have security service ${current.id}.`,
    });
  }
  if (current.type !== next.type) {
    throw fault('conflict', {
      reason: `Security service ${current.id} is of type ${current.type}; ${next.id}, of type ${next.type}, can't take its place.`,
    });
  }
}
