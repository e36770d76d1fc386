/** What a placement is decided from. Everything is resolved by the caller: ids to hosts, types to their specs. */
import { type ExtraSpecs, schedulingSpecs, zonesOf } from '#domain/extraSpecs.ts';

export type RequestKind = 'create' | 'createFromSnapshot' | 'replica' | 'extend';

/** Where a share (the snapshot's, or the active replica) is now. */
export interface SourceLocation {
  /** full host of its pool: host@backend#pool */
  host: string;
  availabilityZone?: string | null;
  /** looked up among the pools when left out */
  replicationDomain?: string | null;
}

export interface SchedulerHints {
  /** hosts of the shares to be with: all of them */
  sameHost?: readonly string[];
  /** hosts of the shares to be apart from */
  differentHost?: readonly string[];
  /** the one pool to use, host@backend#pool */
  onlyHost?: string | null;
}

export interface ScheduleRequest {
  kind: RequestKind;
  /** share instance id: pools that are equally good are told apart by it */
  id: string;
  /** GiB that the pool must have room for: the whole share, or what an extend adds */
  size: number;
  /** NFS, CIFS…; null for a share group, which is of none */
  protocol: string | null;
  /** null: there is no type, not even a default one */
  shareType: { name: string; extraSpecs: ExtraSpecs } | null;
  /** name of the zone asked for; null: any */
  availabilityZone: string | null;
  /** names of the zones that will do; left out: those of the type */
  availabilityZones?: readonly string[] | null;
  /** createFromSnapshot: where the snapshot's share is */
  source?: SourceLocation | null;
  /** replica: where the active one is, and the full hosts of all that exist */
  replicas?: { active: SourceLocation; hosts: readonly string[] } | null;
  /** extend: the pool that the share is in */
  currentHost?: string | null;
  /** full host of the share group to join */
  groupHost?: string | null;
  /** of a share group's type */
  groupSpecs?: ExtraSpecs;
  hints?: SchedulerHints;
  /** asked by an administrator: `onlyHost` then reaches disabled services */
  isAdmin?: boolean;
  /** full hosts not to be tried (again) */
  ignoreHosts?: readonly string[];
  /**
   * properties of the share and its instance, by their names in expressions (share_proto, is_public…); for an
   * extend with `size`, the size that the share will have
   */
  share?: Readonly<Record<string, unknown>>;
  /** QoS specs, for expressions */
  qos?: Readonly<Record<string, unknown>>;
}

/** The extra specs that pools must meet for this request. */
export function specsOf(request: ScheduleRequest): ExtraSpecs {
  const followsSource = request.kind === 'createFromSnapshot' || request.kind === 'replica';
  return schedulingSpecs(request.shareType?.extraSpecs ?? {}, { protocol: request.protocol, followsSource });
}

/** The names of the zones that will do; null when any will. */
export function allowedZones(request: ScheduleRequest): readonly string[] | null {
  if (request.availabilityZones !== undefined) return request.availabilityZones;
  return zonesOf(request.shareType?.extraSpecs ?? {});
}
