import { mountPointName } from './mountPointNames.ts';

const type = (extra_specs: Record<string, string>) => ({ name: 't', extra_specs });

test.each([
  [{ mount_point_name_support: 'True' }, 'data', 'p1_data'],
  [{ mount_point_name_support: '<is> true', 'provisioning:mount_point_prefix': 'pre' }, 'a-b_1', 'pre_a-b_1'],
  [{ mount_point_name_support: 'yes' }, 5, 'p1_5'],
  [{ mount_point_name_support: 'True' }, null, null],
  [{}, undefined, null],
  [{}, '', null],
] as [Record<string, string>, string | number | null | undefined, string | null][])(
  'a type with %j names %j %j',
  (specs, asked, name) => {
    expect(mountPointName(type(specs), 'p1', asked)).toBe(name);
  },
);

test.each([
  [{}, 'data'],
  [{ mount_point_name_support: 'False' }, 'data'],
  [{ mount_point_name_support: '<is> False' }, 'data'],
  ...['a b', 'a.b', '../b', 'a/b', 'é', 'x'.repeat(253)].map((name) => [
    { mount_point_name_support: 'True' },
    name,
  ]),
] as [Record<string, string>, string][])('a type with %j refuses %j', (specs, asked) => {
  expect(() => mountPointName(type(specs), 'p1', asked)).toThrow(expect.objectContaining({ status: 400 }));
});

test('without a type there is no name', () => {
  expect(() => mountPointName(null, 'p1', 'data')).toThrow(/does not support/);
});
