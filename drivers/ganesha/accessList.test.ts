import fc from 'fast-check';
import { someRule } from '../conformance.ts';
import { accessList } from './accessList.ts';
import { exportBlock } from './configuration.ts';

const blocks = (...rules: [to: string, level: 'rw' | 'ro'][]): string[] =>
  accessList(rules.map(([to, level]) => someRule('ip', to, level))).blocks.map(
    ({ networks, level }) => `${level} ${networks.join(' ')}`,
  );

test('the more specific network comes first, and of two alike the read-only one', () => {
  expect(
    blocks(
      ['0.0.0.0/0', 'ro'],
      ['10.0.0.0/8', 'rw'],
      ['10.1.0.0/16', 'ro'],
      ['10.1.2.3', 'rw'],
      ['10.1.2.3/32', 'ro'],
      ['fd00::/64', 'rw'],
      ['fd00::1', 'ro'],
    ),
  ).toEqual([
    'ro fd00:0:0:0:0:0:0:1',
    'rw fd00:0:0:0:0:0:0:0/64',
    'ro 10.1.2.3/32',
    'rw 10.1.2.3/32',
    'ro 10.1.0.0/16',
    'rw 10.0.0.0/8',
    'ro 0.0.0.0/1 128.0.0.0/1',
  ]);
});

test.each([
  ['10.1.2.3/8', '10.0.0.0/8'],
  ['10.1.2.3', '10.1.2.3/32'],
  // bare, this would mean everyone
  ['0.0.0.0', '0.0.0.0/32'],
  ['255.255.255.255/1', '128.0.0.0/1'],
  ['fd12:3456::ffff/20', 'fd12:3000:0:0:0:0:0:0/20'],
  ['::1', '0:0:0:0:0:0:0:1'],
  ['::1/128', '0:0:0:0:0:0:0:1'],
  ['::/0', '0:0:0:0:0:0:0:0/1 8000:0:0:0:0:0:0:0/1'],
  ['2001:db8::6/127', '2001:db8:0:0:0:0:0:6 2001:db8:0:0:0:0:0:7'],
  ['::ffff:192.0.2.1', '192.0.2.1/32'],
  ['::ffff:192.0.2.1/120', '192.0.2.0/24'],
])('%s is written %s', (given, written) => {
  expect(blocks([given, 'rw'])).toEqual([`rw ${written}`]);
});

test.each([
  '10.0.0.0/33',
  '10.0.0',
  '10.0.0.256',
  '010.0.0.1',
  '0x7f.0.0.1',
  '1',
  'fd00::/129',
  'fd00::1::2',
  'fe80::1%eth0',
  '2001:db8::/112',
  'host.example',
  '@netgroup',
  '*',
  '',
  '10.0.0.1/',
  '10.0.0.1/24/8',
  '10.0.0.1 ',
  '10.0.0.1\n',
  '10.0.0.1; } EXPORT { Path = "/"',
])('%j is an error', (given) => {
  const rule = someRule('ip', given);
  const { blocks, results } = accessList([rule, someRule('ip', '10.0.0.1')]);
  expect(results.get(rule.id)).toEqual({ state: 'error', reason: expect.any(String) });
  expect(blocks).toHaveLength(1);
});

test('no text that a client sends reaches the configuration', () => {
  const piece = fc.constantFrom(
    '"',
    "'",
    '\n',
    ';',
    '}',
    '{',
    '../',
    '#',
    '%include ',
    '10.0.0.1',
    '/24',
    ',',
    ' ',
  );
  const rules = fc.array(
    fc.record({
      id: fc.uuid(),
      accessType: fc.constantFrom('ip', 'user', 'cert', 'cephx', 'ip"'),
      accessTo: fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.array(piece).map((parts) => parts.join('')),
        fc.ipV4(),
        fc.ipV6(),
      ),
      accessLevel: fc.constantFrom('rw' as const, 'ro' as const, 'RW; } ' as 'rw'),
    }),
  );
  fc.assert(
    fc.property(rules, (given) => {
      const { blocks } = accessList(given);
      const text = exportBlock('3f1c7a52-0000-4000-8000-000000000000', {
        number: 1,
        kind: 'shares',
        path: '/x',
        blocks,
      });
      const lines = text.split('\n').filter((line) => line.includes('CLIENT'));
      expect(lines).toHaveLength(blocks.length);
      for (const line of lines)
        expect(line).toMatch(
          /^ {2}CLIENT \{ Clients = [0-9a-f:./]+(, [0-9a-f:./]+)*; Access_Type = (RW|RO); \}$/,
        );
      expect(text.split('\n')).toHaveLength(14 + blocks.length);
    }),
  );
});
