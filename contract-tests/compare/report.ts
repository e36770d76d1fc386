/** What a comparison found, for people and for programs. */
import type { Answer } from '../replayer/comparison.ts';
import { requestText } from './explained.ts';
import type { Comparison, Found } from './run.ts';

const SHOWN = 300;

export function summaryText({ requests, found, failed }: Comparison, seed: number): string {
  const left = found.filter(({ explanation }) => !explanation).length;
  const summary = [
    `seed ${seed}: ${requests} requests to each side;`,
    `${left} differences that docs/differences.md doesn't explain, ${found.length - left} that it does`,
  ].join(' ');
  return [...failed.map((each) => `not asked to the end: ${each}`), summary].join('\n');
}

/** One difference, with a request that shows it. */
export function foundText({ operation, what, times, request, answers }: Found): string {
  const { as, version = 'no version', experimental } = request;
  return [
    `${operation} ${what}${times > 1 ? ` (${times} times)` : ''}`,
    `    as ${as}, ${version}${experimental ? '' : ', not experimental'}: ${requestText(request)}`,
    `    reference ${answerText(answers.reference)}`,
    `    Shoal     ${answerText(answers.shoal)}`,
  ]
    .map((line) => (line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line))
    .join('\n');
}

const answerText = ({ status, body }: Answer) => `${status} ${JSON.stringify(body)}`;

export function reportJson({ requests, found, failed }: Comparison, seed: number): string {
  return JSON.stringify({ seed, requests, differences: found, failed }, null, 2);
}
