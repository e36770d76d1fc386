/** What a share takes from its type. */
import { parseBoolean, zonesOf } from './extraSpecs.ts';

export interface ShareCapabilities {
  snapshot_support: boolean;
  create_share_from_snapshot_support: boolean;
  revert_to_snapshot_support: boolean;
  mount_snapshot_support: boolean;
  replication_type: string | null;
}

/** What a share of a type with these extra specs can do; without a type, nothing beyond being a share. */
export function capabilitiesOf(specs: Readonly<Record<string, string | null>>): ShareCapabilities {
  const flag = (key: string) => {
    const value = specs[key];
    return value === undefined || value === null
      ? false
      : (parseBoolean(value.replace(/^<is>\s*/i, '')) ?? false);
  };
  return {
    snapshot_support: flag('snapshot_support'),
    create_share_from_snapshot_support: flag('create_share_from_snapshot_support'),
    revert_to_snapshot_support: flag('revert_to_snapshot_support'),
    mount_snapshot_support: flag('mount_snapshot_support'),
    replication_type: specs.replication_type ?? null,
  };
}

/** Does the type make a share server for each share network? undefined when it doesn't say. */
export function handlesShareServers(specs: Readonly<Record<string, string | null>>): boolean | undefined {
  const value = specs.driver_handles_share_servers;
  return value === undefined || value === null ? undefined : (parseBoolean(value) ?? undefined);
}

/** Extra specs that everyone sees; any other is between the administrator and the back ends. */
const OPEN_SPECS = new Set([
  'driver_handles_share_servers',
  'snapshot_support',
  'create_share_from_snapshot_support',
  'revert_to_snapshot_support',
  'mount_snapshot_support',
  'snapshot_inherit_share_access_support',
  'replication_type',
  'availability_zones',
  'provisioning:max_share_size',
  'provisioning:min_share_size',
  'provisioning:max_share_extend_size',
  'provisioning:mount_point_prefix',
  'mount_point_name_support',
  'encryption_support',
]);

/** What a type can't do unless it says that it can. */
const UNLESS_SET = [
  'snapshot_support',
  'create_share_from_snapshot_support',
  'revert_to_snapshot_support',
  'mount_snapshot_support',
];

/** The extra specs as those see them who are no administrators. `unset`: with false for what isn't set. */
export function openSpecs(
  specs: Readonly<Record<string, string | null>>,
  unset: { shown: boolean; accessInheritance: boolean },
): Record<string, string | false | null> {
  const open: Record<string, string | false | null> = {};
  for (const [key, value] of Object.entries(specs)) if (OPEN_SPECS.has(key)) open[key] = value;
  if (!unset.shown) return open;
  for (const key of UNLESS_SET) open[key] ??= false;
  if (unset.accessInheritance) open.snapshot_inherit_share_access_support ??= false;
  return open;
}

/**
 * Does a type answer a search by extra specs? A type that names no availability zones is in all of them; any other
 * spec must be there as it was asked for, to the letter.
 */
export function answersSearch(
  specs: Readonly<Record<string, string | null>>,
  asked: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(asked).every(([key, value]) => {
    if (key !== 'availability_zones') return Object.hasOwn(specs, key) && specs[key] === value;
    const zones = zonesOf(specs);
    return (
      zones === null ||
      (zonesOf({ availability_zones: String(value) }) ?? []).every((zone) => zones.includes(zone))
    );
  });
}
