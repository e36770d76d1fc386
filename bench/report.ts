/** The findings as a table for people. */
import type { Compared, Result } from './result.ts';

export function reportText(result: Result): string {
  const { measures, provisioning, readiness, memory, remarks } = result;
  const parts = [
    `Requests per CPU second of the API's processes; the reference's: ${result.reference}`,
    table(
      ['', 'Shoal', 'reference', 'ratio', 'goal', '', 'SQL', 'at most', '', 'req/s', 'p50 ms', 'p99 ms'],
      measures.map(measureRow),
    ),
    '',
    `POST to available, ${provisioning.clients} clients, fake back end (ms)`,
    table(
      ['', 'p50', 'p90', 'goal p50', '', 'shares'],
      [
        [
          'Shoal',
          figure(provisioning.shoal.p50),
          figure(provisioning.shoal.p90),
          `< ${provisioning.goal}`,
          verdict(provisioning.shoal.p50 < provisioning.goal),
          figure(provisioning.shoal.shares),
        ],
        ...(provisioning.reference
          ? [
              [
                'reference',
                figure(provisioning.reference.p50),
                figure(provisioning.reference.p90),
                '',
                '',
                figure(provisioning.reference.shares),
              ],
            ]
          : []),
      ],
    ),
  ];
  if (readiness)
    parts.push(
      '',
      'Seconds from the start of a process until it serves',
      table(
        ['', 's', 'goal', ''],
        readiness.map((one) => [
          one.process,
          one.seconds.toFixed(2),
          `<= ${one.goal}`,
          verdict(one.seconds <= one.goal),
        ]),
      ),
    );
  if (memory)
    parts.push(
      '',
      'MB of memory after the load',
      table(
        ['', 'MB', 'goal', ''],
        memory.map((one) => [
          one.process,
          figure(one.megabytes),
          `< ${one.goal}`,
          verdict(one.megabytes < one.goal),
        ]),
      ),
    );
  return [...parts, ...(remarks.length > 0 ? ['', ...remarks] : [])].join('\n');
}

function measureRow(one: Compared): string[] {
  const counted = one.statements !== null && one.mostStatements !== null;
  return [
    one.name,
    figure(one.shoal.perCpuSecond),
    one.reference ? figure(one.reference.perCpuSecond) : one.recorded === null ? '-' : `(${one.recorded})`,
    one.ratio === null ? '-' : `${figure(one.ratio)} ×`,
    `${one.goal} ×`,
    one.ratio === null ? '' : verdict(one.ratio >= one.goal),
    one.statements === null ? '-' : String(one.statements),
    one.mostStatements === null ? '-' : String(one.mostStatements),
    counted ? verdict(one.statements! <= one.mostStatements!) : '',
    figure(one.shoal.perSecond),
    figure(one.shoal.p50),
    figure(one.shoal.p99),
  ];
}

const verdict = (met: boolean) => (met ? 'met' : 'NOT MET');

/** Three digits that matter. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1)));
  return value.toFixed(Number.isInteger(value) ? 0 : digits);
}

/** Columns aligned: the first to the left, all others to the right. */
function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [heading, ...rows];
  const widths = heading.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!)))
      .join('  ')
      .trimEnd();
  return all.map((row) => `  ${line(row)}`).join('\n');
}
