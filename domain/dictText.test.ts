import fc from 'fast-check';
import { readDict } from './dictText.ts';

describe('objects in queries', () => {
  test('JSON and Python read alike', () => {
    const read = { a: 'b', 'c:d': "it's", e: null, f: true };
    expect(readDict(`{"a": "b", "c:d": "it's", "e": null, "f": true}`)).toEqual(read);
    expect(readDict(`{'a': 'b', u'c:d': "it's", 'e': None, 'f': True}`)).toEqual(read);
    expect(readDict(`{'c:d': 'it\\'s', 'a': u'b',}`)).toEqual({ 'c:d': "it's", a: 'b' });
    expect(readDict(' {} ')).toEqual({});
    expect(readDict('{"a": -1.5}')).toEqual({ a: -1.5 });
  });

  test.each([
    '',
    'junk',
    '{',
    '}',
    '[]',
    '"x"',
    '5',
    '{"a"}',
    '{"a":}',
    '{"a" "b"}',
    '{"a": "b" "c": "d"}',
    '{"a": {"b": "c"}}',
    '{"a": ["b"]}',
    '{5: "a"}',
    '{"a": "b"} {}',
    '{"a": "b}',
    '{,}',
    '{"a": Nonesuch}',
    '{"a": 1a}',
  ])('%s is no object', (text) => {
    expect(readDict(text)).toBeUndefined();
  });

  test('whatever JSON.stringify writes comes back', () => {
    const scalar = fc.oneof(fc.string({ unit: 'binary' }), fc.boolean(), fc.constant(null), fc.integer());
    const plain = fc.dictionary(fc.string(), scalar, { noNullPrototype: true });
    fc.assert(
      fc.property(plain, (object) => {
        expect(readDict(JSON.stringify(object))).toEqual(object);
      }),
    );
  });

  test('no text makes it throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}:,\'"\\u x1N') }), (text) => void readDict(text)),
    );
  });
});
