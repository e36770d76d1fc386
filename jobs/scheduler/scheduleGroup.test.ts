import { entry } from './fixtures.ts';
import { poolStates, type ServiceEntry } from './hostState.ts';
import { defaultSettings, SchedulerConfigurationError, schedulerOptions } from './options.ts';
import { type GroupRequest, scheduleGroup } from './schedule.ts';

const place = (asked: Partial<GroupRequest>, entries: ServiceEntry[], settings = {}) =>
  scheduleGroup(
    {
      id: 'g1',
      shareTypes: [{ name: 'plain', extraSpecs: { driver_handles_share_servers: 'False' } }],
      groupSpecs: {},
      availabilityZone: null,
      ...asked,
    },
    entries.flatMap(poolStates),
    schedulerOptions({ ...defaultSettings, ...settings }),
  );
const typed = (...specs: Record<string, string>[]) =>
  specs.map((extraSpecs, i) => ({ name: `t${i}`, extraSpecs }));

test('a group goes where all of its share types fit', () => {
  const pools = [
    entry('a', [{ dedupe: true, compression: false }]),
    entry('b', [{ dedupe: true, compression: true }]),
    entry('c', [{ dedupe: false, compression: true }]),
  ];
  const both = typed({ dedupe: '<is> True' }, { compression: '<is> True' });
  expect(place({ shareTypes: both }, pools)).toMatchObject({ refused: false, host: 'h@b#p1' });
  const none = place({ shareTypes: [...both, ...typed({ thing: 'x' })] }, pools);
  expect(none).toMatchObject({ refused: true, detail: 'filterCapabilities', filter: 'CapabilitiesFilter' });
  expect(none.explanation.map(({ pool }) => pool).sort()).toEqual(['h@a#p1', 'h@b#p1', 'h@c#p1']);
});

test.each([
  [{ consistent_snapshot_support: 'pool' }, 'h@a#p1'],
  [{ consistent_snapshot_support: 'host' }, 'h@b#p1'],
  [{ a: 'b' }, 'h@a#p1'],
])('specs of the group type ask about consistency and nothing else: %j', (groupSpecs, host) => {
  const pools = [
    entry('a', [{ sg_consistent_snapshot_support: 'pool', free_capacity_gb: 900 }]),
    entry('b', [{ sg_consistent_snapshot_support: 'host', free_capacity_gb: 500 }]),
    entry('c', [{ free_capacity_gb: 100 }]),
  ];
  expect(place({ groupSpecs }, pools)).toMatchObject({ host });
});

test('without a back end that snapshots as asked for there is no valid host', () => {
  const asked = { groupSpecs: { consistent_snapshot_support: 'host' } };
  expect(place(asked, [entry('a', [{}])])).toMatchObject({
    refused: true,
    detail: 'noValidHost',
    filter: 'ConsistentSnapshotFilter',
  });
  expect(place(asked, [entry('a', [{}])], { scheduler_default_share_group_filters: [] })).toMatchObject({
    refused: false,
  });
});

test('a zone that was asked for is kept to', () => {
  const pools = [entry('a', [{}]), entry('b', [{}], { availabilityZone: 'other' })];
  expect(place({ availabilityZone: 'other' }, pools)).toMatchObject({ host: 'h@b#p1' });
  expect(place({ availabilityZone: 'third' }, pools)).toMatchObject({ detail: 'filterAvailability' });
});

test.each([
  ['no share types', { shareTypes: [] }, [entry('a', [{}])], 'noDefaultShareType'],
  ['no back ends', {}, [], 'shareBackendNotReadyYet'],
  ['back ends down', {}, [entry('a', [{}], { up: false })], 'shareBackendNotReadyYet'],
  ['pools without any capacity', {}, [entry('a', [{ total_capacity_gb: 0 }])], 'filterCapacity'],
])('%s: refused', (_what, asked, pools, detail) => {
  expect(place(asked, pools)).toMatchObject({ refused: true, detail });
});

test('a type may name its protocol; without one any will do', () => {
  const pools = [entry('a', [{}])];
  expect(place({ shareTypes: typed({ storage_protocol: '<in> NFS' }) }, pools)).toMatchObject({
    refused: false,
  });
  expect(place({ shareTypes: typed({ storage_protocol: '<in> HDFS' }) }, pools)).toMatchObject({
    refused: true,
  });
});

test('an unknown filter is refused and named', () => {
  const settings = { ...defaultSettings, scheduler_default_share_group_filters: ['NoSuchFilter'] };
  expect(() => schedulerOptions(settings)).toThrow(SchedulerConfigurationError);
  expect(() => schedulerOptions(settings)).toThrow(
    /scheduler_default_share_group_filters names 'NoSuchFilter'/,
  );
});
