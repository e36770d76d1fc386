import fc from 'fast-check';
import {
  type Access,
  assertChangeable,
  assertNoneFailed,
  backendAccessTo,
  type RulesOfInstance,
  readAccess,
  readLevel,
  readRuleMetadata,
  sameAccess,
} from './accessRules.ts';

const ip = (accessTo: string): Access => ({ accessType: 'ip', accessTo });
const refused = (type: unknown, to: unknown, allowed?: { ipv6: boolean; cephx: boolean }) =>
  expect(() => readAccess(type, to, allowed)).toThrow(
    expect.objectContaining({ code: 'invalidAccess', status: 400 }),
  );

describe('whom a rule is for', () => {
  test.each([
    ['ip', '10.0.0.1'],
    ['ip', '0.0.0.0/0'],
    ['ip', '10.0.1.0/24'],
    ['ip', '10.0.0.1/32'],
    ['ip', '10.0.0.1/032'],
    ['ip', '10.0.0.0/255.255.255.0'],
    ['ip', '10.0.0.0/0.0.0.255'],
    ['ip', '255.255.255.255'],
    ['ip', '::1'],
    ['ip', 'fd00::/64'],
    ['ip', 'FD00:0::1/128'],
    ['ip', '::ffff:10.0.0.1'],
    ['ip', '::/0'],
    ['user', 'alice'],
    ['user', 'a b c'],
    ['user', 'joe$'],
    ['user', 'äbcd'],
    ['user', 'a'.repeat(255)],
    ['cert', 'cn.example'],
    ['cert', 'x'.repeat(64)],
    ['cephx', 'joe'],
    ['cephx', 'a b'],
  ])('%s %s is taken as it is', (type, to) => {
    expect(readAccess(type, to)).toEqual({ accessType: type, accessTo: to });
  });

  test.each([
    ['ip', ''],
    ['ip', 'x'],
    ['ip', '1'],
    ['ip', '10.0.0'],
    ['ip', '10.0.0.300'],
    ['ip', '010.0.0.1'],
    ['ip', ' 10.0.0.9'],
    ['ip', '10.0.0.9 '],
    ['ip', '10.0.0.0.0'],
    ['ip', '10.0.0.1.'],
    ['ip', '0x0a.0.0.1'],
    ['ip', '10.0.0.0/'],
    ['ip', '10.0.0.0/33'],
    ['ip', '10.0.0.0/-1'],
    ['ip', '10.0.0.1/+8'],
    ['ip', '10.0.0.0/24/24'],
    ['ip', '10.0.0.0/255.0.255.0'],
    ['ip', '10.0.1.5/24'],
    ['ip', 'fd00::5/64'],
    ['ip', 'fd00::/129'],
    ['ip', 'fd00::/ffff::'],
    ['ip', 'fe80::1%eth0'],
    ['ip', ':::'],
    ['ip', 5],
    ['ip', null],
    ['user', 'abc'],
    ['user', 'ab!'],
    ['user', 'DOM\\joe'],
    ['user', 'joe;x'],
    ['user', '[joe]'],
    ['user', 'joe\nx'],
    ['user', 'a'.repeat(256)],
    ['cert', ''],
    ['cert', '  '],
    ['cert', 'x'.repeat(65)],
    ['cert', null],
    ['cephx', ''],
    ['cephx', 'é'],
    ['cephx', 'client.x'],
    ['cephx', 'joe\n'],
    ['cephx', 'a'.repeat(256)],
    ['magic', 'x'],
    ['IP', '10.0.0.1'],
    [null, 'x'],
    [{ a: 1 }, 'x'],
  ])('%p %p is refused', (type, to) => refused(type, to));

  test('older versions know neither IPv6 nor cephx', () => {
    refused('ip', '::1', { ipv6: false, cephx: true });
    refused('cephx', 'joe', { ipv6: true, cephx: false });
    expect(readAccess('ip', '10.0.0.1', { ipv6: false, cephx: false })).toEqual(ip('10.0.0.1'));
  });

  test('no text makes it fail otherwise than by refusing', () => {
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.ipV4(),
      fc.ipV6(),
      fc
        .tuple(fc.oneof(fc.ipV4(), fc.ipV6()), fc.integer({ min: -5, max: 200 }))
        .map(([a, n]) => `${a}/${n}`),
    );
    fc.assert(
      fc.property(fc.constantFrom('ip', 'user', 'cert', 'cephx'), texts, (type, to) => {
        try {
          expect(readAccess(type, to).accessTo).toBe(to);
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalidAccess' });
        }
      }),
    );
  });
});

describe('the same client', () => {
  test.each([
    ['10.0.0.1', '10.0.0.1/32'],
    ['10.0.0.1', '10.0.0.1/255.255.255.255'],
    ['10.0.0.0/24', '10.0.0.0/255.255.255.0'],
    ['10.0.0.0/24', '10.0.0.0/0.0.0.255'],
    ['fd00::1', 'FD00:0:0::1/128'],
    ['fd00::/64', 'fd00:0000::/64'],
  ])('is %s and %s', (one, other) => {
    expect(sameAccess(ip(one), ip(other))).toBe(true);
    expect(sameAccess(ip(other), ip(one))).toBe(true);
  });

  test.each([
    ['10.0.0.1', '10.0.0.2'],
    ['10.0.0.0/24', '10.0.0.0/25'],
    ['10.0.0.1', '::ffff:10.0.0.1'],
  ])('is not %s and %s', (one, other) => {
    expect(sameAccess(ip(one), ip(other))).toBe(false);
  });

  test('has the same type, and its name in any case', () => {
    expect(
      sameAccess({ accessType: 'user', accessTo: 'Alice' }, { accessType: 'user', accessTo: 'aLICE' }),
    ).toBe(true);
    expect(
      sameAccess({ accessType: 'user', accessTo: 'alice' }, { accessType: 'cert', accessTo: 'alice' }),
    ).toBe(false);
  });

  test('an IPv4 network is the same however its mask is written', () => {
    fc.assert(
      fc.property(fc.ipV4(), fc.integer({ min: 0, max: 32 }), (address, prefix) => {
        const bits = prefix === 0 ? 0 : (0xffffffff << (32 - prefix)) >>> 0;
        const dotted = (n: number) => [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join('.');
        const network = dotted(address.split('.').reduce((n, part) => n * 256 + Number(part), 0) & bits);
        const written = [`${network}/${prefix}`, `${network}/${dotted(bits)}`];
        for (const text of written) expect(readAccess('ip', text)).toEqual(ip(text));
        expect(sameAccess(ip(written[0]!), ip(written[1]!))).toBe(true);
        expect(backendAccessTo('ip', written[1]!)).toBe(written[0]);
      }),
    );
  });
});

test('back ends get prefix lengths; all else as it came', () => {
  expect(backendAccessTo('ip', '10.0.0.0/255.255.0.0')).toBe('10.0.0.0/16');
  expect(backendAccessTo('ip', '10.0.0.1/032')).toBe('10.0.0.1/32');
  expect(backendAccessTo('ip', '10.0.0.1')).toBe('10.0.0.1');
  expect(backendAccessTo('ip', 'fd00::1')).toBe('fd00::1');
  expect(backendAccessTo('user', 'a/b')).toBe('a/b');
});

test('levels', () => {
  expect([undefined, null, 'rw', 'ro'].map(readLevel)).toEqual(['rw', 'rw', 'rw', 'ro']);
  for (const level of ['rwx', 'RW', '', 5, {}]) expect(() => readLevel(level)).toThrow('access_level');
});

test('metadata of rules has no empty values', () => {
  expect(readRuleMetadata({ k: 'v' })).toEqual({ k: 'v' });
  expect(readRuleMetadata(undefined)).toEqual({});
  for (const bad of [{ k: '' }, { k: ' ' }, { '': 'v' }, { k: null }, { k: 'x'.repeat(1024) }]) {
    expect(() => readRuleMetadata(bad)).toThrow(expect.objectContaining({ code: 'invalidMetadata' }));
  }
});

describe('when rules may change', () => {
  const instance = (over: Partial<RulesOfInstance> = {}): RulesOfInstance => ({
    status: 'available',
    host: 'h@b#p',
    hasFailed: false,
    ...over,
  });

  test.each([
    'available',
    'error',
    'inactive',
    'extending_error',
    'shrinking_possible_data_loss_error',
    'replication_change',
    'awaiting_transfer',
  ])('in %s they may', (status) => expect(() => assertChangeable([instance({ status })])).not.toThrow());

  test.each([
    'creating',
    'deleting',
    'extending',
    'shrinking',
    'migrating',
    'migrating_to',
    'reverting',
    'ensuring',
    'server_migrating',
  ])('in %s they may not, and one such instance is enough', (status) => {
    expect(() => assertChangeable([instance(), instance({ status })])).toThrow(`is ${status}`);
  });

  test('not without a host, nor without an instance', () => {
    expect(() => assertChangeable([instance({ host: null })])).toThrow('no host');
    expect(() => assertChangeable([])).toThrow('no instance');
  });

  test('after a failure none are added, where rules share their state', () => {
    expect(() => assertNoneFailed([instance(), instance()])).not.toThrow();
    expect(() => assertNoneFailed([instance(), instance({ hasFailed: true })])).toThrow('deny those');
  });
});
