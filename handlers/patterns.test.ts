import { startsWithMatch } from './patterns.ts';

const texts = ['alpha', 'beta', 'gamma', 'alpha.2'];
const matching = (source: string) => {
  const found = startsWithMatch(source, texts, 'backend');
  return texts.filter((_, i) => found[i]);
};

test('a plain text matches what begins with it', () => {
  expect(matching('al')).toEqual(['alpha', 'alpha.2']);
  expect(matching('pha')).toEqual([]);
  expect(matching('')).toEqual(texts);
});

test('an expression matches from the start', () => {
  expect(matching('.*a$')).toEqual(['alpha', 'beta', 'gamma']);
  expect(matching('alpha\\.')).toEqual(['alpha.2']);
  expect(matching('x|b')).toEqual(['beta']);
  expect(matching('mma|alp')).toEqual(['alpha', 'alpha.2']);
});

test('what is no expression is refused, naming the filter', () => {
  for (const source of ['(', '[', '*', 'a)(b'])
    expect(() => matching(source)).toThrow(/backend.*regular expression/);
});

test('an expression that runs away is given up', () => {
  const started = performance.now();
  expect(() => startsWithMatch('(.+)+x', ['a'.repeat(60)], 'backend')).toThrow(/too long/);
  expect(performance.now() - started).toBeLessThan(2000);
});
