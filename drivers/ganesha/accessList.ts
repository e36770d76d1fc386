/**
 * From access rules to Ganesha's CLIENT blocks.
 *
 * Ganesha takes the first block that fits, so the more specific network comes first; of two rules for one
 * network the read-only one. Only addresses that were parsed and written anew reach its configuration, never
 * the text that a client sent. Its parser has gaps, which are bridged here: a network of prefix 0 becomes two
 * halves, an IPv4 address keeps its /32 (a bare 0.0.0.0 means anyone), and IPv6 prefixes of three digits,
 * which it can't read, become single addresses where they are few.
 */
import ipaddr from 'ipaddr.js';
import type { AccessLevel, AccessRule, AccessRuleResult } from '../driver.ts';

export interface ClientBlock {
  /** networks as Ganesha reads them */
  networks: string[];
  level: AccessLevel;
}

export interface AccessList {
  blocks: ClientBlock[];
  /** by rule id */
  results: Map<string, AccessRuleResult>;
}

interface Network {
  address: ipaddr.IPv4 | ipaddr.IPv6;
  prefix: number;
}

export function accessList(rules: readonly AccessRule[]): AccessList {
  const results = new Map<string, AccessRuleResult>();
  const accepted: (ClientBlock & { prefix: number })[] = [];
  for (const rule of rules) {
    const judged = judge(rule);
    if (typeof judged === 'string') {
      results.set(rule.id, { state: 'error', reason: judged });
    } else {
      results.set(rule.id, { state: 'active' });
      accepted.push({ ...judged, level: rule.accessLevel });
    }
  }
  accepted.sort((a, b) => b.prefix - a.prefix || strictness(a) - strictness(b));
  return { blocks: accepted.map(({ networks, level }) => ({ networks, level })), results };
}

const strictness = (block: ClientBlock): number => (block.level === 'ro' ? 0 : 1);

/** The networks of a rule, or why it can't hold. */
function judge(rule: AccessRule): { networks: string[]; prefix: number } | string {
  if (rule.accessType !== 'ip')
    return `NFS exports here are opened by address only, not by ${rule.accessType}`;
  if (rule.accessLevel !== 'rw' && rule.accessLevel !== 'ro') return 'the access level must be rw or ro';
  const network = parseNetwork(rule.accessTo);
  if (network === null) return 'this is no IPv4 or IPv6 address or network';
  const networks = spell(network);
  if (networks === null) return 'IPv6 networks with prefixes from 100 to 119 are not supported';
  return { networks, prefix: network.prefix };
}

/** An address or CIDR, host bits cleared; IPv4 in IPv6 clothes is IPv4. */
function parseNetwork(text: string): Network | null {
  const match = /^([0-9A-Fa-f:.]{2,45})(?:\/(\d{1,3}))?$/.exec(text);
  if (match === null) return null;
  const [, host = '', length] = match;
  if (!ipaddr.IPv4.isValidFourPartDecimal(host) && !ipaddr.IPv6.isValid(host)) return null;
  let address = ipaddr.parse(host);
  const bits = address.kind() === 'ipv4' ? 32 : 128;
  let prefix = length === undefined ? bits : Number(length);
  if (prefix > bits) return null;
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && prefix >= 96) {
    address = address.toIPv4Address();
    prefix -= 96;
  }
  return { address: masked(address, prefix), prefix };
}

function masked<T extends ipaddr.IPv4 | ipaddr.IPv6>(address: T, prefix: number): T {
  const bytes = address.toByteArray().map((byte, index) => {
    const kept = Math.min(8, Math.max(0, prefix - index * 8));
    return byte & ((0xff << (8 - kept)) & 0xff);
  });
  return ipaddr.fromByteArray(bytes) as T;
}

function spell({ address, prefix }: Network): string[] | null {
  if (address instanceof ipaddr.IPv4)
    return prefix === 0 ? ['0.0.0.0/1', '128.0.0.0/1'] : [`${address.toString()}/${prefix}`];
  if (prefix === 0) return ['0:0:0:0:0:0:0:0/1', '8000:0:0:0:0:0:0:0/1'];
  if (prefix < 100) return [`${address.toNormalizedString()}/${prefix}`];
  if (prefix < 120) return null;
  return Array.from({ length: 2 ** (128 - prefix) }, (_, index) => {
    const bytes = address.toByteArray();
    bytes[15] = bytes[15]! + index;
    return (ipaddr.fromByteArray(bytes) as ipaddr.IPv6).toNormalizedString();
  });
}
