/**
 * Access rules: who may use a share. What a rule may say, when rules may change, and the states each goes through
 * on every instance of its share.
 */
import ipaddr from 'ipaddr.js';
import type { AccessLevel } from './backend.ts';
import { fault } from './faults.ts';
import { readMetadata } from './metadata.ts';

export const accessTypes = ['ip', 'user', 'cert', 'cephx'] as const;
export type AccessType = (typeof accessTypes)[number];
export const accessLevels: readonly AccessLevel[] = ['rw', 'ro'];

/** What a rule says. */
export interface Access {
  accessType: AccessType;
  accessTo: string;
}

/** Queued by a request, taken up by the job of the instance, settled by what the back end said. */
export const accessSteps = {
  apply: { queued: 'queued_to_apply', doing: 'applying' },
  update: { queued: 'queued_to_update', doing: 'updating' },
  deny: { queued: 'queued_to_deny', doing: 'denying' },
} as const;

/** A rule is of the share, its states of the instances: the one furthest left speaks for the rule. */
export const accessStatePrecedence = [
  'error',
  'queued_to_apply',
  'queued_to_deny',
  'queued_to_update',
  'applying',
  'denying',
  'updating',
  'active',
] as const;

/** Of the instances' `access_rules_status`, the one furthest left speaks for the share. */
export const accessRulesStatusPrecedence = ['error', 'syncing', 'active'] as const;

/** Something else is at work on an instance in these states, or it isn't there yet or any more. */
const unchangeable: readonly string[] = [
  'creating',
  'deleting',
  'manage_starting',
  'unmanage_starting',
  'extending',
  'shrinking',
  'migrating',
  'migrating_to',
  'restoring',
  'reverting',
  'server_migrating',
  'server_migrating_to',
  'backup_restoring',
  'backup_creating',
  'ensuring',
  'reverting_to_snapshot',
];

/**
 * Reads whom a rule is for, as clients send it. IPv6 addresses and cephx came with later versions: `allowed` says
 * which there are. Throws invalidAccess.
 */
export function readAccess(
  type: unknown,
  to: unknown,
  allowed: { ipv6: boolean; cephx: boolean } = { ipv6: true, cephx: true },
): Access {
  const types = allowed.cephx ? accessTypes : accessTypes.filter((known) => known !== 'cephx');
  const accessType = types.find((known) => known === type);
  if (!accessType) refuse(`access_type must be ${types.join(', ')}; not ${JSON.stringify(type)}`);
  const accessTo = typeof to === 'string' ? to : refuse('access_to must be a text');
  if (accessType === 'ip') checkNetwork(accessTo, allowed.ipv6);
  else checkName[accessType](accessTo);
  return { accessType, accessTo };
}

/** Reads a level; one that isn't given is rw. */
export function readLevel(level: unknown): AccessLevel {
  if (level === undefined || level === null) return 'rw';
  const known = accessLevels.find((one) => one === level);
  return known ?? refuse(`access_level must be ${accessLevels.join(' or ')}; not ${JSON.stringify(level)}`);
}

/** Reads the metadata of a rule: no value may be empty. */
export function readRuleMetadata(given: unknown): Record<string, string> {
  const entries = readMetadata(given);
  for (const [key, value] of Object.entries(entries)) {
    if (value.trim() === '') throw fault('invalidMetadata', { reason: `the value of ${key} is empty` });
  }
  return entries;
}

/** Do both name the same client? Addresses count by what they mean: 10.0.0.1 is 10.0.0.1/32. */
export function sameAccess(one: Access, other: Access): boolean {
  if (one.accessType !== other.accessType) return false;
  if (one.accessType === 'ip') return canonical(one.accessTo) === canonical(other.accessTo);
  return one.accessTo.toLowerCase() === other.accessTo.toLowerCase();
}

/** The client as back ends take it: a mask (10.0.0.0/255.0.0.0) becomes a prefix length, all else stays. */
export function backendAccessTo(type: string, to: string): string {
  return type === 'ip' && to.includes('/') ? canonical(to) : to;
}

/** What is known of an instance when its rules are to change. */
export interface RulesOfInstance {
  status: string;
  host: string | null;
  /** is a rule in error on it? */
  hasFailed: boolean;
}

/** Throws invalidAccess unless every instance can take a change of its rules. */
export function assertChangeable(instances: readonly RulesOfInstance[]): void {
  const busy = instances.find(({ status, host }) => host === null || unchangeable.includes(status));
  if (instances.length > 0 && !busy) return;
  refuse(
    busy
      ? `rules can't change while the share, or a replica or copy of it, ${busy.host === null ? 'has no host' : `is ${busy.status}`}`
      : 'the share has no instance to change the rules of',
  );
}

/** For versions in which all rules share one state: after a failure it has to be cleared before rules are added. */
export function assertNoneFailed(instances: readonly RulesOfInstance[]): void {
  if (instances.some(({ hasFailed }) => hasFailed)) {
    refuse('rules of the share have failed; deny those in state error first');
  }
}

function refuse(reason: string): never {
  throw fault('invalidAccess', { reason });
}

interface Network {
  address: ipaddr.IPv4 | ipaddr.IPv6;
  prefix: number;
}

const IPV4 = /^(?:(?:0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])(?:\.(?!$)|$)){4}$/;

/** An address or a network; undefined for any other text. */
function readNetwork(text: string): Network | undefined {
  const [host = '', mask, ...more] = text.split('/');
  if (more.length > 0) return undefined;
  const address = readAddress(host);
  if (!address) return undefined;
  const bits = address.toByteArray().length * 8;
  const prefix = mask === undefined ? bits : readPrefix(mask, address);
  return prefix === undefined || prefix > bits ? undefined : { address, prefix };
}

/** Addresses of a zone (fe80::1%eth0) mean nothing on another machine, and so aren't taken. */
function readAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (IPV4.test(text)) return ipaddr.IPv4.parse(text);
  return text.includes(':') && !text.includes('%') && ipaddr.IPv6.isValid(text)
    ? ipaddr.IPv6.parse(text)
    : undefined;
}

/** `24`, and for IPv4 also `255.255.255.0` or, the other way round, `0.0.0.255`. */
function readPrefix(mask: string, address: ipaddr.IPv4 | ipaddr.IPv6): number | undefined {
  if (/^\d{1,3}$/.test(mask)) return Number(mask);
  if (address.kind() !== 'ipv4' || !IPV4.test(mask)) return undefined;
  const octets = ipaddr.IPv4.parse(mask).octets;
  const inverted = new ipaddr.IPv4(octets.map((octet) => 255 - octet));
  return (
    ipaddr.IPv4.parse(mask).prefixLengthFromSubnetMask() ?? inverted.prefixLengthFromSubnetMask() ?? undefined
  );
}

function hasHostBits({ address, prefix }: Network): boolean {
  return address.toByteArray().some((byte, i) => {
    const kept = Math.min(Math.max(prefix - i * 8, 0), 8);
    return (byte & (0xff >> kept)) !== 0;
  });
}

function canonical(text: string): string {
  const network = readNetwork(text);
  return network ? `${network.address.toString()}/${network.prefix}` : text.toLowerCase();
}

function checkNetwork(text: string, ipv6: boolean): void {
  const network = readNetwork(text);
  if (!network || (!ipv6 && network.address.kind() === 'ipv6')) {
    refuse(
      `access_to must be an ${ipv6 ? 'IPv4 or IPv6' : 'IPv4'} address or network; not ${JSON.stringify(text)}`,
    );
  }
  if (hasHostBits(network)) refuse(`${text} is an address in a network, not a network: host bits are set`);
}

/** What each other type takes. */
const checkName: Record<Exclude<AccessType, 'ip'>, (name: string) => void> = {
  user(name) {
    if (!/^[^"/\\[\]:;|=,+*?<>\p{Cc}]{4,255}$/u.test(name)) {
      refuse('a user or group name has 4 to 255 characters and none of " / \\ [ ] : ; | = , + * ? < >');
    }
  },
  cert(name) {
    const length = name.trim().length;
    if (length < 1 || length > 64) refuse('a common name has 1 to 64 characters');
  },
  cephx(name) {
    if (!/^[\x20-\x7e]{1,255}$/.test(name)) refuse('a ceph id has 1 to 255 characters of printable ASCII');
    if (name.includes('.')) refuse('a ceph id has no period');
  },
};
