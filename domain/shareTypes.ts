/** What a share takes from its type. */
import { parseBoolean } from './extraSpecs.ts';

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
