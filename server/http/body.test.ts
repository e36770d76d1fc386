import { Fault } from '#domain/faults.ts';
import { parseBody } from './body.ts';

const parsed = (text: string, type = 'application/json') => parseBody(Buffer.from(text), type);

test('JSON of any kind is taken, whole characters in any spelling', () => {
  expect(parsed('{"name": "a\\ud83d\\ude00\\u00e9"}', 'application/json; charset=utf-8')).toEqual({
    name: 'a😀é',
  });
  expect(parsed('[1, "\\\\ud83d"]')).toEqual([1, '\\ud83d']);
});

test.each([
  ['half a character', '{"a": {"b": "\\ud83d"}}'],
  ['a key that has one', '{"\\uDE00": 1}'],
  ['what is not JSON', '{'],
  ['nothing', ''],
])('%s is refused', (_what, text) => {
  expect(() => parsed(text)).toThrow(Fault);
});

test('another type is refused', () => {
  expect(() => parsed('{}', 'text/plain')).toThrow(Fault);
});
