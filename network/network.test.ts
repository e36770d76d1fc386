import { randomUUID } from 'node:crypto';
import type { NetworkPort } from '#domain/backend.ts';
import type { PortStore, SubnetDescription } from '#domain/network.ts';
import { createNetworkPlugin, type NetworkOptions } from './index.ts';

const plain: NetworkOptions = {
  network_api_class: 'manila.network.standalone_network_plugin.StandaloneNetworkPlugin',
  standalone_network_plugin_gateway: '10.254.0.1',
  standalone_network_plugin_mask: '24',
  standalone_network_plugin_network_type: null,
  standalone_network_plugin_segmentation_id: null,
  standalone_network_plugin_allowed_ip_ranges: null,
  standalone_network_plugin_mtu: 1500,
};
const subnet: SubnetDescription = {
  id: 's',
  neutronNetId: 'n',
  neutronSubnetId: null,
  networkType: null,
  segmentationId: null,
  cidr: null,
  gateway: null,
  mtu: null,
  ipVersion: null,
};
const { signal } = new AbortController();

/** A store of one machine. */
function memory(): PortStore & { taken: Map<string, { serverId: string; port: NetworkPort }> } {
  const taken = new Map<string, { serverId: string; port: NetworkPort }>();
  return {
    taken,
    ports: async ({ serverId }) =>
      [...taken.values()].filter((entry) => entry.serverId === serverId).map(({ port }) => port),
    async claim({ serverId }, count, candidates) {
      const present = [...taken.values()].filter((entry) => entry.serverId === serverId);
      const ports = present.map(({ port }) => port).slice(0, count);
      const wanting = count - ports.length;
      const free = [...candidates].filter((address) => !taken.has(address)).slice(0, wanting);
      if (free.length < wanting) return ports;
      const made = free.map((ipAddress) => ({ id: randomUUID(), ipAddress, macAddress: null }));
      for (const port of made) taken.set(port.ipAddress, { serverId, port });
      return [...ports, ...made];
    },
    async add({ serverId }, port) {
      taken.set(port.ipAddress, { serverId, port });
    },
    async remove(_serverId, ids) {
      for (const [address, { port }] of taken) if (ids.includes(port.id)) taken.delete(address);
    },
  };
}

function plugin(over: Partial<NetworkOptions> = {}, store: PortStore = memory()) {
  return createNetworkPlugin({ section: 'gamma', options: { ...plain, ...over }, label: 'user' }, store);
}
const owner = (serverId: string) => ({ serverId, projectId: 'p' });
const addresses = (ports: NetworkPort[]) => ports.map(({ ipAddress }) => ipAddress);

describe('The standalone plug-in', () => {
  test('describes a subnet as its operators set it up', async () => {
    const described = await plugin({
      standalone_network_plugin_mask: '255.255.255.0',
      standalone_network_plugin_network_type: 'vlan',
      standalone_network_plugin_segmentation_id: 17,
    }).describe(subnet, signal);
    expect(described).toEqual({
      ...subnet,
      networkType: 'vlan',
      segmentationId: 17,
      cidr: '10.254.0.0/24',
      gateway: '10.254.0.1',
      mtu: 1500,
      ipVersion: 4,
    });
  });

  test('gives the same server the same ports, and only what is wanting', async () => {
    const network = plugin();
    const first = await network.allocate(owner('a'), subnet, 1, signal);
    expect(addresses(first)).toEqual(['10.254.0.2']);
    const more = await network.allocate(owner('a'), subnet, 2, signal);
    expect(addresses(more)).toEqual(['10.254.0.2', '10.254.0.3']);
    expect(await network.allocate(owner('a'), subnet, 1, signal)).toEqual(first);
    expect(addresses(await network.allocate(owner('b'), subnet, 1, signal))).toEqual(['10.254.0.4']);
    await network.release(owner('a'), more, signal);
    await network.release(owner('a'), more, signal);
    expect(addresses(await network.allocate(owner('c'), subnet, 1, signal))).toEqual(['10.254.0.2']);
  });

  test.each<[string, Partial<NetworkOptions>, string[]]>([
    [
      'ranges in their order, without the gateway',
      { standalone_network_plugin_allowed_ip_ranges: ['10.254.0.9', '10.254.0.1-10.254.0.3'] },
      ['10.254.0.9', '10.254.0.2', '10.254.0.3'],
    ],
    [
      'no address that means the network or all of it',
      { standalone_network_plugin_mask: '29' },
      ['10.254.0.2', '10.254.0.3', '10.254.0.4', '10.254.0.5', '10.254.0.6'],
    ],
    [
      'addresses of the other family',
      { standalone_network_plugin_gateway: 'fd00::1', standalone_network_plugin_mask: '126' },
      ['fd00::2', 'fd00::3'],
    ],
  ])('gives out %s', async (_, over, expected) => {
    const store = memory();
    const network = plugin(over, store);
    expect(addresses(await network.allocate(owner('a'), subnet, expected.length, signal))).toEqual(expected);
    await expect(network.allocate(owner('b'), subnet, 1, signal)).rejects.toMatchObject({
      code: 'noAddress',
    });
    expect(store.taken.size).toBe(expected.length);
  });

  test('gives back what it took when that is not enough', async () => {
    const store = memory();
    const network = plugin({ standalone_network_plugin_mask: '29' }, store);
    await expect(network.allocate(owner('a'), subnet, 6, signal)).rejects.toMatchObject({
      code: 'noAddress',
    });
    expect(store.taken.size).toBe(0);
  });

  test.each<[Partial<NetworkOptions>, RegExp]>([
    [{ standalone_network_plugin_gateway: null }, /\[gamma\] standalone_network_plugin_gateway/],
    [{ standalone_network_plugin_gateway: '10.254.0.256' }, /_gateway = 10.254.0.256/],
    [{ standalone_network_plugin_mask: '33' }, /_mask = 33/],
    [{ standalone_network_plugin_mask: '255.0.255.0' }, /_mask/],
    [{ standalone_network_plugin_allowed_ip_ranges: ['10.253.0.1-10.254.0.9'] }, /_ranges/],
    [{ standalone_network_plugin_allowed_ip_ranges: ['10.254.0.9-10.254.0.1'] }, /_ranges/],
    [{ standalone_network_plugin_network_type: 'token ring' }, /_network_type/],
    [{ standalone_network_plugin_network_type: 'vlan' }, /_segmentation_id/],
    [{ standalone_network_plugin_segmentation_id: 4 }, /_segmentation_id = 4: a flat network has none/],
    [{ network_api_class: 'some.other.Plugin' }, /\[gamma\] network_api_class = some.other.Plugin/],
  ])('refuses %j', (over, message) => {
    expect(() => plugin(over)).toThrow(message);
    expect(() => plugin(over)).toThrow(expect.objectContaining({ code: 'badConfiguration' }));
  });
});
