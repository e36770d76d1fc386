import fc from 'fast-check';
import {
  asksThick,
  capabilityPath,
  firstMismatch,
  meetsSpec,
  parseBoolean,
  parseNumber,
  schedulingSpecs,
  zonesOf,
} from './extraSpecs.ts';

describe('a spec against one capability', () => {
  const cases: [spec: string, capability: unknown, meets: boolean][] = [
    // no operator: text in any case, booleans in any spelling, never a number
    ['alpha', 'alpha', true],
    ['ALPHA', 'alpha', true],
    ['Open Source', 'open source', true],
    ['alpha ', 'alpha', false],
    [' alpha', 'alpha', false],
    ['alph', 'alpha', false],
    ['', 'alpha', false],
    ['True', true, true],
    ['true', true, true],
    ['yes', true, true],
    ['1', true, true],
    ['False', true, false],
    ['maybe', true, false],
    ['maybe', false, false],
    ['False', false, true],
    ['0', false, true],
    ['off', false, true],
    ['', false, false],
    ['1230', 1230, false],
    ['False', 0, false],
    // = means at least
    ['= 1000', 1230, true],
    ['= 1230', 1230, true],
    ['= 1231', 1230, false],
    ['= -1', 1230, true],
    ['= abc', 1230, false],
    ['= alpha', 'alpha', false],
    ['= 1', true, true],
    ['=', 1230, false],
    // numbers
    ['== 1230', 1230, true],
    ['== 1230.0', 1230, true],
    ['== 1231', 1230, false],
    ['== 1', '1.0', true],
    ['== 1e0', '1.0', true],
    ['== 0x1', '1.0', false],
    ['== 0', false, true],
    ['== alpha', 'alpha', false],
    ['!= 1', 1230, true],
    ['!= 1230', 1230, false],
    ['!= alpha', 'beta', false],
    ['>= 1000', 1230, true],
    ['>= 1231', 1230, false],
    ['>= 5', 'unknown', false],
    ['>= 1.0', '1.0', true],
    ['<= 1230', 1230, true],
    ['<= 1000', 1230, false],
    ['>=1000', 1230, false],
    ['> 1000', 1230, false],
    ['< 2000', 1230, false],
    // texts
    ['s== alpha', 'alpha', true],
    ['s== Alpha', 'alpha', false],
    ['s== alpha beta', 'alpha', true],
    ['s== Open Source', 'Open Source', false],
    ['s== 1230', 1230, false],
    ['s== True', true, false],
    ['s==', 'alpha', false],
    ['s!= alpha', 'beta', true],
    ['s!= alpha', 'alpha', false],
    ['s< beta', 'alpha', true],
    ['s< beta', 'beta', false],
    ['s<= beta', 'beta', true],
    ['s<= beta', 'gamma', false],
    ['s> alpha', 'beta', true],
    ['s> alpha', 'alpha', false],
    ['s>= beta', 'beta', true],
    ['s>= beta', 'alpha', false],
    ['s< 2', 1230, false],
    // parts of texts
    ['<in> NFS', 'NFS_CIFS', true],
    ['<in> lph', 'alpha', true],
    ['<in> CEPHFS', 'NFS_CIFS', false],
    ['<in> Open Source', 'Open Source', true],
    ['<in> Nope Open', 'Open Source', false],
    ['<in> 123', 1230, false],
    ['<in> Tr', true, false],
    ['<in>', 'alpha', false],
    // booleans
    ['<is> True', true, true],
    ['<is> true', true, true],
    ['<is> yes', true, true],
    ['<is> True', false, false],
    ['<is> False', false, true],
    ['<is> False', true, false],
    ['<is> maybe', false, false],
    ['<is> False', 0, true],
    ['<is> True', 1, true],
    ['<is> True', 1230, false],
    ['<is> True', 'alpha', false],
    ['<is>', false, false],
    // alternatives
    ['<or> alpha <or> beta', 'alpha', true],
    ['<or> alpha <or> beta', 'beta', true],
    ['<or> alpha', 'alpha', true],
    ['<or> alpha <or> beta', 'gamma', false],
    ['<or> x Open', 'Open', false],
    ['<or> 1230', 1230, false],
    ['<or> True', true, false],
    ['<or>', 'alpha', false],
    // all of them
    ['<all-in> aes mmx', ['aes', 'mmx', 'sse'], true],
    ['<all-in> aes <all-in> mmx', ['aes', 'mmx'], true],
    ['<all-in> aes avx', ['aes', 'mmx'], false],
    ['<all-in> ae', ['aes'], false],
    ['<all-in> NFS CIFS', 'NFS_CIFS', true],
    ['<all-in> NFS CEPHFS', 'NFS_CIFS', false],
    ['<all-in>', ['aes'], false],
    ['<all-in> 1', 1, false],
    // lists: any item will do
    ['share_server', ['share_server'], true],
    ['SHARE_SERVER', ['share', 'share_server'], true],
    ['share', ['share_server'], false],
    ['<in> share', ['share_server'], true],
    ['<in> x <in> share_server', ['share_server'], false],
    ['s== share_server', ['share_server'], true],
    ['s!= share_server', ['share_server'], false],
    ['s!= x', ['share_server'], true],
    ['<or> x <or> share_server', ['share_server'], true],
    ['<or> share', ['share_server'], false],
    ['<is> True', [true, false], true],
    ['<is> False', [true, false], true],
    ['True', [true, false], true],
    ['<is> True', [false], false],
    ['>= 3', [1, 2, 3], true],
    ['<is> True', [], false],
    // what isn't reported meets nothing
    ['None', null, false],
    ['', null, false],
    ['<is> False', null, false],
    ['!= 3', undefined, false],
    ['s!= x', undefined, false],
    ['<in> None', null, false],
    ['constructor', {}, false],
    ['x', { x: 1 }, false],
  ];
  test.each(cases)('%j against %j: %s', (spec, capability, meets) => {
    expect(meetsSpec(capability, spec)).toBe(meets);
  });

  test('any spec against any value is answered', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (spec, value) => {
        expect(typeof meetsSpec(value, spec)).toBe('boolean');
      }),
    );
  });

  test('exactly one of s<, s== and s> holds between two words', () => {
    const word = fc.stringMatching(/^[a-z]{1,4}$/);
    fc.assert(
      fc.property(word, word, (a, b) => {
        expect(['s<', 's==', 's>'].filter((operator) => meetsSpec(a, `${operator} ${b}`))).toHaveLength(1);
      }),
    );
  });
});

describe('the specs of a type against what a pool reports', () => {
  const capabilities = {
    share_backend_name: 'alpha',
    snapshot_support: true,
    total_capacity_gb: 1230,
    compression: { levels: { best: 9 }, on: true },
  };
  const cases: [specs: Record<string, string | null>, failing: string | null][] = [
    [{}, null],
    [{ share_backend_name: 'alpha', snapshot_support: 'True' }, null],
    [{ share_backend_name: 'beta', snapshot_support: 'True' }, 'share_backend_name'],
    [{ share_backend_name: 'alpha', snapshot_support: 'False' }, 'snapshot_support'],
    [{ 'capabilities:total_capacity_gb': '>= 1000' }, null],
    [{ 'capabilities:total_capacity_gb': '>= 2000' }, 'capabilities:total_capacity_gb'],
    [{ 'vendor:total_capacity_gb': '>= 2000', 'provisioning:max_share_size': '5' }, null],
    [{ availability_zones: 'elsewhere' }, null],
    [{ 'capabilities:compression:levels:best': '>= 9' }, null],
    [{ 'capabilities:compression:levels:best': '>= 10' }, 'capabilities:compression:levels:best'],
    [{ 'capabilities:compression:on': '<is> True' }, null],
    [{ 'capabilities:compression:nothing:here': 'x' }, 'capabilities:compression:nothing:here'],
    [{ 'compression:on': 'False' }, null],
    [{ nothing: '<is> False' }, 'nothing'],
    [{ constructor: 'x' }, 'constructor'],
    [{ share_backend_name: null }, 'share_backend_name'],
  ];
  test.each(cases)('%j: fails on %j', (specs, failing) => {
    expect(firstMismatch(capabilities, specs)?.key ?? null).toBe(failing);
  });

  test('a mismatch says what was asked and what was reported', () => {
    expect(firstMismatch(capabilities, { total_capacity_gb: '>= 5000' })).toEqual({
      key: 'total_capacity_gb',
      asks: '>= 5000',
      reports: '1230',
    });
    expect(firstMismatch({}, { dedupe: '<is> True' })).toEqual({
      key: 'dedupe',
      asks: '<is> True',
      reports: 'nothing',
    });
  });
});

test('keys name capabilities, or nothing of the scheduler’s', () => {
  expect(capabilityPath('dedupe')).toEqual(['dedupe']);
  expect(capabilityPath('capabilities:dedupe')).toEqual(['dedupe']);
  expect(capabilityPath('capabilities:a:b')).toEqual(['a', 'b']);
  expect(capabilityPath('hpe3par:nfs_options')).toBeNull();
  expect(capabilityPath('availability_zones')).toBeNull();
  expect(capabilityPath('default_qos_type')).toBeNull();
});

describe('what a request adds to its type’s specs', () => {
  const fresh = { protocol: 'nfs', followsSource: false };

  test('the protocol, unless the type says which', () => {
    expect(schedulingSpecs({}, fresh)).toEqual({ storage_protocol: '<in> NFS' });
    expect(schedulingSpecs({}, { ...fresh, protocol: null })).toEqual({});
    expect(schedulingSpecs({ storage_protocol: '<in> CIFS' }, fresh)).toEqual({
      storage_protocol: '<in> CIFS',
    });
  });

  test('<is> before the booleans that have no operator', () => {
    const specs = { driver_handles_share_servers: 'False', snapshot_support: '<is> True', dedupe: 'True' };
    expect(schedulingSpecs(specs, fresh)).toMatchObject({
      driver_handles_share_servers: '<is> False',
      snapshot_support: '<is> True',
      dedupe: 'True',
    });
  });

  test('the back end’s name goes when the source decides', () => {
    const specs = { share_backend_name: 'alpha', 'capabilities:share_backend_name': 'alpha' };
    expect(schedulingSpecs(specs, { ...fresh, followsSource: true })).toEqual({
      storage_protocol: '<in> NFS',
    });
    expect(schedulingSpecs(specs, fresh)).toMatchObject(specs);
  });
});

test('zones are read from a list of names', () => {
  expect(zonesOf({})).toBeNull();
  expect(zonesOf({ availability_zones: '' })).toBeNull();
  expect(zonesOf({ availability_zones: 'a' })).toEqual(['a']);
  expect(zonesOf({ availability_zones: 'a, b' })).toEqual(['a', 'b']);
});

test.each([
  [{}, false],
  [{ thin_provisioning: 'True' }, false],
  [{ thin_provisioning: '<is> True' }, false],
  [{ thin_provisioning: 'False' }, true],
  [{ thin_provisioning: '<is> False' }, true],
  [{ 'capabilities:thin_provisioning': '<is> False' }, true],
  [{ thin_provisioning: 'maybe' }, false],
] as [Record<string, string>, boolean][])('%j asks for a thick share: %s', (specs, thick) => {
  expect(asksThick(specs)).toBe(thick);
});

test('booleans and numbers are read strictly', () => {
  expect(['True', ' on ', 'Y', '1', true].map(parseBoolean)).toEqual([true, true, true, true, true]);
  expect(['False', 'off', 'N', '0', false].map(parseBoolean)).toEqual([false, false, false, false, false]);
  expect(['', 'maybe', '2', null, undefined, 'truee'].map(parseBoolean)).toEqual([
    null,
    null,
    null,
    null,
    null,
    null,
  ]);
  expect([' 1.5 ', '-1', '.5', '1e3', true, 7].map(parseNumber)).toEqual([1.5, -1, 0.5, 1000, 1, 7]);
  expect(['', 'x', '1_0', '0x1', null, Number.NaN, 'unknown'].map(parseNumber)).toEqual(Array(7).fill(null));
});
