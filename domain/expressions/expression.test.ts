import fc from 'fast-check';
import { compileExpression, ExpressionError, type Scope } from './expression.ts';

const scope: Scope = {
  share: { size: 8, snapshot_id: null, share_proto: 'NFS', metadata: { tier: 'gold' } },
  stats: { free_capacity_gb: 'unknown', total_capacity_gb: Infinity, driver_version: '1.10' },
  capabilities: { provisioned_capacity_gb: 30, qos: true, dedupe: [true, false] },
  extra: { maxiops: '200', dedupe: 'True' },
};

const numbers: [string, number][] = [
  ['55', 55],
  ['1.5 + .5', 2],
  ['1e2', 100],
  ['2 + 3 * 4', 14],
  ['(2 + 3) * 4', 20],
  ['7 - 2 - 1', 4],
  ['12 / 4 / 3', 1],
  ['7 / 2', 3.5],
  ['2 ^ 3', 8],
  ['2 ^ 3 ^ 2', 512],
  ['2 ^ -1', 0.5],
  ['-2 ^ 2', -4],
  ['(-2) ^ 2', 4],
  ['- -3', 3],
  ['+3', 3],
  ['abs(-4)', 4],
  ['max(1, 2)', 2],
  ['min(3, 2, 1)', 1],
  ['max(abs(-9), share.size)', 9],
  ['(share.size < 5) ? 100 : 50', 50],
  ['share.size >= 5 ? 100 : 25', 100],
  ['share.size > 100 ? 1 : share.size > 5 ? 2 : 3', 2],
  ['extra.maxiops / 2', 100],
  ['capabilities.provisioned_capacity_gb + share.size', 38],
  ["'12'", 12],
];

test.each(numbers)('%s comes to %d', (source, value) => {
  expect(compileExpression(source).number(scope)).toBe(value);
});

const conditions: [string, boolean][] = [
  ['share.size < 10', true],
  ['"share.size < 10"', true],
  ['share.size >= 10', false],
  ['share.size == 8', true],
  ['share.size <> 8', false],
  ['share.size != 8', false],
  ['share.size <= 8', true],
  ['share.size > 8', false],
  ['1 < share.size < 9', true],
  ['1 < share.size < 5', false],
  ['1 == 1 and 2 == 2', true],
  ['1 == 1 & 2 == 3', false],
  ['1 == 2 or 2 == 2', true],
  ['1 == 2 | 2 == 3', false],
  ['1 == 2 and 1 == 1 or 1 == 1', true],
  ['1 == 1 or 1 == 1 and 1 == 2', true],
  ['not 1 == 2', true],
  ['!1 == 1', false],
  ['! ! (1 == 1)', true],
  ['not 1 == 2 and 1 == 1', true],
  ['share.snapshot_id and capabilities.free < 500', false],
  ['1 == 1 or capabilities.no_such', true],
  ["share.share_proto == 'NFS'", true],
  ['share.share_proto == "CIFS"', false],
  ["share.share_proto > 'CIFS'", true],
  ["share.metadata.tier == 'gold'", true],
  ['extra.maxiops > 99', true],
  ['extra.maxiops == 200', true],
  ['extra.dedupe == capabilities.qos', true],
  ['extra.dedupe', true],
  ['capabilities.qos == true', true],
  ['capabilities.qos == 1', true],
  ['capabilities.dedupe', true],
  ['stats.total_capacity_gb > 1000000', true],
  ["stats.free_capacity_gb == 'unknown'", true],
  ["'false'", false],
  ["('')", false],
  ['0', false],
  ['3', true],
];

test.each(conditions)('%s is %s', (source, value) => {
  expect(compileExpression(source).holds(scope)).toBe(value);
});

const syntaxErrors: [string, number, RegExp][] = [
  ['', 1, /ends too early/],
  ['1 +', 4, /ends too early/],
  ['(1 + 2', 7, /'\)' is missing/],
  ['1 2', 3, /'2' was not expected/],
  ['1 + * 2', 5, /a value is missing before '\*'/],
  ['share.size $ 3', 12, /'\$' means nothing/],
  ["share.share_proto == 'NFS", 22, /not closed/],
  ['1 ? 2', 6, /':' is missing/],
  ['round(1.5)', 1, /no function 'round', only abs, max, min/],
  ['constructor(1)', 1, /no function/],
  ['abs(1, 2)', 1, /abs takes 1 argument, not 2/],
  ['max(1)', 1, /max takes at least 2 arguments, not 1/],
  ['1 and', 6, /ends too early/],
  ['1 = 2', 3, /'=' means nothing/],
  ['share.size; 1', 11, /';' means nothing/],
  ['and 1', 1, /a value is missing before 'and'/],
];

test.each(syntaxErrors)('%j is refused at character %d', (source, position, reason) => {
  const compile = () => compileExpression(source);
  expect(compile).toThrow(reason);
  expect(compile).toThrow(expect.objectContaining({ position }));
});

const valueErrors: [string, number, RegExp][] = [
  ['shares.size < 5', 1, /'shares.size' is unknown: names begin with share, stats, capabilities, extra/],
  ['1 < share.colour', 5, /'share.colour' is not known/],
  ['share.constructor == 1', 1, /not known/],
  ['share.__proto__ == 1', 1, /not known/],
  ['stats.free_capacity_gb > 10', 24, /'unknown' is not a number/],
  ['share.size / (share.size - 8)', 12, /division by zero/],
  ['(-8) ^ 0.5', 6, /not a number/],
  ['share.share_proto + 1', 1, /'NFS' is not a number/],
  ['abs(share.share_proto)', 5, /'NFS' is not a number/],
  ['share.snapshot_id > 1', 19, /null is not a number/],
];

test.each(valueErrors)('%s fails at character %d', (source, position, reason) => {
  const evaluate = () => compileExpression(source).holds(scope);
  expect(evaluate).toThrow(reason);
  expect(evaluate).toThrow(expect.objectContaining({ position }));
});

test.each(["'NFS'", 'share.size > 1', 'share.snapshot_id', "''"])('%s is no goodness', (source) => {
  expect(() => compileExpression(source).number(scope)).toThrow(ExpressionError);
});

test('what is too long or too deep to be meant is refused rather than run out of stack', () => {
  expect(() => compileExpression('1+'.repeat(3000))).toThrow(/longer than/);
  expect(() => compileExpression('('.repeat(1900))).toThrow(/too deeply/);
  expect(() => compileExpression('-'.repeat(1900))).toThrow(/too deeply/);
  expect(() => compileExpression(`${'!'.repeat(1900)}1`)).toThrow(/too deeply/);
  expect(compileExpression(`${'1+'.repeat(1900)}1`).number(scope)).toBe(1901);
});

test('any text either compiles or fails with a place in it', () => {
  const piece = fc.constantFrom(
    'share.size',
    '1',
    '+',
    '-',
    '^',
    '(',
    ')',
    '?',
    ':',
    'not',
    'and',
    '<',
    ',',
    'max(',
    "'",
    ' ',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(' ')),
      ),
      (source) => {
        try {
          compileExpression(source).holds(scope);
        } catch (error) {
          expect(error).toBeInstanceOf(ExpressionError);
          expect((error as ExpressionError).position).toBeGreaterThanOrEqual(1);
        }
      },
    ),
  );
});

test('sums, products and their order are those of arithmetic', () => {
  const term = fc.integer({ min: 0, max: 99 });
  fc.assert(
    fc.property(term, term, term, (a, b, c) => {
      expect(compileExpression(`${a} + ${b} * ${c} - (${c} - ${a})`).number(scope)).toBe(a + b * c - (c - a));
    }),
  );
});
