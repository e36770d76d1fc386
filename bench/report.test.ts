import { percentile } from './percentile.ts';
import { figure, reportText } from './report.ts';
import type { Rate, Result } from './result.ts';
import { readSettings } from './settings.ts';

const rate = (perCpuSecond: number): Rate => ({
  perCpuSecond,
  perSecond: perCpuSecond / 2,
  p50: 1.234,
  p99: 9,
});
const result: Result = {
  reference: 'recorded before',
  measures: [
    {
      name: 'show',
      shoal: rate(3000),
      reference: null,
      recorded: 73,
      ratio: 41.1,
      goal: 40,
      statements: 1,
      mostStatements: 3,
    },
    {
      name: 'create',
      shoal: rate(150),
      reference: rate(15),
      recorded: 14.8,
      ratio: 10,
      goal: 20,
      statements: 16,
      mostStatements: 15,
    },
  ],
  provisioning: { clients: 8, goal: 150, shoal: { shares: 200, p50: 80, p90: 99.5 }, reference: null },
  readiness: [{ process: 'api, alone', seconds: 0.876, goal: 3 }],
  memory: [{ process: 'api', megabytes: 151, goal: 150 }],
  remarks: ['The machine was busy.'],
};

const cells = (text: string, row: string) =>
  text
    .split('\n')
    .find((line) => line.trim().startsWith(row))
    ?.trim()
    .split(/ {2,}/);

test('the table tells figures, ratios and whether goals are met', () => {
  const text = reportText(result);
  expect(cells(text, 'show')).toEqual([
    'show',
    '3000',
    '(73)',
    '41.1 ×',
    '40 ×',
    'met',
    '1',
    '3',
    'met',
    '1500',
    '1.23',
    '9',
  ]);
  expect(cells(text, 'create')).toEqual([
    'create',
    '150',
    '15',
    '10 ×',
    '20 ×',
    'NOT MET',
    '16',
    '15',
    'NOT MET',
    '75',
    '1.23',
    '9',
  ]);
  expect(cells(text, 'Shoal ')).toBeDefined();
  expect(cells(text, 'api, alone')).toEqual(['api, alone', '0.88', '<= 3', 'met']);
  expect(text).toContain('The machine was busy.');
});

test('figures have the digits that matter', () => {
  expect([0.12345, 1.5, 14.84, 938.2, 18_761.4, 0, Number.NaN].map(figure)).toEqual([
    '0.123',
    '1.50',
    '14.8',
    '938',
    '18761',
    '0',
    '-',
  ]);
});

test('percentiles are values that were measured', () => {
  const values = [5, 1, 4, 2, 3];
  expect([0, 50, 90, 100].map((percent) => percentile(values, percent))).toEqual([1, 3, 5, 5]);
  expect(percentile([], 50)).toBeNaN();
});

test('settings are read or refused by name', () => {
  expect(readSettings(['--reference', 'none', '--shoal-pids', '1,2'], {})).toMatchObject({
    reference: null,
    shoal: null,
    shoalPids: [1, 2],
    seconds: 6,
    rounds: 3,
  });
  const elsewhere = { SHOAL_BENCH_REFERENCE: 'http://127.0.0.1:9000' };
  expect(readSettings([], elsewhere)?.reference?.port).toBe('9000');
  expect(readSettings(['--help'], {})).toBeUndefined();
  for (const wrong of ['--seconds=0', '--format=xml', '--shoal=here', '--reference=http://h/v2', '--what'])
    expect(() => readSettings([wrong], {})).toThrow(wrong.split('=')[0]!);
});
