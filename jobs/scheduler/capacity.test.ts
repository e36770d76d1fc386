import fc from 'fast-check';
import { capacity } from './filters/capacity.ts';
import { pool, request, typed } from './fixtures.ts';
import { consume } from './hostState.ts';
import type { RequestKind } from './request.ts';
import { capacity as weigher } from './weighers/capacity.ts';

const passes = (reported: Record<string, unknown>, size: number, kind: RequestKind = 'create') =>
  capacity.check(pool(reported), request({ size, kind })) === null;

describe('capacities that are not numbers', () => {
  test.each([
    ['unknown', 'unknown', 0, 10_000, true],
    [1000, 'unknown', 50, 10_000, true],
    [1000, 'infinite', 50, 10_000, true],
    ['unknown', 100, 0, 100, true],
    ['unknown', 100, 0, 101, false],
    ['unknown', 100, 5, 1, false],
    ['infinite', 100, 0, 100, true],
    ['infinite', 100, 0, 101, false],
    ['nonsense', 100, 0, 100, true],
    [undefined, 100, 0, 100, true],
    [1000, null, 50, 10_000, true],
    [0, 100, 0, 1, false],
    [-1, 100, 0, 1, false],
    ['1000', '100', 0, 100, true],
    ['1000', '100', 0, 101, false],
  ])('total %s, free %s, %d %% reserved, %d GiB asked: %s', (total, free, reserved, size, expected) => {
    const reported = { total_capacity_gb: total, free_capacity_gb: free, reserved_percentage: reserved };
    expect(passes(reported, size)).toBe(expected);
  });
});

describe('thick pools', () => {
  test.each([
    // total, free, reserved, the most that fits
    [1000, 1000, 0, 1000],
    [1000, 500, 0, 500],
    [1000, 500, 10, 400],
    [1000, 500, 50, 0],
    [1000, 100, 50, -1],
    [1000, 1000, 7, 930],
    [1230, 1210.5, 0, 1210],
    [99, 99, 1, 98],
  ])('total %d, free %d, %d %% reserved: %d GiB fit and no more', (total, free, reserved, most) => {
    const reported = { total_capacity_gb: total, free_capacity_gb: free, reserved_percentage: reserved };
    if (most > 0) expect(passes(reported, most)).toBe(true);
    expect(passes(reported, Math.max(most + 1, 1))).toBe(false);
  });

  test('a refusal bears the numbers it was made of', () => {
    const full = pool({ total_capacity_gb: 100, free_capacity_gb: 50, reserved_percentage: 10 });
    expect(capacity.check(full, request({ size: 41 }))).toEqual({
      reason: 'not enough free space',
      numbers: { requested: 41, free: 50, total: 100, reserved_percentage: 10, available: 40 },
    });
  });
});

describe('each kind of request has its reserve', () => {
  const reported = {
    reserved_percentage: 10,
    reserved_snapshot_percentage: 20,
    reserved_share_extend_percentage: 30,
  };
  test.each([
    ['create', 900],
    ['replica', 900],
    ['createFromSnapshot', 800],
    ['extend', 700],
  ] as [RequestKind, number][])('%s: %d of 1000 GiB', (kind, most) => {
    expect(passes(reported, most, kind)).toBe(true);
    expect(passes(reported, most + 1, kind)).toBe(false);
    expect(weigher.weigh(pool(reported), request({ kind }), 1, fail)).toBe(most);
  });

  test.each(['createFromSnapshot', 'extend'] as RequestKind[])(
    '%s: the plain one where nothing else is said',
    (kind) => {
      expect(passes({ reserved_percentage: 10 }, 900, kind)).toBe(true);
      expect(passes({ reserved_percentage: 10 }, 901, kind)).toBe(false);
      expect(
        passes(
          { ...reported, reserved_snapshot_percentage: 0, reserved_share_extend_percentage: 0 },
          1000,
          kind,
        ),
      ).toBe(true);
    },
  );
});

describe('thin pools', () => {
  const thin = (more: Record<string, unknown>) => ({
    thin_provisioning: true,
    total_capacity_gb: 100,
    ...more,
  });
  test.each([
    // ratio, provisioned, free, reserved, asked
    [1, 0, 100, 0, 100, true],
    [1, 0, 100, 0, 101, false],
    [2, 0, 100, 0, 200, true],
    [2, 0, 100, 0, 201, false],
    [2, 150, 100, 0, 50, true],
    [2, 150, 100, 0, 51, false],
    [2, 0, 10, 0, 20, true],
    [2, 0, 10, 0, 21, false],
    [2, 0, 100, 50, 100, true],
    [2, 0, 100, 50, 101, false],
    [1.5, 0, 100, 0, 150, true],
    [1.5, 0, 100, 0, 151, false],
    [0.9, 0, 100, 0, 1, false],
    [0, 0, 100, 0, 1, false],
    [20, 1990, 100, 0, 10, true],
    [20, 1990, 100, 0, 11, false],
    ['2', 0, 100, 0, 200, true],
    [undefined, 0, 100, 0, 2000, true],
    [undefined, 0, 100, 0, 2001, false],
  ])(
    'ratio %s, provisioned %d, free %d, %d %% reserved, %d asked: %s',
    (ratio, provisioned, free, reserved, size, expected) => {
      const reported = thin({
        max_over_subscription_ratio: ratio,
        provisioned_capacity_gb: provisioned,
        free_capacity_gb: free,
        reserved_percentage: reserved,
      });
      expect(passes(reported, size)).toBe(expected);
    },
  );

  test.each([
    [true, {}, true],
    [[true, false], {}, true],
    [[true, false], { thin_provisioning: '<is> True' }, true],
    [[true, false], { thin_provisioning: '<is> False' }, false],
    [true, { thin_provisioning: 'False' }, false],
    [true, { 'capabilities:thin_provisioning': 'False' }, false],
    [[false], {}, false],
    [false, { thin_provisioning: '<is> True' }, false],
    [undefined, {}, false],
  ] as [unknown, Record<string, string>, boolean][])(
    'pool %j, type %j: over-subscribed %s',
    (reported, specs, expected) => {
      const state = pool(
        thin({ thin_provisioning: reported, free_capacity_gb: 100, max_over_subscription_ratio: 2 }),
      );
      expect(capacity.check(state, typed(specs, { size: 150 })) === null).toBe(expected);
    },
  );

  test('more than may be promised is refused with ratio and promises', () => {
    const state = pool(
      thin({ max_over_subscription_ratio: 2, provisioned_capacity_gb: 195, free_capacity_gb: 90 }),
    );
    expect(capacity.check(state, request({ size: 6 }))?.numbers).toEqual({
      requested: 6,
      free: 90,
      total: 100,
      reserved_percentage: 0,
      provisioned: 195,
      max_over_subscription_ratio: 2,
      available: 90,
    });
  });
});

describe('the weight of capacity', () => {
  test.each([
    [{ total_capacity_gb: 'unknown' }, 1, -Infinity],
    [{ free_capacity_gb: 'infinite' }, 1, -Infinity],
    [{ free_capacity_gb: 'unknown' }, -1, Infinity],
    [{ total_capacity_gb: 100, free_capacity_gb: 50.7, reserved_percentage: 10 }, 1, 40],
    [{ total_capacity_gb: 100, free_capacity_gb: 5, reserved_percentage: 10 }, 1, -5],
    [
      {
        total_capacity_gb: 100,
        free_capacity_gb: 5,
        thin_provisioning: true,
        max_over_subscription_ratio: 3,
        provisioned_capacity_gb: 120,
        reserved_percentage: 10,
      },
      1,
      170,
    ],
  ])('%j times %d: %d', (reported, multiplier, expected) => {
    expect(weigher.weigh(pool(reported), request(), multiplier, fail)).toBe(expected);
  });
});

const capacities = fc.record({
  total: fc.integer({ min: 1, max: 5000 }),
  used: fc.integer({ min: 0, max: 100 }),
  reserved: fc.integer({ min: 0, max: 100 }),
  sizes: fc.array(fc.integer({ min: 1, max: 800 }), { maxLength: 60 }),
});

test('thick: whatever is asked, in whatever order, the reserve stays free', () => {
  fc.assert(
    fc.property(capacities, ({ total, used, reserved, sizes }) => {
      const free = Math.floor((total * (100 - used)) / 100);
      const state = pool({ total_capacity_gb: total, free_capacity_gb: free, reserved_percentage: reserved });
      let placed = 0;
      for (const size of sizes) {
        if (capacity.check(state, request({ size })) !== null) continue;
        consume(state, size);
        placed += size;
      }
      expect(placed).toBeLessThanOrEqual(Math.max(0, Math.floor(free - (total * reserved) / 100)));
    }),
  );
});

test('thin: no more is promised than the ratio allows', () => {
  fc.assert(
    fc.property(capacities, fc.integer({ min: 10, max: 50 }), ({ total, reserved, sizes }, tenths) => {
      const ratio = tenths / 10;
      const state = pool({
        thin_provisioning: [true, false],
        total_capacity_gb: total,
        free_capacity_gb: total,
        reserved_percentage: reserved,
        max_over_subscription_ratio: ratio,
      });
      let placed = 0;
      for (const size of sizes) {
        if (capacity.check(state, request({ size })) !== null) continue;
        consume(state, size);
        placed += size;
      }
      expect(placed / total).toBeLessThanOrEqual(ratio);
      expect(state.provisionedCapacity).toBe(placed);
    }),
  );
});

function fail(text: string): never {
  throw new Error(text);
}
