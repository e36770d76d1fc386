import { fillJson, fillText, matchText, namesIn, showText, UnboundName } from './templating.ts';

const ids = () =>
  new Map([
    ['share_1', 'aaaa'],
    ['endpoint', 'http://h:1'],
  ]);

test('names are found anywhere in a value', () => {
  expect([...namesIn({ a: ['{{x}}', { '{{y}}': 'z{{x}}' }] })].sort()).toEqual(['x', 'y']);
  expect(namesIn(undefined).size).toBe(0);
});

test('filling puts ids in for names, and refuses unknown ones', () => {
  expect(fillText('{{endpoint}}/v2/shares/{{share_1}}', ids())).toBe('http://h:1/v2/shares/aaaa');
  expect(fillJson({ share: { id: '{{share_1}}', size: 1 } }, ids())).toEqual({
    share: { id: 'aaaa', size: 1 },
  });
  expect(() => fillText('{{share_2}}', ids())).toThrow(UnboundName);
});

test('showing leaves unknown names in place', () => {
  expect(showText('{{share_1}} {{share_2}}', ids())).toBe('aaaa {{share_2}}');
});

test('matching binds unknown names', () => {
  const bindings = ids();
  expect(
    matchText('{{endpoint}}/v2/snapshots/{{snapshot_1}}', 'http://h:1/v2/snapshots/bb-cc', bindings),
  ).toBe(true);
  expect(bindings.get('snapshot_1')).toBe('bb-cc');
});

test('a text that does not match binds nothing', () => {
  const bindings = ids();
  expect(matchText('{{share_1}}/{{snapshot_1}}', 'other/bb', bindings)).toBe(false);
  expect(matchText('{{snapshot_1}}', 'a/b', bindings)).toBe(false);
  expect(bindings.has('snapshot_1')).toBe(false);
});

test('a name stands for one id throughout a text', () => {
  expect(matchText('{{new}}={{new}}', 'a=a', new Map())).toBe(true);
  expect(matchText('{{new}}={{new}}', 'a=b', new Map())).toBe(false);
});

test('characters with a meaning in patterns mean themselves', () => {
  expect(matchText('a.b?c={{share_1}}', 'a.b?c=aaaa', ids())).toBe(true);
  expect(matchText('a.b?c={{share_1}}', 'aXb?c=aaaa', ids())).toBe(false);
});
