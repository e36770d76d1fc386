/** The options of the standalone plug-in, read and judged: one network, set up by hand, for all share servers. */
import { NetworkError } from '#domain/network.ts';
import { addressNumber, type Network, networkOf, type Range, rangeIn } from './addresses.ts';

/** As they stand in a section of the configuration. */
export interface StandaloneOptions {
  standalone_network_plugin_gateway: string | null;
  standalone_network_plugin_mask: string | null;
  standalone_network_plugin_network_type: string | null;
  standalone_network_plugin_segmentation_id: number | null;
  standalone_network_plugin_allowed_ip_ranges: readonly string[] | null;
  standalone_network_plugin_mtu: number;
}

export interface StandaloneSettings {
  network: Network;
  gateway: string;
  networkType: string | null;
  segmentationId: number | null;
  mtu: number;
  /** what may be given out, in this order; without the gateway and the addresses that mean the network itself */
  ranges: readonly Range[];
}

/** Numbers that a segment may have, by the type of the network. */
const SEGMENTS: Readonly<Record<string, readonly [first: number, last: number]>> = {
  vlan: [1, 4094],
  vxlan: [1, 2 ** 24 - 1],
  gre: [1, 2 ** 31 - 1],
};

/** Throws badConfiguration naming the section, the option and what was expected. */
export function readStandalone(section: string, options: StandaloneOptions): StandaloneSettings {
  const refuse = (option: keyof StandaloneOptions, why: string): never => {
    throw new NetworkError('badConfiguration', `[${section}] ${option} = ${options[option] ?? ''}: ${why}`);
  };
  const gateway = options.standalone_network_plugin_gateway ?? '';
  const gatewayNumber = addressNumber(gateway);
  if (gatewayNumber === undefined)
    return refuse('standalone_network_plugin_gateway', 'an IP address is expected');
  const network = networkOf(gateway, options.standalone_network_plugin_mask ?? '');
  if (!network)
    return refuse(
      'standalone_network_plugin_mask',
      'a netmask or a prefix length of the network is expected',
    );
  const allowed = options.standalone_network_plugin_allowed_ip_ranges ?? [];
  const ranges = allowed.map(
    (text) =>
      rangeIn(network, text) ??
      refuse(
        'standalone_network_plugin_allowed_ip_ranges',
        `${text} is no range first-last in ${network.cidr}`,
      ),
  );
  return {
    network,
    gateway,
    ...readSegment(options, refuse),
    mtu: options.standalone_network_plugin_mtu,
    ranges: withoutReserved(network, gatewayNumber, ranges),
  };
}

function readSegment(
  options: StandaloneOptions,
  refuse: (option: keyof StandaloneOptions, why: string) => never,
): Pick<StandaloneSettings, 'networkType' | 'segmentationId'> {
  const networkType = options.standalone_network_plugin_network_type;
  const segmentationId = options.standalone_network_plugin_segmentation_id;
  if (networkType !== null && networkType !== 'flat' && !SEGMENTS[networkType])
    refuse('standalone_network_plugin_network_type', `flat, ${Object.keys(SEGMENTS).join(', ')} are known`);
  const bounds = SEGMENTS[networkType ?? 'flat'];
  if (!bounds && segmentationId !== null && segmentationId !== 0)
    refuse('standalone_network_plugin_segmentation_id', `a ${networkType ?? 'flat'} network has none`);
  if (bounds && (segmentationId === null || segmentationId < bounds[0] || segmentationId > bounds[1]))
    refuse(
      'standalone_network_plugin_segmentation_id',
      `a ${networkType} has one from ${bounds.join(' to ')}`,
    );
  return { networkType, segmentationId };
}

/** The ranges (all of the network where there are none) less what no server may have. */
function withoutReserved(network: Network, gateway: bigint, ranges: readonly Range[]): Range[] {
  const { first, last } = network;
  // The first address means the network, the last one all of it, but for networks of two addresses or one.
  const reserved =
    last - first > 1n ? [first, gateway, ...(network.ipVersion === 4 ? [last] : [])] : [gateway];
  let left: Range[] = ranges.length > 0 ? [...ranges] : [{ first, last }];
  for (const address of reserved) left = left.flatMap((range) => cut(range, address));
  return left;
}

function cut(range: Range, address: bigint): Range[] {
  if (address < range.first || address > range.last) return [range];
  return [
    { first: range.first, last: address - 1n },
    { first: address + 1n, last: range.last },
  ].filter(({ first, last }) => first <= last);
}
