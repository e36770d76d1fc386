import { affinity } from './filters/affinity.ts';
import { antiAffinity } from './filters/antiAffinity.ts';
import { availabilityZone } from './filters/availabilityZone.ts';
import { capabilities } from './filters/capabilities.ts';
import { createFromSnapshot } from './filters/createFromSnapshot.ts';
import { driver } from './filters/driver.ts';
import { onlyHost } from './filters/onlyHost.ts';
import { shareReplication } from './filters/shareReplication.ts';
import { pool, request, typed } from './fixtures.ts';
import type { ScheduleRequest } from './request.ts';

test('OnlyHost: the very pool, not just its back end', () => {
  const check = (only: string | null) => onlyHost.check(pool(), request({ hints: { onlyHost: only } }));
  expect(onlyHost.check(pool(), request())).toBeNull();
  expect(check(null)).toBeNull();
  expect(check('h@a#p1')).toBeNull();
  expect(check('h@a')?.numbers).toEqual({ host: 'h@a#p1', only_host: 'h@a' });
  expect(check('h@a#p2')).not.toBeNull();
});

describe('AvailabilityZone', () => {
  test.each([
    ['nova', null, {}, true],
    [null, null, {}, true],
    ['nova', 'nova', {}, true],
    ['nova', 'other', {}, false],
    [null, 'other', {}, false],
    ['nova', null, { availability_zones: 'nova,other' }, true],
    ['nova', null, { availability_zones: 'other' }, false],
    [null, null, { availability_zones: 'other' }, false],
    ['nova', 'nova', { availability_zones: 'other' }, false],
  ] as [string | null, string | null, Record<string, string>, boolean][])(
    'pool in %s, asked %s, type %j: %s',
    (zone, asked, specs, passes) => {
      const refusal = availabilityZone.check(
        pool({}, { availabilityZone: zone }),
        typed(specs, { availabilityZone: asked }),
      );
      expect(refusal === null).toBe(passes);
    },
  );

  test('zones given with the request stand in for the type’s', () => {
    const asked = typed({ availability_zones: 'other' }, { availabilityZones: ['nova'] });
    expect(availabilityZone.check(pool(), asked)).toBeNull();
    expect(availabilityZone.check(pool(), { ...asked, availabilityZones: null })).toBeNull();
  });
});

describe('Capabilities', () => {
  test('the type’s specs, the protocol among them', () => {
    expect(capabilities.check(pool(), request())).toBeNull();
    expect(capabilities.check(pool(), request({ protocol: 'CEPHFS' }))?.numbers).toEqual({
      extra_spec: 'storage_protocol',
      asks: '<in> CEPHFS',
      reports: 'NFS_CIFS',
    });
    expect(capabilities.check(pool(), typed({ share_backend_name: 'b' }))?.numbers).toMatchObject({
      reports: 'a',
    });
    expect(capabilities.check(pool({ dedupe: [true, false] }), typed({ dedupe: '<is> True' }))).toBeNull();
  });

  test.each(['createFromSnapshot', 'replica'] as const)(
    '%s: the name of the back end does not count',
    (kind) => {
      expect(capabilities.check(pool(), typed({ share_backend_name: 'b' }, { kind }))).toBeNull();
    },
  );
});

describe('Driver', () => {
  const check = (filter_function: unknown, more: Partial<ScheduleRequest> = {}) =>
    driver.check(pool({ filter_function, free_capacity_gb: 500 }), request(more));
  test.each([
    [undefined, true],
    [null, true],
    ['', true],
    ['share.size < 100', true],
    ['share.size < 10', false],
    ['stats.free_capacity_gb >= 500 and capabilities.total_capacity_gb == 1000', true],
    ["extra.driver_handles_share_servers == 'False'", true],
    ["share.share_proto == 'NFS'", true],
    ['share.snapshot_id', false],
    [true, true],
    [false, false],
  ])('%j: %s', (source, passes) => {
    expect(check(source) === null).toBe(passes);
  });

  test('what can’t be worked out refuses the pool and says where', () => {
    expect(check('share.size <')).toMatchObject({
      reason: expect.stringMatching(/at character 13/),
      isMistake: true,
    });
    expect(check('shares.size < 1')).toMatchObject({
      reason: expect.stringMatching(/'shares.size' is unknown/),
    });
    expect(check('share.size < 1')).not.toHaveProperty('isMistake');
  });

  test('properties of the share are those of the request', () => {
    expect(
      check('share.size == 30 and share.is_public', { share: { size: 30, is_public: true } }),
    ).toBeNull();
    expect(check('qos.iops > 5', { qos: { iops: '10' } })).toBeNull();
  });
});

describe('ShareReplication', () => {
  const replicated = (kind: ScheduleRequest['kind'], activeDomain: string | null, hosts: string[] = []) =>
    typed(
      { replication_type: 'readable' },
      { kind, replicas: { active: { host: 'h@z#p', replicationDomain: activeDomain }, hosts } },
    );
  test.each([
    ['a type without replication', null, request(), true],
    ['a share that may have replicas', 'rd1', typed({ replication_type: 'dr' }), true],
    ['the same, the pool in no domain', null, typed({ replication_type: 'dr' }), false],
    ['the same, the pool’s domain empty', '', typed({ replication_type: 'dr' }), false],
    ['a replica in the active one’s domain', 'rd1', replicated('replica', 'rd1'), true],
    ['a replica in another', 'rd2', replicated('replica', 'rd1'), false],
    ['a replica of a share in none', 'rd1', replicated('replica', null), false],
    ['a second one in a pool', 'rd1', replicated('replica', 'rd1', ['h@z#p', 'h@a#p1']), false],
    ['one in another pool of the back end', 'rd1', replicated('replica', 'rd1', ['h@z#p', 'h@a#p2']), true],
  ] as [string, string | null, ScheduleRequest, boolean][])(
    '%s (pool: %s)',
    (_, replication_domain, asked, passes) => {
      expect(shareReplication.check(pool({ replication_domain }), asked) === null).toBe(passes);
    },
  );

  test('never next to the active replica', () => {
    const asked = replicated('replica', 'rd1');
    const there = { ...asked, replicas: { active: { host: 'h@a#p1', replicationDomain: 'rd1' }, hosts: [] } };
    expect(shareReplication.check(pool({ replication_domain: 'rd1' }), there)).not.toBeNull();
  });
});

test.each([
  ['create', 'h@z#p', 'rd1', null, true],
  ['createFromSnapshot', 'h@a#p1', null, null, true],
  ['createFromSnapshot', 'h@a#p2', null, null, true],
  ['createFromSnapshot', 'h@z#p', 'rd1', 'rd1', true],
  ['createFromSnapshot', 'h@z#p', 'rd1', 'rd2', false],
  ['createFromSnapshot', 'h@z#p', null, null, false],
] as const)(
  'CreateFromSnapshot: %s, source at %s in %s, pool in %s: %s',
  (kind, host, replicationDomain, domain, passes) => {
    const asked = request({ kind, source: { host, replicationDomain } });
    expect(createFromSnapshot.check(pool({ replication_domain: domain }), asked) === null).toBe(passes);
  },
);

test.each([
  [undefined, true, true],
  [[], true, true],
  [['h@a#p1'], true, false],
  [['h@a#p9'], true, false],
  [['h@b#p1'], false, true],
  [['h@a#p1', 'h@b#p1'], false, false],
] as [string[] | undefined, boolean, boolean][])(
  'with %j, h@a#p1 may be the same: %s, different: %s',
  (hosts, same, different) => {
    expect(affinity.check(pool(), request({ hints: { sameHost: hosts } })) === null).toBe(same);
    expect(antiAffinity.check(pool(), request({ hints: { differentHost: hosts } })) === null).toBe(different);
  },
);
