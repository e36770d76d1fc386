import fc from 'fast-check';
import { entry, request, typed } from './fixtures.ts';
import { HostStates, type PoolState, poolStates, type ServiceEntry } from './hostState.ts';
import { defaultSettings, SchedulerConfigurationError, schedulerOptions } from './options.ts';
import type { ScheduleRequest } from './request.ts';
import { type Outcome, schedule } from './schedule.ts';
import { normalise } from './weigh.ts';

const options = schedulerOptions(defaultSettings);
const poolsOf = (...entries: ServiceEntry[]) => entries.flatMap(poolStates);
const free = (...capacities: unknown[]) =>
  poolsOf(...capacities.map((gb, i) => entry('abcdef'[i]!, [{ free_capacity_gb: gb }])));
const place = (asked: ScheduleRequest, pools: PoolState[], settings = {}) =>
  schedule(asked, pools, schedulerOptions({ ...defaultSettings, ...settings }));
const hostOf = (outcome: Outcome) => (outcome.refused ? `refused: ${outcome.detail}` : outcome.host);

describe('configuration', () => {
  test.each([
    ['scheduler_default_filters', { scheduler_default_filters: ['CapacityFilter', 'NoSuchFilter'] }],
    ['scheduler_default_extend_filters', { scheduler_default_extend_filters: ['NoSuchFilter'] }],
    ['scheduler_default_weighers', { scheduler_default_weighers: ['NoSuchFilter'] }],
  ])('%s with an unknown name is refused and names it', (option, settings) => {
    const resolve = () => schedulerOptions({ ...defaultSettings, ...settings });
    expect(resolve).toThrow(SchedulerConfigurationError);
    expect(resolve).toThrow(new RegExp(`${option} names 'NoSuchFilter'`));
  });

  test('filters run in the order configured', () => {
    const asked = request({ size: 9999, availabilityZone: 'elsewhere' });
    expect(place(asked, free(1))).toMatchObject({ detail: 'filterAvailability' });
    const order = ['CapacityFilter', 'AvailabilityZoneFilter'];
    expect(place(asked, free(1), { scheduler_default_filters: order })).toMatchObject({
      detail: 'filterCapacity',
    });
    expect(hostOf(place(asked, free(1), { scheduler_default_filters: [] }))).toBe('h@a#p1');
  });
});

describe('refusals', () => {
  const onB = {
    size: 10,
    kind: 'replica',
    replicas: { active: { host: 'h@b#p1' }, hosts: ['h@b#p1'] },
  } as const;
  test.each([
    ['no type', request({ shareType: null }), free(1000), 'noDefaultShareType', null],
    ['no pools', request(), [], 'shareBackendNotReadyYet', null],
    [
      'services down',
      request(),
      poolsOf(entry('a', [{}], { up: false })),
      'shareBackendNotReadyYet',
      'ServiceState',
    ],
    [
      'services disabled',
      request(),
      poolsOf(entry('a', [{}], { disabled: true })),
      'shareBackendNotReadyYet',
      'ServiceState',
    ],
    ['all tried before', request({ ignoreHosts: ['h@a#p1'] }), free(1000), 'filterIgnore', 'IgnoredHosts'],
    ['group elsewhere', request({ groupHost: 'h@z#p1' }), free(1000), 'noValidHost', 'GivenHost'],
    ['only_host', request({ hints: { onlyHost: 'h@z#p' } }), free(1000), 'noValidHost', 'OnlyHostFilter'],
    ['zone', request({ availabilityZone: 'x' }), free(1000), 'filterAvailability', 'AvailabilityZoneFilter'],
    ['capacity', request({ size: 1001 }), free(1000), 'filterCapacity', 'CapacityFilter'],
    [
      'capabilities',
      typed({ share_backend_name: 'nowhere' }),
      free(1000),
      'filterCapabilities',
      'CapabilitiesFilter',
    ],
    [
      'driver',
      request(),
      poolsOf(entry('a', [{ filter_function: '1 > 2' }])),
      'filterDriver',
      'DriverFilter',
    ],
    [
      'replication',
      typed({ replication_type: 'dr' }, onB),
      poolsOf(entry('a', [{ replication_domain: 'x', replication_type: 'dr' }])),
      'filterReplication',
      'ShareReplicationFilter',
    ],
    [
      'from a snapshot',
      request({ kind: 'createFromSnapshot', source: { host: 'h@b#p1' } }),
      free(1000),
      'filterCreateFromSnapshot',
      'CreateFromSnapshotFilter',
    ],
    ['same_host', request({ hints: { sameHost: ['h@b#p1'] } }), free(1000), 'noValidHost', 'AffinityFilter'],
    [
      'different_host',
      request({ hints: { differentHost: ['h@a#p1'] } }),
      free(1000),
      'noValidHost',
      'AntiAffinityFilter',
    ],
  ] as [string, ScheduleRequest, PoolState[], string, string | null][])(
    '%s',
    (_, asked, pools, detail, filter) => {
      expect(schedule(asked, pools, options)).toMatchObject({ refused: true, detail, filter });
    },
  );

  test('the filter that removed the last pool is the one named, and each pool says its own', () => {
    const pools = poolsOf(
      entry('a', [{ free_capacity_gb: 5 }]),
      entry('b', [{}], { availabilityZone: 'az2' }),
      entry('c', [{}], { up: false }),
      entry('d', [{ storage_protocol: 'CIFS' }]),
    );
    const outcome = schedule(request({ availabilityZone: 'nova' }), pools, options);
    expect(outcome).toMatchObject({
      refused: true,
      detail: 'filterCapabilities',
      filter: 'CapabilitiesFilter',
    });
    expect(Object.fromEntries(outcome.explanation.map(({ pool, filter }) => [pool, filter]))).toEqual({
      'h@a#p1': 'CapacityFilter',
      'h@b#p1': 'AvailabilityZoneFilter',
      'h@c#p1': 'ServiceState',
      'h@d#p1': 'CapabilitiesFilter',
    });
    expect(outcome.explanation.find(({ pool }) => pool === 'h@a#p1')).toEqual({
      pool: 'h@a#p1',
      passed: false,
      filter: 'CapacityFilter',
      reason: 'not enough free space',
      numbers: { requested: 10, free: 5, total: 1000, reserved_percentage: 0, available: 5 },
    });
  });

  test('a back end’s broken filter is for the log as well', () => {
    const outcome = schedule(
      request(),
      poolsOf(entry('a', [{ filter_function: 'share.size <' }]), entry('b', [{}])),
      options,
    );
    expect(hostOf(outcome)).toBe('h@b#p1');
    expect(outcome.warnings).toEqual([
      expect.stringMatching(/^h@a#p1: the filter_function is wrong: .*character 13/),
    ]);
  });
});

describe('disabled services', () => {
  const disabled = poolsOf(entry('a', [{}], { disabled: true }), entry('b', [{}]));
  const only = { onlyHost: 'h@a#p1' };
  test('are for an administrator who names one', () => {
    expect(hostOf(schedule(request({ hints: only, isAdmin: true }), disabled, options))).toBe('h@a#p1');
    expect(hostOf(schedule(request({ hints: only }), disabled, options))).toBe('refused: noValidHost');
    expect(hostOf(schedule(request({ isAdmin: true }), disabled, options))).toBe('h@b#p1');
  });
  test('but not when they are down', () => {
    const down = poolsOf(entry('a', [{}], { disabled: true, up: false }));
    expect(hostOf(schedule(request({ hints: only, isAdmin: true }), down, options))).toBe(
      'refused: shareBackendNotReadyYet',
    );
  });
});

describe('weighing', () => {
  test.each([
    [[], []],
    [[5], [0]],
    [
      [5, 5],
      [0, 0],
    ],
    [
      [0, 5, 10],
      [0, 0.5, 1],
    ],
    [
      [-Infinity, 0, 9],
      [0, 0.1, 1],
    ],
    [
      [Infinity, 0, 9],
      [1, 0, 0.9],
    ],
    [
      [-Infinity, -Infinity],
      [0, 0],
    ],
    [
      [-Infinity, 7],
      [0, 1],
    ],
  ] as [number[], number[]][])('%j on one scale: %j', (values, expected) => {
    expect(normalise(values)).toEqual(expected);
  });

  test('most room wins, least with a negative multiplier, unknown room never', () => {
    const pools = free(300, 900, 'unknown', 600);
    expect(hostOf(schedule(request(), pools, options))).toBe('h@b#p1');
    expect(hostOf(place(request(), pools, { capacity_weight_multiplier: -1 }))).toBe('h@a#p1');
    const { explanation } = place(request(), pools, { capacity_weight_multiplier: -1 });
    expect(explanation.map(({ pool }) => pool)).toEqual(['h@a#p1', 'h@d#p1', 'h@b#p1', 'h@c#p1']);
  });

  test('weights are those of the candidates, with what each weigher said', () => {
    const outcome = schedule(request(), free(300, 900, 600), options);
    expect(outcome.explanation.map(({ pool, weight, weights }) => [pool, weight, weights])).toEqual([
      ['h@b#p1', 1, { CapacityWeigher: 900, GoodnessWeigher: 0, HostAffinityWeigher: 0 }],
      ['h@c#p1', 0.5, { CapacityWeigher: 600, GoodnessWeigher: 0, HostAffinityWeigher: 0 }],
      ['h@a#p1', 0, { CapacityWeigher: 300, GoodnessWeigher: 0, HostAffinityWeigher: 0 }],
    ]);
  });

  test('goodness adds to it; what is wrong or out of bounds weighs 0 and is logged', () => {
    const good = (...functions: string[]) =>
      poolsOf(...functions.map((goodness_function, i) => entry('abcdef'[i]!, [{ goodness_function }])));
    const outcome = schedule(
      request(),
      good('10', '(share.size < 5) ? 100 : 50', '101', '-1', 'share.size >', '1 < 2'),
      options,
    );
    expect(hostOf(outcome)).toBe('h@b#p1');
    expect(outcome.explanation.filter(({ weight }) => weight === 0)).toHaveLength(4);
    expect(outcome.warnings).toHaveLength(4);
    expect(outcome.warnings).toContainEqual(
      expect.stringMatching(/h@c#p1: .*101, which is not from 0 to 100/),
    );
  });

  test('a share from a snapshot stays as near as it can', () => {
    const near = entry('a', [{}, {}]);
    const sameZone = entry('b', [{}]);
    const far = entry('c', [{}], { availabilityZone: 'az2' });
    for (const each of [near, sameZone, far]) each.report!.stats.replication_domain = 'rd1';
    const asked = request({
      kind: 'createFromSnapshot',
      source: { host: 'h@a#p2', availabilityZone: 'nova' },
    });
    const { explanation } = schedule(asked, poolsOf(far, sameZone, near), options);
    expect(explanation.map(({ pool, weights }) => [pool, weights!.HostAffinityWeigher])).toEqual([
      ['h@a#p2', 100],
      ['h@a#p1', 75],
      ['h@b#p1', 50],
      ['h@c#p1', 25],
    ]);
  });

  test('equal pools share the load, and a request asked again gets the same answer', () => {
    const winners = new Set<string>();
    for (let i = 0; i < 50; i++) {
      const asked = request({ id: `instance-${i}` });
      const host = hostOf(schedule(asked, free('unknown', 'unknown', 'unknown'), options));
      expect(hostOf(schedule(asked, free('unknown', 'unknown', 'unknown').reverse(), options))).toBe(host);
      winners.add(host);
    }
    expect(winners.size).toBe(3);
  });
});

describe('other kinds of requests', () => {
  test('an extend looks at the share’s own pool, through the extend filters', () => {
    const pools = free(30, 1000);
    const extend = (size: number, extraSpecs = {}) =>
      schedule(
        typed(extraSpecs, { kind: 'extend', size, currentHost: 'h@a#p1', availabilityZone: 'gone' }),
        pools,
        options,
      );
    expect(hostOf(extend(30, { share_backend_name: 'renamed' }))).toBe('h@a#p1');
    expect(extend(31)).toMatchObject({ refused: true, detail: 'filterCapacity', filter: 'CapacityFilter' });
  });

  test('replicas go to the active one’s domain, found among the pools', () => {
    const replicated = (domain: string | null) => ({ replication_domain: domain, replication_type: 'dr' });
    const pools = poolsOf(
      entry('a', [replicated('rd1')]),
      entry('b', [replicated('rd1')]),
      entry('c', [replicated('rd2')]),
      entry('d', [replicated(null)]),
    );
    const replica = (hosts: string[]) =>
      typed(
        { replication_type: 'dr', share_backend_name: 'a' },
        { kind: 'replica', replicas: { active: { host: 'h@a#p1' }, hosts } },
      );
    expect(hostOf(schedule(replica(['h@a#p1']), pools, options))).toBe('h@b#p1');
    expect(hostOf(schedule(replica(['h@a#p1', 'h@b#p1']), pools, options))).toBe(
      'refused: filterReplication',
    );
  });

  test('a share from a snapshot goes to the source’s back end or domain, found among the pools', () => {
    const pools = poolsOf(
      entry('a', [{ free_capacity_gb: 1, replication_domain: 'rd1' }]),
      entry('b', [{ replication_domain: 'rd1' }]),
      entry('c', [{}]),
    );
    const clone = typed(
      { share_backend_name: 'a' },
      { kind: 'createFromSnapshot', source: { host: 'h@a#p1' } },
    );
    expect(hostOf(schedule(clone, pools, options))).toBe('h@b#p1');
  });

  test('a share of a group goes where the group is', () => {
    expect(hostOf(schedule(request({ groupHost: 'h@a#p1' }), free(100, 900), options))).toBe('h@a#p1');
  });
});

const anyPool = fc.record({
  total_capacity_gb: fc.oneof(fc.integer({ min: 0, max: 500 }), fc.constant('unknown')),
  free_capacity_gb: fc.integer({ min: 0, max: 500 }),
  reserved_percentage: fc.integer({ min: 0, max: 60 }),
  reserved_snapshot_percentage: fc.integer({ min: 0, max: 60 }),
  thin_provisioning: fc.constantFrom(true, false, [true, false]),
  max_over_subscription_ratio: fc.constantFrom(0.5, 1, 1.5, 3),
  goodness_function: fc.constantFrom('0', '100', 'share.size', 'share.'),
});
const anyEntries = fc
  .array(
    fc.tuple(fc.array(anyPool, { minLength: 1, maxLength: 3 }), fc.constantFrom('az1', 'az2'), fc.boolean()),
    { minLength: 1, maxLength: 4 },
  )
  .map((services) =>
    services.map(([pools, availabilityZone, up], i) => entry('abcd'[i]!, pools, { availabilityZone, up })),
  );
const anyRequest = fc
  .record({
    id: fc.uuid(),
    size: fc.integer({ min: 1, max: 200 }),
    availabilityZone: fc.constantFrom(null, 'az1', 'az2', 'az3'),
    protocol: fc.constantFrom('NFS', 'CEPHFS'),
    hints: fc.record({ differentHost: fc.constantFrom([], ['h@a#p1'], ['h@a#p1', 'h@b#p1']) }),
  })
  .map((given) => request(given));

test('no sequence of placements exceeds a pool', () => {
  fc.assert(
    fc.property(anyEntries, fc.array(anyRequest, { maxLength: 40 }), (entries, requests) => {
      const states = new HostStates();
      states.refresh(entries);
      const before = new Map(states.pools().map((state) => [state.host, structuredClone(state)]));
      const placed = new Map<string, number>();
      requests.forEach((asked, i) => {
        const outcome = schedule(asked, states.pools(), options);
        if (outcome.refused) return;
        states.consume(outcome.host, asked.size, i);
        placed.set(outcome.host, (placed.get(outcome.host) ?? 0) + asked.size);
      });
      for (const [host, gib] of placed) {
        const was = before.get(host)!;
        const isBounded = typeof was.totalCapacity === 'number' && was.thin;
        const room = isBounded
          ? (was.totalCapacity as number) * was.maxOverSubscriptionRatio!
          : (was.freeCapacity as number) -
            (typeof was.totalCapacity === 'number' ? (was.totalCapacity * was.reservedPercentage) / 100 : 0);
        expect(gib).toBeLessThanOrEqual(room);
      }
    }),
  );
});

test('the same input has the same outcome, whatever the order of the pools, and touches none of it', () => {
  fc.assert(
    fc.property(anyEntries, anyRequest, (entries, asked) => {
      const pools = poolsOf(...entries);
      const copy = structuredClone(pools);
      const first = schedule(asked, pools, options);
      expect(pools).toEqual(copy);
      expect(schedule(asked, pools, options)).toEqual(first);
      expect(hostOf(schedule(asked, [...pools].reverse(), options))).toBe(hostOf(first));
    }),
  );
});

test('every pool is explained, and a refusal names a filter that removed the last of them', () => {
  fc.assert(
    fc.property(anyEntries, anyRequest, (entries, asked) => {
      const pools = poolsOf(...entries);
      const outcome = schedule(asked, pools, options);
      expect(outcome.explanation.map(({ pool }) => pool).sort()).toEqual(
        pools.map((state) => state.host).sort(),
      );
      for (const { passed, filter, reason, weight } of outcome.explanation) {
        expect([typeof filter, typeof reason, typeof weight]).toEqual(
          passed ? ['undefined', 'undefined', 'number'] : ['string', 'string', 'undefined'],
        );
      }
      if (!outcome.refused)
        return expect(outcome.explanation[0]).toMatchObject({ pool: outcome.host, passed: true });
      const stages = [
        'ServiceState',
        'IgnoredHosts',
        'GivenHost',
        ...defaultSettings.scheduler_default_filters,
      ];
      const last = Math.max(...outcome.explanation.map(({ filter }) => stages.indexOf(filter!)));
      expect(outcome.filter).toBe(stages[last]);
    }),
  );
});
