/**
 * Which exchanges a server can't be asked yet: those whose operation it does not serve, and those that hang on them,
 * by the ids that they use or by what the operation would have changed.
 */
import {
  type Exchange,
  type Json,
  type RecordedRequest,
  recordingsFile,
  type Scenario,
} from './recordings.ts';
import { namesIn } from './templating.ts';

export interface OperationName {
  method: string;
  /** Without `/v2`; `{names}` stand for any one segment. */
  path: string;
  /** The one key of the body, where that tells operations apart. */
  action?: string;
}

/** An exchange that is left out when one of others is, although it uses no id of theirs. */
export interface HiddenDependency {
  n: number[];
  on: number[];
  reason: string;
}

export interface Coverage {
  notCovered: readonly OperationName[];
  hidden: Readonly<Record<string, readonly HiddenDependency[]>>;
}

/** Everything is covered: a server that serves the whole interface. */
export const wholeCoverage: Coverage = { notCovered: [], hidden: {} };

export function loadCoverage(): Coverage {
  return {
    notCovered: JSON.parse(recordingsFile('not-covered.json')) as OperationName[],
    hidden: JSON.parse(recordingsFile('hidden-dependencies.json')) as Coverage['hidden'],
  };
}

/** Why exchanges of a scenario are left out, by their number. */
export function leftOut(scenario: Scenario, coverage: Coverage): Map<number, string> {
  const reasons = new Map<number, string>();
  const missing = new Map<string, number>();
  const hidden = coverage.hidden[scenario.name] ?? [];
  for (const exchange of scenario.exchanges) {
    const reason =
      operationReason(exchange, coverage) ??
      nameReason(exchange, missing) ??
      hiddenReason(exchange, hidden, reasons);
    if (reason === undefined) continue;
    reasons.set(exchange.n, reason);
    for (const name of Object.keys(exchange.response.captures ?? {})) missing.set(name, exchange.n);
  }
  return reasons;
}

function operationReason({ request }: Exchange, coverage: Coverage): string | undefined {
  const operation = coverage.notCovered.find((each) => isOperation(each, request));
  return operation && `${describeOperation(operation)} is not covered`;
}

function nameReason({ request }: Exchange, missing: ReadonlyMap<string, number>): string | undefined {
  const used = [...namesIn(request.path), ...namesIn(request.body)];
  const name = used.find((each) => missing.has(each));
  return name && `uses {{${name}}} of exchange ${missing.get(name)}, which is not covered`;
}

function hiddenReason(
  { n }: Exchange,
  hidden: readonly HiddenDependency[],
  reasons: ReadonlyMap<number, string>,
): string | undefined {
  const dependency = hidden.find((each) => each.n.includes(n) && each.on.some((other) => reasons.has(other)));
  return dependency && `hangs on what is not covered: ${dependency.reason}`;
}

export function describeOperation({ method, path, action }: OperationName): string {
  return action === undefined ? `${method} ${path}` : `${method} ${path} ${action}`;
}

/** Whether a request is for an operation, at whatever version and with or without a project in its path. */
export function isOperation(
  operation: OperationName,
  request: Pick<RecordedRequest, 'method' | 'path' | 'body'>,
) {
  if (operation.method !== request.method) return false;
  if (operation.action !== undefined && !hasKey(request.body, operation.action)) return false;
  const segments = segmentsOf(request.path.split('?')[0]!);
  if (segments[0] === 'v2') segments.shift();
  return (
    segmentsMatch(operation.path, segments) ||
    (isProject(segments[0]) && segmentsMatch(operation.path, segments.slice(1)))
  );
}

function hasKey(body: Json | undefined, key: string): boolean {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, key);
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((segment) => segment !== '');
}

function segmentsMatch(template: string, segments: readonly string[]): boolean {
  const wanted = segmentsOf(template);
  if (wanted.length !== segments.length) return false;
  return wanted.every((segment, index) => segment.startsWith('{') || segment === segments[index]);
}

function isProject(segment: string | undefined): boolean {
  return segment !== undefined && (segment.startsWith('{{project') || /^[0-9a-f-]{32,36}$/.test(segment));
}
