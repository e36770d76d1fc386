import { entry, pool } from './fixtures.ts';
import { consume, HostStates, poolStates } from './hostState.ts';

const at = (seconds: number) => `2026-01-01T00:00:${String(seconds).padStart(2, '0')}.000000`;
const ms = (seconds: number) => Date.parse(`${at(seconds)}Z`);

describe('a pool from a report', () => {
  test('has a full host, its back end’s capabilities and its own above them', () => {
    const given = entry('a', [{ pool_name: 'gold', snapshot_support: false }], { availabilityZone: 'az1' });
    const [state] = poolStates(given);
    expect(state).toMatchObject({
      host: 'h@a#gold',
      backend: 'a',
      pool: 'gold',
      availabilityZone: 'az1',
      reportedAt: ms(0),
    });
    expect(state!.capabilities).toMatchObject({ share_backend_name: 'a', snapshot_support: false });
    expect(state!.capabilities).not.toHaveProperty('pools');
  });

  test.each([
    [100, 100],
    ['100', 100],
    ['unknown', 'unknown'],
    ['infinite', 'infinite'],
    [undefined, 'unknown'],
    [null, 'unknown'],
    ['a lot', 'unknown'],
  ])('free capacity %j is %j', (reported, expected) => {
    expect(pool({ free_capacity_gb: reported }).freeCapacity).toBe(expected);
  });

  test('what it does not say of its shares is taken from our own rows', () => {
    const given = entry('a', [{}, { provisioned_capacity_gb: 7 }, { allocated_capacity_gb: 5 }]);
    const states = poolStates({ ...given, sharesOn: new Map([['h@a#p1', 42]]) });
    expect(states.map((state) => state.provisionedCapacity)).toEqual([42, 7, 5]);
    expect(states.map((state) => state.allocatedCapacity)).toEqual([42, 0, 5]);
  });

  test('a service that never reported has no pools', () => {
    expect(poolStates({ ...entry('a', [{}]), report: null })).toEqual([]);
  });

  test('a placement takes from it', () => {
    const state = pool({ free_capacity_gb: 100, provisioned_capacity_gb: 20, allocated_capacity_gb: 10 });
    consume(state, 30);
    expect(state).toMatchObject({ freeCapacity: 70, provisionedCapacity: 50, allocatedCapacity: 40 });
    const unknown = pool({ free_capacity_gb: 'unknown' });
    consume(unknown, 30);
    expect(unknown).toMatchObject({ freeCapacity: 'unknown', provisionedCapacity: 30 });
  });
});

describe('pools between reports', () => {
  const free = (states: HostStates) => states.pools().map((state) => state.freeCapacity);

  test('placements count until a report made after them', () => {
    const states = new HostStates();
    states.refresh([entry('a', [{}, {}], {}, at(0))]);
    states.consume('h@a#p1', 100, ms(5));
    expect(free(states)).toEqual([900, 1000]);
    states.refresh([entry('a', [{}, {}], {}, at(0))]);
    expect(free(states)).toEqual([900, 1000]);
    states.refresh([entry('a', [{}, {}], {}, at(3))]);
    expect(free(states)).toEqual([900, 1000]);
    states.refresh([entry('a', [{}, {}], {}, at(9))]);
    expect(free(states)).toEqual([1000, 1000]);
    states.refresh([entry('a', [{}, {}], {}, at(10))]);
    expect(free(states)).toEqual([1000, 1000]);
  });

  test('what is known of a service changes without a report', () => {
    const states = new HostStates();
    states.refresh([entry('a', [{}])]);
    states.consume('h@a#p1', 100, ms(5));
    states.refresh([entry('a', [{}], { up: false, disabled: true, availabilityZone: 'az2' })]);
    expect(states.pools()[0]).toMatchObject({
      up: false,
      disabled: true,
      availabilityZone: 'az2',
      freeCapacity: 900,
    });
  });

  test('services that are gone are forgotten, and those without a report', () => {
    const states = new HostStates();
    states.refresh([entry('b', [{}]), entry('a', [{}])]);
    expect(states.pools().map((state) => state.host)).toEqual(['h@a#p1', 'h@b#p1']);
    states.refresh([entry('b', [{}])]);
    expect(states.pools().map((state) => state.host)).toEqual(['h@b#p1']);
    states.refresh([{ ...entry('b', [{}]), report: null }]);
    expect(states.pools()).toEqual([]);
    states.consume('h@b#p1', 5, ms(1));
  });
});
