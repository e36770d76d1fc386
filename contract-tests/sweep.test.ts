/**
 * Every covered read has the recorded fields and types at all microversions.
 * Against SHOAL_TEST_BASE or a stack started here.
 */
import { loadCoverage } from './replayer/coverage.ts';
import { Wire } from './replayer/wire.ts';
import { type Stack, testServer } from './stack.ts';
import { compareRead, typesEverRecorded } from './sweep/compare.ts';
import { isReadCovered, reads } from './sweep/reads.ts';
import { loadRuns, type Run } from './sweep/recorded.ts';
import { describeDifference, describeResult, versionRanges } from './sweep/report.ts';
import { CONNECTIONS, sweep } from './sweep/sweep.ts';

const { notCovered } = loadCoverage();

describe('swept', () => {
  let stack: Stack;
  let wire: Wire;

  beforeAll(async () => {
    stack = await testServer();
    wire = new Wire(stack.base, CONNECTIONS);
  }, 90_000);

  afterAll(async () => {
    wire?.close();
    await stack?.stop();
  }, 30_000);

  test('all covered reads have the recorded fields at every version', async () => {
    const result = await sweep(wire, notCovered);
    console.log(`sweep: ${describeResult({ ...result, differences: [] })}`);
    expect(result.differences.map(describeDifference).join('\n')).toBe('');
  }, 600_000);
});

describe('a read', () => {
  const run: Run = {
    read: '/shares',
    as: 'demo',
    from: '2.0',
    to: '2.99',
    status: 200,
    fields: {
      '.': ['object'],
      shares: ['array'],
      'shares[]': ['object'],
      'shares[].id': ['string'],
      'shares[].size': ['integer'],
      'shares[].task_state': ['null'],
      'shares[].metadata': ['object'],
      'shares[].metadata.a': ['string'],
    },
  };
  const item = { id: 'x', size: 1, task_state: null, metadata: { a: 'b' } };
  const compare = (share: object, options = {}) =>
    compareRead(run, typesEverRecorded([run]), { status: 200, body: { shares: [share] as never } }, options);

  test('is alike with the same fields, whatever data it holds', () => {
    expect(compare(item)).toEqual([]);
    expect(compare({ ...item, metadata: { c: 'd' } })).toEqual([]);
    expect(compare({ ...item, metadata: { c: 'd' } }, { data: true })).toHaveLength(2);
  });

  test('differs by a field too many, one too few or one of another type', () => {
    expect(compare({ ...item, more: 1 })).toEqual(['shares[].more: should not be there']);
    expect(compare({ id: 'x', size: 1, task_state: null, metadata: {} })).toEqual([]);
    expect(compare({ size: 1, task_state: null, metadata: {} })).toEqual(['shares[].id: missing']);
    expect(compare({ ...item, size: '1' })).toEqual(['shares[].size: expected integer, got string']);
    expect(compare({ ...item, size: null })).toEqual(['shares[].size: expected integer, got null']);
  });

  test('may have a type where only null was recorded', () => {
    expect(compare({ ...item, task_state: 'migration_starting' })).toEqual([]);
  });

  test('differs by its status', () => {
    expect(compareRead(run, new Map(), { status: 404, body: null })).toEqual([
      'status: expected 200, got 404',
    ]);
  });
});

test('every covered read has a path, and every path a read', () => {
  const recorded = new Set(loadRuns().map(({ read }) => read));
  const covered = [...recorded].filter((read) => isReadCovered(read, notCovered));
  expect(covered.filter((read) => !reads[read])).toEqual([]);
  expect(Object.keys(reads).filter((read) => !recorded.has(read))).toEqual([]);
});

test('versions are shown as ranges', () => {
  expect(versionRanges([0, 1, 2, 7, 9, 10])).toBe('2.0–2.2, 2.7, 2.9–2.10');
});
