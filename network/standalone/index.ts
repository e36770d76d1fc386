/**
 * The standalone network plug-in: gives out the addresses of one network that operators set up by hand. It asks no
 * network service; what is taken stands in the PortStore alone.
 */
import type { NetworkPort } from '#domain/backend.ts';
import {
  NetworkError,
  type NetworkPlugin,
  type PortLabel,
  type PortOwner,
  type PortStore,
  type SubnetDescription,
} from '#domain/network.ts';
import { addressesIn } from './addresses.ts';
import type { StandaloneSettings } from './settings.ts';

export class StandaloneNetwork implements NetworkPlugin {
  readonly #settings: StandaloneSettings;
  readonly #label: PortLabel;
  readonly #store: PortStore;

  constructor(settings: StandaloneSettings, label: PortLabel, store: PortStore) {
    this.#settings = settings;
    this.#label = label;
    this.#store = store;
  }

  async describe(subnet: SubnetDescription): Promise<SubnetDescription> {
    const { network, gateway, networkType, segmentationId, mtu } = this.#settings;
    return {
      ...subnet,
      networkType,
      segmentationId,
      cidr: network.cidr,
      gateway,
      mtu,
      ipVersion: network.ipVersion,
    };
  }

  async allocate(
    { serverId }: PortOwner,
    subnet: SubnetDescription,
    count: number,
    signal: AbortSignal,
  ): Promise<NetworkPort[]> {
    if (signal.aborted) throw new NetworkError('timeout', 'there was no time left to give out addresses');
    const { network, ranges } = this.#settings;
    const place = { serverId, label: this.#label, subnet: await this.describe(subnet) };
    const ports = await this.#store.claim(place, count, addressesIn(ranges, network.ipVersion));
    if (ports.length === count) return ports;
    throw new NetworkError('noAddress', `${network.cidr} has not ${count - ports.length} addresses left`);
  }

  async release({ serverId }: PortOwner, ports: readonly NetworkPort[]): Promise<void> {
    await this.#store.remove(
      serverId,
      ports.map(({ id }) => id),
    );
  }
}
