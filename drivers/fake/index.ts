/**
 * A back end without storage. It says yes to everything that makes sense, keeps nothing (so that asking twice,
 * or after the worker was killed, is the same as asking once) and can be told to be slow or to fail.
 * It behaves as the back ends that the recordings were made from; see faults.ts and stats.ts for its options.
 *
 *   fake_driver_migration_steps = 1    steps that the first phase of a migration takes
 *   fake_driver_used_gb = 0    GiB that each share claims to hold: a shrink below is refused
 */
import {
  type AccessRule,
  type AccessRuleResult,
  type BackendShare,
  type BackendSnapshot,
  type Driver,
  DriverError,
  type DriverSettings,
  type ExportLocation,
  type Managing,
  type Migration,
  type SnapshotCreated,
} from '../driver.ts';
import { type Options, readCommon, readOptions } from '../options.ts';
import { type Rehearse, readFaults } from './faults.ts';
import { fakeGroups } from './groups.ts';
import { fakeReplication } from './replication.ts';
import { fakeServers } from './servers.ts';
import { fakeStats } from './stats.ts';

export function createFakeDriver(settings: DriverSettings): Driver {
  const options = readOptions(settings);
  const rehearse = readFaults(options);
  const common = readCommon(settings);
  const stats = fakeStats(options, common);
  return {
    ...storage(options, rehearse),
    ...(common.handlesShareServers ? { servers: fakeServers(rehearse, shareLocations) } : {}),
    // as its report says: replicas need a back end whose servers aren't per share network
    ...(common.handlesShareServers ? {} : { replication: fakeReplication(rehearse, shareLocations) }),
    groups: fakeGroups(rehearse, snapshotMade),
    manage: managing(rehearse),
    migration: migrating(options, rehearse),
    async start(signal) {
      await rehearse('start', signal);
    },
    async stats(signal) {
      await rehearse('get_stats', signal);
      return structuredClone(stats);
    },
    async stop() {},
  };
}

function storage(
  options: Options,
  rehearse: Rehearse,
): Pick<Driver, 'shares' | 'access' | 'snapshots' | 'revert'> {
  const used = options.number('fake_driver_used_gb', 0);
  return {
    shares: {
      async create(share, signal) {
        await rehearse('create_share', signal);
        return shareLocations(share);
      },
      async createFromSnapshot(share, _snapshot, signal) {
        await rehearse('create_share_from_snapshot', signal);
        return shareLocations(share);
      },
      async delete(_share, signal) {
        await rehearse('delete_share', signal);
      },
      async extend(_share, _newSize, signal) {
        await rehearse('extend_share', signal);
      },
      async shrink(_share, newSize, signal) {
        await rehearse('shrink_share', signal);
        if (newSize < used)
          throw new DriverError(
            'possibleDataLoss',
            `${used} GiB are used, more than the ${newSize} GiB asked for`,
          );
      },
      async ensure(share, _rules, signal) {
        await rehearse('ensure_share', signal);
        return shareLocations(share);
      },
    },
    access: {
      async sync(share, rules, signal) {
        await rehearse('update_access', signal);
        return judge(share, rules);
      },
    },
    snapshots: {
      async create(snapshot, signal) {
        await rehearse('create_snapshot', signal);
        return snapshotMade(snapshot);
      },
      async delete(_snapshot, signal) {
        await rehearse('delete_snapshot', signal);
      },
      async syncAccess(snapshot, rules, signal) {
        await rehearse('snapshot_update_access', signal);
        return judge(snapshot.share, rules);
      },
    },
    revert: {
      async toSnapshot(_share, _snapshot, _rules, signal) {
        await rehearse('revert_to_snapshot', signal);
      },
    },
  };
}

/** Moves to any pool of any of its kind, in as many steps as it is told. */
function migrating(options: Options, rehearse: Rehearse): Migration {
  const steps = options.integer('fake_driver_migration_steps', 1, 1, 1000);
  const taken = new Map<string, number>();
  return {
    async check(_source, _destination, signal) {
      await rehearse('migration_check', signal);
      return {
        compatible: true,
        writable: true,
        preserveMetadata: true,
        nondisruptive: false,
        preserveSnapshots: true,
      };
    },
    async start(_source, _destination, signal) {
      await rehearse('migration_start', signal);
    },
    async continue(_source, destination, signal) {
      await rehearse('migration_continue', signal);
      const step = (taken.get(destination.id) ?? 0) + 1;
      taken.set(destination.id, step);
      return step >= steps;
    },
    async progress(_source, destination, signal) {
      await rehearse('migration_progress', signal);
      return Math.min((100 * (taken.get(destination.id) ?? 0)) / steps, 100);
    },
    async complete(_source, destination, _rules, signal) {
      await rehearse('migration_complete', signal);
      taken.delete(destination.id);
      return shareLocations(destination);
    },
    async cancel(_source, destination, signal) {
      await rehearse('migration_cancel', signal);
      taken.delete(destination.id);
    },
  };
}

/** It knows again what it exported, by the form of the path, whose ever it was; each has 1 GiB. */
function managing(rehearse: Rehearse): Managing {
  return {
    async share(share, _options, signal) {
      await rehearse('manage_existing', signal);
      const path = share.exportLocations?.[0]?.path ?? '';
      if (!/^[^:]+:\/path\/to\/fake\/share\/share_\w+$/.test(path))
        throw new DriverError('notFound', `there is no share exported as ${path}`);
      return { size: 1, exportLocations: shareLocations(share) };
    },
    async unmanageShare(_share, signal) {
      await rehearse('unmanage', signal);
    },
    async snapshot(snapshot, _options, signal) {
      await rehearse('manage_existing_snapshot', signal);
      const location = snapshot.providerLocation ?? '';
      if (!/^\/path\/to\/fake\/snapshot\/snapshot_\w+$/.test(location))
        throw new DriverError('notFound', `there is no snapshot ${location}`);
      return { size: 1, providerLocation: location };
    },
    async unmanageSnapshot(_snapshot, signal) {
      await rehearse('unmanage_snapshot', signal);
    },
  };
}

/** NFS shares are opened to addresses, CIFS shares to users; any other rule is in error, alone. */
function judge(share: BackendShare, rules: readonly AccessRule[]): Map<string, AccessRuleResult> {
  const fitting = { NFS: 'ip', CIFS: 'user' }[share.protocol];
  return new Map(
    rules.map((rule) => [
      rule.id,
      rule.accessType === fitting
        ? { state: 'active' }
        : {
            state: 'error',
            reason: `${share.protocol} shares of this back end know no access by ${rule.accessType}`,
          },
    ]),
  );
}

function shareLocations(share: BackendShare): ExportLocation[] {
  return locations(share, `/path/to/fake/share/share_${share.shareId}_${share.id}`.replaceAll('-', '_'));
}

function snapshotMade(snapshot: BackendSnapshot): SnapshotCreated {
  return { providerLocation: snapshotPath(snapshot), exportLocations: snapshotLocations(snapshot) };
}

function snapshotLocations(snapshot: BackendSnapshot): ExportLocation[] {
  return locations(snapshot.share, snapshotPath(snapshot));
}

function snapshotPath(snapshot: BackendSnapshot): string {
  return `/path/to/fake/snapshot/snapshot_${snapshot.snapshotId}_${snapshot.id}`.replaceAll('-', '_');
}

/** Two addresses for tenants, the first preferred, and one for admins. */
function locations(share: BackendShare, path: string): ExportLocation[] {
  const [first, second, admin] = share.server ? serverAddresses(share.server.details) : addresses;
  return [
    { path: `${first}:${path}`, isAdminOnly: false, metadata: { preferred: 'True' } },
    { path: `${second}:${path}`, isAdminOnly: false, metadata: { preferred: 'False' } },
    { path: `${admin}:${path}`, isAdminOnly: true, metadata: { preferred: 'False' } },
  ];
}

const addresses = ['10.0.0.10', '10.0.0.20', '11.0.0.11'] as const;

/** A share server tells its addresses in its details; what is missing falls back to the fixed ones. */
function serverAddresses(details: Readonly<Record<string, string>>): readonly [string, string, string] {
  let first: Record<string, string> = {};
  try {
    [first = {}] = JSON.parse(details.subnet_allocations ?? '[]') as Record<string, string>[];
  } catch {
    // details of a server that wasn't set up to its end may be partial
  }
  return [
    first.primary_public_ip ?? addresses[0],
    first.secondary_public_ip ?? addresses[1],
    details.service_ip ?? addresses[2],
  ];
}
