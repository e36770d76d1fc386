/** The table of docs/differences.md, made from explained.json and from the recordings' departures.json. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadDepartures } from '../replayer/departures.ts';
import { type Explanation, loadExplanations } from './explained.ts';

const BEGIN = '<!-- made by contract-tests/compare/main.ts --document -->';
const END = '<!-- end of what is made -->';

const file = join(import.meta.dirname, '..', '..', 'docs', 'differences.md');

export function readPage(): string {
  return readFileSync(file, 'utf8');
}

export function writePage(): void {
  writeFileSync(file, withTables(readPage()));
}

/** The page with its made part anew. */
export function withTables(page: string): string {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`docs/differences.md lacks ${BEGIN} or ${END}`);
  return `${page.slice(0, begin)}${BEGIN}\n\n${tables()}\n\n${page.slice(end)}`;
}

function tables(): string {
  const differences = loadExplanations().map((each) => [where(each), what(each), each.reason]);
  // By what is answered, for the same reason: who asks, and in which scenario, tells nothing more.
  const departures = Object.values(loadDepartures()).flat();
  const rows = departures.map(({ method, path, action, status, reason }) => [
    code([method, path, action].filter(Boolean).join(' ')),
    String(status),
    reason,
  ]);
  const unique = [...new Map(rows.map((row) => [row.join(), row])).values()];
  return [
    '## Requests drawn from the contract\n',
    table(['operation', 'what differs', 'why'], differences),
    '\n## Recorded requests\n',
    table(['request', 'Shoal answers', 'why'], unique),
  ].join('\n');
}

function where({ operations, versions, as }: Explanation): string {
  const all = operations === '*' ? ['all'] : operations.map(code);
  const more = [versions, as && `as ${as.join(', ')}`].filter(Boolean);
  return [all.join(', '), ...more].join('; ');
}

function what({ differs, when, says }: Explanation): string {
  const conditions = [when && `the request has ${code(when)}`, says && `Shoal says ${code(says)}`].filter(
    Boolean,
  );
  return conditions.length > 0 ? `${code(differs)} where ${conditions.join(' and ')}` : code(differs);
}

/** A bar in a table's cell has to be escaped, even in code. */
const code = (text: string) => `\`${text.replaceAll('|', '\\|')}\``;

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
