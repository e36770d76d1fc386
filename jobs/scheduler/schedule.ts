/**
 * Where a share goes. Pools pass the filters one after the other, what is left is weighed, the heaviest wins;
 * nothing is read or written on the way, and for each pool the answer says what became of it and why.
 */
import type { ExtraSpecs } from '#domain/extraSpecs.ts';
import { standingFilters } from './candidates.ts';
import type { Filter, Numbers, RefusalDetail } from './filters/filter.ts';
import type { PoolState } from './hostState.ts';
import type { SchedulerOptions } from './options.ts';
import type { ScheduleRequest, SourceLocation } from './request.ts';
import { weighPools } from './weigh.ts';

/** What became of one pool. */
export interface PoolExplanation {
  /** full host: host@backend#pool */
  pool: string;
  passed: boolean;
  /** of a pool that was refused: by which filter, why, and the values compared (capacities in GiB) */
  filter?: string;
  reason?: string;
  numbers?: Numbers;
  /** of a pool that passed: the sum, and what each weigher said on its own scale (null: can't tell) */
  weight?: number;
  weights?: Readonly<Record<string, number | null>>;
}

interface Explained {
  /** the winner first, then those that passed by weight, then those refused, the last refused first */
  explanation: PoolExplanation[];
  /** for the log: functions of back ends that an operator should repair */
  warnings: string[];
}

export interface Placement extends Explained {
  refused: false;
  /** full host of the winner: count it there with HostStates.consume */
  host: string;
  weight: number;
}

export interface NoPlacement extends Explained {
  refused: true;
  /** the user message's detail */
  detail: RefusalDetail;
  /** the filter that refused the last pools; null when there were none to ask about */
  filter: string | null;
}

export type Outcome = Placement | NoPlacement;

/** Fills in the replication domains that the caller left to us to find among the pools. */
function withDomains(request: ScheduleRequest, pools: readonly PoolState[]): ScheduleRequest {
  const located = (source: SourceLocation): SourceLocation => {
    if (source.replicationDomain !== undefined) return source;
    const pool = pools.find((candidate) => candidate.host === source.host);
    return { ...source, replicationDomain: pool?.replicationDomain ?? null };
  };
  return {
    ...request,
    source: request.source ? located(request.source) : null,
    replicas: request.replicas ? { ...request.replicas, active: located(request.replicas.active) } : null,
  };
}

interface Filtered {
  left: PoolState[];
  refusals: PoolExplanation[];
  warnings: string[];
  last: Filter | null;
}

/** Asks the filters in their order until they are through or no pool is left. */
function applyFilters(
  pools: readonly PoolState[],
  request: ScheduleRequest,
  filters: readonly Filter[],
): Filtered {
  const state: Filtered = { left: [...pools], refusals: [], warnings: [], last: null };
  for (const filter of filters) {
    if (state.left.length === 0) break;
    state.last = filter;
    state.left = state.left.filter((pool) => {
      const refusal = filter.check(pool, request);
      if (refusal === null) return true;
      const { reason, numbers, isMistake } = refusal;
      state.refusals.unshift({ pool: pool.host, passed: false, filter: filter.name, reason, numbers });
      if (isMistake) state.warnings.push(`${pool.host}: ${reason}`);
      return false;
    });
  }
  return state;
}

/**
 * Chooses the pool for a request. The pools are those of all services, also of such that are down or
 * disabled, so that the explanation can name them.
 */
export function schedule(
  request: ScheduleRequest,
  pools: readonly PoolState[],
  options: SchedulerOptions,
): Outcome {
  if (request.shareType === null) {
    return { refused: true, detail: 'noDefaultShareType', filter: null, explanation: [], warnings: [] };
  }
  const located = withDomains(request, pools);
  const configured = request.kind === 'extend' ? options.extendFilters : options.filters;
  return outcomeOf(applyFilters(pools, located, [...standingFilters, ...configured]), located, options);
}

/** What a share group asks for. Its shares come later: the pool has to suit each of their types. */
export interface GroupRequest {
  /** share group id: pools that are equally good are told apart by it */
  id: string;
  /** at least one */
  shareTypes: readonly { name: string; extraSpecs: ExtraSpecs }[];
  /** of the share group's type */
  groupSpecs: ExtraSpecs;
  /** name of the zone asked for; null: any */
  availabilityZone: string | null;
}

/** Chooses the pool for a share group; pools as for `schedule`. */
export function scheduleGroup(
  { shareTypes, ...group }: GroupRequest,
  pools: readonly PoolState[],
  options: SchedulerOptions,
): Outcome {
  const requests = shareTypes.map(
    (shareType): ScheduleRequest => ({ ...group, kind: 'create', size: 0, protocol: null, shareType }),
  );
  const [first] = requests;
  if (!first) {
    return { refused: true, detail: 'noDefaultShareType', filter: null, explanation: [], warnings: [] };
  }
  let state: Filtered = { left: [...pools], refusals: [], warnings: [], last: null };
  const ask = (request: ScheduleRequest, filters: readonly Filter[]) => {
    const { left, refusals, warnings, last } = applyFilters(state.left, request, filters);
    state = {
      left,
      refusals: [...refusals, ...state.refusals],
      warnings: [...state.warnings, ...warnings],
      last: last ?? state.last,
    };
  };
  for (const request of requests) ask(request, [...standingFilters, ...options.filters]);
  ask(first, options.groupFilters);
  return outcomeOf(state, first, options);
}

/** The best of the pools that are left, or the filter that left none. */
function outcomeOf(
  { left, refusals, warnings, last }: Filtered,
  request: ScheduleRequest,
  options: SchedulerOptions,
): Outcome {
  const weighed = weighPools(left, request, options.weighers, (pool, text) =>
    warnings.push(`${pool.host}: ${text}`),
  );
  const best = weighed[0];
  if (!best) {
    const detail = last?.detail ?? 'shareBackendNotReadyYet';
    return { refused: true, detail, filter: last?.name ?? null, explanation: refusals, warnings };
  }
  const passed = weighed.map(
    ({ pool, weight, weights }): PoolExplanation => ({ pool: pool.host, passed: true, weight, weights }),
  );
  return {
    refused: false,
    host: best.pool.host,
    weight: best.weight,
    explanation: [...passed, ...refusals],
    warnings,
  };
}
