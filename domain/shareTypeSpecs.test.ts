import { checkNewTypeSpecs, checkSpecs, sizeProblem } from './shareTypeSpecs.ts';

const refused = (specs: Record<string, unknown>) => {
  const result = checkSpecs(specs);
  return 'problem' in result ? result.problem : null;
};

test('a new type says how share servers are handled, in plain words', () => {
  expect(checkNewTypeSpecs({})).toEqual({
    problem: { key: 'driver_handles_share_servers', reason: 'is required' },
  });
  for (const value of ['True', 'false', '1', 'no', 'on', true, 0]) {
    expect(checkNewTypeSpecs({ driver_handles_share_servers: value })).toHaveProperty('specs');
  }
  for (const value of ['maybe', '', '<is> True', null, ['True'], {}]) {
    expect(checkNewTypeSpecs({ driver_handles_share_servers: value })).toHaveProperty('problem');
  }
});

test('specs are stored as text', () => {
  expect(checkSpecs({ a: true, b: 5, c: null, d: 'x', availability_zones: 'a, b' })).toEqual({
    specs: { a: 'True', b: '5', c: null, d: 'x', availability_zones: 'a,b' },
  });
});

test.each([
  [
    'snapshot_support',
    ['True', 'yes', '0', '<is> False', true],
    ['perhaps', '', '<is> yes', '<in> True', null],
  ],
  ['mount_point_name_support', ['True'], ['x']],
  ['replication_type', ['readable', 'writable', 'dr'], ['magic', '', 'DR']],
  ['encryption_support', ['share', 'share_server'], ['x', '', 'share,share_server']],
  ['availability_zones', ['a', 'a,b', 'a, b'], ['', ' ', ',a', 'a,', 'a,,b']],
  ['provisioning:max_share_size', ['1', '100', 5], ['0', '-1', 'x', '1.5', '']],
  ['provisioning:min_share_size', ['1'], ['0']],
  ['provisioning:max_share_extend_size', ['1'], ['0', 'x']],
  ['anything', ['x'.repeat(255), '', 'maybe', '<or> a'], ['x'.repeat(256), ['a'], {}]],
] as [string, unknown[], unknown[]][])('%s takes some values and refuses others', (key, fine, wrong) => {
  for (const value of fine) expect([value, refused({ [key]: value })]).toEqual([value, null]);
  for (const value of wrong) expect([value, refused({ [key]: value })?.key]).toEqual([value, key]);
});

test('keys have a length that can be stored', () => {
  expect(refused({ ['k'.repeat(255)]: 'x' })).toBeNull();
  expect(refused({ ['k'.repeat(256)]: 'x' })?.reason).toMatch(/255/);
});

test.each([
  [1, 'create', /less than the minimum of 2/],
  [2, 'create', null],
  [3, 'create', null],
  [4, 'create', /more than the maximum of 3/],
  [1, 'extend', null],
  [4, 'extend', /more than the maximum of 3/],
  [4, 'extendAsAdmin', null],
  [5, 'extendAsAdmin', null],
  [6, 'extendAsAdmin', /more than the maximum of 5/],
] as [number, 'create' | 'extend' | 'extendAsAdmin', RegExp | null][])(
  '%d GiB, %s',
  (size, sizing, problem) => {
    const specs = {
      'provisioning:min_share_size': '2',
      'provisioning:max_share_size': '3',
      'provisioning:max_share_extend_size': '5',
    };
    if (problem) expect(sizeProblem(specs, size, sizing)).toMatch(problem);
    else expect(sizeProblem(specs, size, sizing)).toBeNull();
    expect(sizeProblem({}, size, sizing)).toBeNull();
  },
);
