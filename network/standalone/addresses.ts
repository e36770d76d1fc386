/** Networks and ranges of addresses, of both families, as operators write them. */
import ipaddr from 'ipaddr.js';

/** A network: what an address in it shares with all others, and how long that part is. */
export interface Network {
  /** as in `10.254.0.0/24` */
  cidr: string;
  ipVersion: 4 | 6;
  first: bigint;
  last: bigint;
}

/** From one address, and included, to another. */
export interface Range {
  first: bigint;
  last: bigint;
}

/** An address as a number; undefined when the text is none of that family. */
export function addressNumber(text: string, ipVersion?: 4 | 6): bigint | undefined {
  const address = parse(text);
  if (!address || (ipVersion !== undefined && versionOf(address) !== ipVersion)) return undefined;
  return number(address);
}

/** The network that an address is in. `mask` is dotted or a prefix length; undefined when either makes no sense. */
export function networkOf(address: string, mask: string): Network | undefined {
  const parsed = parse(address);
  if (!parsed) return undefined;
  const ipVersion = versionOf(parsed);
  const bits = ipVersion === 4 ? 32 : 128;
  const prefix = prefixLength(mask, ipVersion);
  if (prefix === undefined || prefix < 1 || prefix > bits) return undefined;
  const rest = 1n << BigInt(bits - prefix);
  const first = number(parsed) - (number(parsed) % rest);
  return { cidr: `${addressText(first, ipVersion)}/${prefix}`, ipVersion, first, last: first + rest - 1n };
}

/** `first-last` within the network, or one address; undefined when it is neither. */
export function rangeIn(network: Network, text: string): Range | undefined {
  const ends = text.split('-').map((end) => addressNumber(end.trim(), network.ipVersion));
  const [first, last = first] = ends;
  if (ends.length > 2 || first === undefined || last === undefined) return undefined;
  return network.first <= first && first <= last && last <= network.last ? { first, last } : undefined;
}

/** The addresses of ranges, one after another. */
export function* addressesIn(ranges: readonly Range[], ipVersion: 4 | 6): Generator<string> {
  for (const { first, last } of ranges) {
    for (let at = first; at <= last; at++) yield addressText(at, ipVersion);
  }
}

/** A number as an address, the shortest way that it is written. */
export function addressText(value: bigint, ipVersion: 4 | 6): string {
  const length = ipVersion === 4 ? 4 : 16;
  const bytes = Array.from({ length }, (_, i) => Number((value >> BigInt(8 * (length - 1 - i))) & 255n));
  return ipaddr.fromByteArray(bytes).toString();
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

function parse(text: string): Address | undefined {
  if (/^\d+(\.\d+){3}$/.test(text)) return ipaddr.IPv4.isValid(text) ? ipaddr.IPv4.parse(text) : undefined;
  return text.includes(':') && !text.includes('%') && ipaddr.IPv6.isValid(text)
    ? ipaddr.IPv6.parse(text)
    : undefined;
}

function versionOf(address: Address): 4 | 6 {
  return address.kind() === 'ipv4' ? 4 : 6;
}

function number(address: Address): bigint {
  return address.toByteArray().reduce((sum, byte) => (sum << 8n) + BigInt(byte), 0n);
}

function prefixLength(mask: string, ipVersion: 4 | 6): number | undefined {
  if (/^\d{1,3}$/.test(mask)) return Number(mask);
  const parsed = parse(mask);
  if (!parsed || versionOf(parsed) !== ipVersion) return undefined;
  return parsed.prefixLengthFromSubnetMask() ?? undefined;
}
