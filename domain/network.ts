/** What a network plug-in is asked: what a tenant's subnet is, and ports in it for a share server. */
import type { NetworkPort } from './backend.ts';

/** What is known of a subnet: from its row, before and after the plug-in has looked at it. */
export interface SubnetDescription {
  id: string;
  neutronNetId: string | null;
  neutronSubnetId: string | null;
  networkType: string | null;
  segmentationId: number | null;
  cidr: string | null;
  gateway: string | null;
  mtu: number | null;
  ipVersion: number | null;
}

/** Who a port is for. */
export interface PortOwner {
  serverId: string;
  projectId: string;
}

/**
 * One plug-in serves one back end, or its administrators' network. Calls are idempotent by server and subnet, and
 * fail with a NetworkError.
 */
export interface NetworkPlugin {
  /** Looks the subnet up and answers all of it. */
  describe(subnet: SubnetDescription, signal: AbortSignal): Promise<SubnetDescription>;
  /** Ports of a server in a subnet: those it has, and as many more as are wanting. */
  allocate(
    owner: PortOwner,
    subnet: SubnetDescription,
    count: number,
    signal: AbortSignal,
  ): Promise<NetworkPort[]>;
  /** Gives ports back; those that are gone already are a success. */
  release(owner: PortOwner, ports: readonly NetworkPort[], signal: AbortSignal): Promise<void>;
}

export type NetworkErrorCode =
  | 'failed'
  | 'badConfiguration'
  /** the subnet has no address left */
  | 'noAddress'
  /** the tenant's quota of ports is used up */
  | 'overQuota'
  | 'notFound'
  | 'timeout';

/** @public */
export class NetworkError extends Error {
  readonly code: NetworkErrorCode;
  constructor(code: NetworkErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'NetworkError';
    this.code = code;
  }
}
