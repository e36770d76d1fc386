/** The filters and weighers by the names that the configuration knows them by. */
import { affinity } from './filters/affinity.ts';
import { antiAffinity } from './filters/antiAffinity.ts';
import { availabilityZone } from './filters/availabilityZone.ts';
import { capabilities } from './filters/capabilities.ts';
import { capacity as capacityFilter } from './filters/capacity.ts';
import { consistentSnapshot } from './filters/consistentSnapshot.ts';
import { createFromSnapshot } from './filters/createFromSnapshot.ts';
import { driver } from './filters/driver.ts';
import type { Filter } from './filters/filter.ts';
import { onlyHost } from './filters/onlyHost.ts';
import { shareReplication } from './filters/shareReplication.ts';
import { capacity as capacityWeigher } from './weighers/capacity.ts';
import { goodness } from './weighers/goodness.ts';
import { hostAffinity } from './weighers/hostAffinity.ts';
import type { Weigher } from './weighers/weigher.ts';

const knownFilters: readonly Filter[] = [
  onlyHost,
  availabilityZone,
  capacityFilter,
  capabilities,
  driver,
  shareReplication,
  createFromSnapshot,
  affinity,
  antiAffinity,
];
/** Those that ask about share groups are for these alone. */
const knownGroupFilters: readonly Filter[] = [...knownFilters, consistentSnapshot];
const knownWeighers: readonly Weigher[] = [capacityWeigher, goodness, hostAffinity];

/** Options of these names, section DEFAULT. */
export interface SchedulerSettings {
  scheduler_default_filters: readonly string[];
  scheduler_default_weighers: readonly string[];
  scheduler_default_extend_filters: readonly string[];
  scheduler_default_share_group_filters: readonly string[];
  capacity_weight_multiplier: number;
}

export const defaultSettings: SchedulerSettings = {
  scheduler_default_filters: knownFilters.map((filter) => filter.name),
  scheduler_default_weighers: knownWeighers.map((weigher) => weigher.name),
  scheduler_default_extend_filters: [capacityFilter.name, driver.name],
  scheduler_default_share_group_filters: [availabilityZone.name, consistentSnapshot.name],
  capacity_weight_multiplier: 1,
};

export interface ConfiguredWeigher {
  weigher: Weigher;
  multiplier: number;
}

export interface SchedulerOptions {
  filters: readonly Filter[];
  extendFilters: readonly Filter[];
  groupFilters: readonly Filter[];
  weighers: readonly ConfiguredWeigher[];
}

/** The configuration names something that isn't there; thrown at start. */
export class SchedulerConfigurationError extends Error {
  constructor(option: string, name: string, known: readonly { name: string }[]) {
    super(`${option} names '${name}', which is none of ${known.map((entry) => entry.name).join(', ')}`);
    this.name = 'SchedulerConfigurationError';
  }
}

function named<T extends { name: string }>(
  option: string,
  names: readonly string[],
  known: readonly T[],
): T[] {
  return names.map((name) => {
    const found = known.find((entry) => entry.name === name.trim());
    if (!found) throw new SchedulerConfigurationError(option, name, known);
    return found;
  });
}

/** Resolves the configured names, in their order. Throws SchedulerConfigurationError. */
export function schedulerOptions(settings: SchedulerSettings): SchedulerOptions {
  const weighers = named('scheduler_default_weighers', settings.scheduler_default_weighers, knownWeighers);
  return {
    filters: named('scheduler_default_filters', settings.scheduler_default_filters, knownFilters),
    extendFilters: named(
      'scheduler_default_extend_filters',
      settings.scheduler_default_extend_filters,
      knownFilters,
    ),
    groupFilters: named(
      'scheduler_default_share_group_filters',
      settings.scheduler_default_share_group_filters,
      knownGroupFilters,
    ),
    weighers: weighers.map((weigher) => ({
      weigher,
      multiplier: weigher === capacityWeigher ? settings.capacity_weight_multiplier : 1,
    })),
  };
}
