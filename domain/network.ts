/** What a network plug-in is asked: what a tenant's subnet is, and ports in it for a share server. */
import type { NetworkPort, SubnetFacts } from './backend.ts';

/** What is known of a subnet: from its row, before and after the plug-in has looked at it. */
export interface SubnetDescription extends SubnetFacts {
  id: string;
}

/** Who a port is for. */
export interface PortOwner {
  serverId: string;
  projectId: string;
}

/** Whose network ports are in: a tenant's, or that of the administrators, which belongs to no subnet. */
export type PortLabel = 'user' | 'admin';

/** Whose ports, and in which network. */
export interface PortPlace {
  serverId: string;
  label: PortLabel;
  /** as it is written beside each port */
  subnet: SubnetDescription;
}

/** Where plug-ins write down what they gave out, for all machines to know. */
export interface PortStore {
  /** The ports of a server in a subnet, or in the network of the administrators; oldest first. */
  ports(place: PortPlace): Promise<NetworkPort[]>;
  /**
   * Brings the ports of a server there to `count`, with the first of the candidates that no port has, and answers
   * them; when there are too few, gives out none and answers fewer. Nobody else gives out addresses meanwhile, so
   * that who asks twice, at whatever times, gets the same.
   */
  claim(place: PortPlace, count: number, candidates: Iterable<string>): Promise<NetworkPort[]>;
  /** Writes down a port that was made elsewhere. */
  add(place: PortPlace, port: NetworkPort): Promise<void>;
  remove(serverId: string, portIds: readonly string[]): Promise<void>;
}

/**
 * One plug-in serves one back end, or its administrators' network. It keeps what it gives out in the PortStore
 * itself. Calls are idempotent by server and subnet, and fail with a NetworkError.
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
