/** Values: those that the contract asks for, and those that break things. */
import fc from 'fast-check';
import { resolved, type Schema } from './endpoints.ts';

/** Texts that some program somewhere has stumbled over. */
const nastyTexts = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\n',
  'a\r\nX-Injected: 1',
  '😀',
  '👩‍👩‍👧‍👦'.repeat(40),
  '😀'.repeat(25_000),
  'x'.repeat(255),
  'x'.repeat(256),
  'x'.repeat(1_024),
  'x'.repeat(100_000),
  'ß'.repeat(256),
  'مرحبا \u202eabc',
  '\ufeff',
  '\ud800',
  'e\u0301\u0301\u0301',
  "'; DROP TABLE shares; --",
  '%',
  '_%\\',
  '../../etc/passwd',
  '/',
  '?',
  '#',
  '$(id) `id`',
  '%(x)s',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'None',
  'true',
  '-1',
  '0',
  '1e309',
  '0x10',
  '१२',
  '9'.repeat(400),
  'NaN',
  '2001-13-45T99:99:99',
  '00000000-0000-0000-0000-000000000000',
  '0.0.0.0/0',
  '::/0',
  '10.0.0.1/33',
  '{"a": 1}',
  "{'a': 'b'}",
  '[',
] as const;

export const nastyText: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...nastyTexts) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 300 }) },
);

/** Stands for arrays in arrays, so deep that no simple program can write them, until `jsonText` puts them there. */
const DEEP = '<deep>';
const DEPTH = 20_000;

/** The JSON of a value made here. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replaceAll(`"${DEEP}"`, () => '['.repeat(DEPTH) + ']'.repeat(DEPTH));
}

/** Any JSON value, by preference an awkward one. */
export const nastyValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: nastyText },
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -0,
      -1,
      1.5,
      1e-7,
      1e308,
      2 ** 31,
      2 ** 53 + 2,
      [],
      {},
      [[]],
      [null],
      [{}],
      { '': '' },
      { a: null },
      { a: { b: { c: [] } } },
      { length: -1 },
      { toString: 1, valueOf: null },
    ),
  },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constant(DEEP) },
  { weight: 1, arbitrary: fc.dictionary(nastyText, nastyText, { maxKeys: 4 }) },
  {
    weight: 1,
    arbitrary: fc.constant(Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`k${i}`, 'v']))),
  },
);

/** What values can be about. */
export interface Known {
  /** of all things that there are */
  ids: readonly string[];
  /** what fits a field or a parameter, by its name */
  fitting: Readonly<Record<string, readonly string[]>>;
}

/** Texts that mean something here: ids that exist, states, names, numbers. */
export function likelyText({ ids, fitting }: Known, name = ''): fc.Arbitrary<string> {
  const words = ['available', 'error', 'active', 'True', 'name', 'asc', 'desc', 'created_at', '1', '2', '5'];
  const likely = [
    { weight: 3, arbitrary: fc.constantFrom(...ids) },
    { weight: 3, arbitrary: fc.constantFrom(...words) },
    { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 12 }) },
  ];
  if (!Object.hasOwn(fitting, name)) return fc.oneof(...likely);
  return fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...fitting[name]!) }, ...likely);
}

/** Values as the schema asks for them, nearly always: some of their parts are spoilt. `name` is the field's. */
export function around(
  schema: Schema | undefined,
  known: Known,
  name = '',
  depth = 0,
): fc.Arbitrary<unknown> {
  if (!schema || depth > 4) return nastyValue;
  const proper = properly(resolved(schema), known, name, depth);
  return fc.oneof({ weight: 12, arbitrary: proper }, { weight: 1, arbitrary: nastyValue });
}

function properly(schema: Schema, known: Known, name: string, depth: number): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => around(one, known, name, depth + 1)));
  const types = [schema.type ?? []].flat();
  if (types.length === 0) return schema.properties ? object(schema, known, depth) : nastyValue;
  // The first is the one that is meant; the others are let through.
  return fc.oneof(
    ...types.map((type, i) => ({
      weight: i === 0 ? 3 : 1,
      arbitrary: ofType(type, schema, known, name, depth),
    })),
  );
}

function ofType(
  type: string,
  schema: Schema,
  known: Known,
  name: string,
  depth: number,
): fc.Arbitrary<unknown> {
  if (type === 'object') return object(schema, known, depth);
  if (type === 'array') return fc.array(around(schema.items, known, name, depth + 1), { maxLength: 3 });
  if (type === 'string') return likelyText(known, name);
  if (type === 'boolean') return fc.boolean();
  if (type === 'integer') return fc.integer({ min: -1, max: 5 });
  if (type === 'number') return fc.double({ min: -1, max: 5, noNaN: true });
  return fc.constant(null);
}

function object(schema: Schema, known: Known, depth: number): fc.Arbitrary<unknown> {
  const declared = Object.entries(schema.properties ?? {});
  const model = Object.fromEntries(
    declared.map(([name, one]) => [name, around(one, known, name, depth + 1)]),
  );
  const required = (schema.required ?? []).filter((name) => name in model);
  const proper = fc.record(model, { requiredKeys: required });
  const more = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  const key = fc.oneof(
    { weight: 3, arbitrary: likelyText(known, 'key') },
    { weight: 1, arbitrary: nastyText },
  );
  const extra = fc.dictionary(key, around(more, known, '', depth + 1), { maxKeys: more ? 3 : 1 });
  const unasked = fc.oneof(
    { weight: more ? 0 : 4, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: extra },
  );
  return fc.tuple(proper, unasked).map(([asked, other]) => ({ ...other, ...asked }));
}
