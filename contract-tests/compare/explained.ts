/** Differences that are meant: explained.json has each with its reason, docs/differences.md is made from it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedRequest } from '../replayer/recordings.ts';

export interface Explanation {
  /** `*` for all */
  operations: readonly string[] | '*';
  /** a pattern: the whole of what differs */
  differs: string;
  /** a pattern: somewhere in the request's method, path and body */
  when?: string;
  /** a pattern: somewhere in the JSON that Shoal answered */
  says?: string;
  /** `2.0-2.35` */
  versions?: string;
  as?: readonly string[];
  reason: string;
}

export interface Difference {
  operation: string;
  request: RecordedRequest;
  /** as `differencesOf` words it */
  what: string;
  /** what Shoal answered, as JSON */
  answer: string;
}

const file = join(import.meta.dirname, 'explained.json');

export function loadExplanations(): Explanation[] {
  return JSON.parse(readFileSync(file, 'utf8')) as Explanation[];
}

/** The first that fits. */
export function explanationOf(
  { operation, request, what, answer }: Difference,
  explanations: readonly Explanation[],
): Explanation | undefined {
  const text = requestText(request);
  return explanations.find(
    ({ operations, differs, when, says, versions, as }) =>
      (operations === '*' || operations.includes(operation)) &&
      new RegExp(`^(?:${differs})$`).test(what) &&
      (!when || new RegExp(when).test(text)) &&
      (!says || new RegExp(says).test(answer)) &&
      (!versions || isWithin(request.version, versions)) &&
      (!as || as.includes(request.as ?? '')),
  );
}

/** One line: method, path and body, with names for ids. */
export function requestText({ method, path, body, raw_body }: RecordedRequest): string {
  const text = body === undefined ? raw_body : JSON.stringify(body);
  return text === undefined ? `${method} ${path}` : `${method} ${path} ${text}`;
}

function isWithin(version = '2.0', window: string): boolean {
  const [first, last = first] = window.split('-').map(minorOf) as [number, number?];
  return minorOf(version) >= first && minorOf(version) <= last;
}

const minorOf = (version: string) => Number(version.split('.')[1]);
