import { answersSearch, capabilitiesOf, openSpecs } from './shareTypes.ts';

test('members see no spec that is between the administrator and the back ends', () => {
  const specs = {
    driver_handles_share_servers: 'False',
    share_backend_name: 'alpha',
    'capabilities:dedupe': 'True',
    snapshot_support: '<is> True',
    'provisioning:max_share_size': '5',
    replication_type: null,
  };
  expect(openSpecs(specs, { shown: false, accessInheritance: false })).toEqual({
    driver_handles_share_servers: 'False',
    snapshot_support: '<is> True',
    'provisioning:max_share_size': '5',
    replication_type: null,
  });
});

test('what a type leaves unset is false, as far as the version knows it', () => {
  const specs = { driver_handles_share_servers: 'True', snapshot_support: 'True' };
  const since224 = {
    ...specs,
    create_share_from_snapshot_support: false,
    revert_to_snapshot_support: false,
    mount_snapshot_support: false,
  };
  expect(openSpecs(specs, { shown: false, accessInheritance: true })).toEqual(specs);
  expect(openSpecs(specs, { shown: true, accessInheritance: false })).toEqual(since224);
  expect(openSpecs(specs, { shown: true, accessInheritance: true })).toEqual({
    ...since224,
    snapshot_inherit_share_access_support: false,
  });
});

describe('a search by extra specs', () => {
  const specs = { snapshot_support: 'True', none: null, availability_zones: 'a,b' };

  test.each([
    [{}, true],
    [{ snapshot_support: 'True' }, true],
    [{ snapshot_support: 'true' }, false],
    [{ snapshot_support: true }, false],
    [{ none: null }, true],
    [{ missing: null }, false],
    [{ toString: 'x' }, false],
    [{ availability_zones: 'a' }, true],
    [{ availability_zones: 'b, a' }, true],
    [{ availability_zones: 'a,c' }, false],
    [{ availability_zones: '' }, true],
    [{ availability_zones: 'a', snapshot_support: 'False' }, false],
  ])('for %j: %j', (asked, answers) => expect(answersSearch(specs, asked)).toBe(answers));

  test('a type that names no zones is in all of them', () => {
    expect(answersSearch({}, { availability_zones: 'z' })).toBe(true);
  });
});

test('a share can do what its type says in any way of writing yes', () => {
  const can = capabilitiesOf({
    snapshot_support: '<is> True',
    mount_snapshot_support: '1',
    revert_to_snapshot_support: 'no',
  });
  expect(can).toEqual({
    snapshot_support: true,
    mount_snapshot_support: true,
    revert_to_snapshot_support: false,
    create_share_from_snapshot_support: false,
    replication_type: null,
  });
});
