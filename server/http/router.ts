/** Finds operations by method and path from the generated table: a tree of segments, made once. */
import { type Operation, operations, unimplemented } from '#generated/operations.ts';

/** What a path and method lead to; which of them answers depends on version and action. */
export interface Match {
  candidates: readonly Candidate[];
  params: Record<string, string>;
}

/** `operation` null: the router knows the verb and nothing serves it. */
export interface Candidate {
  operation: Operation | null;
  since: number;
  until: number;
  /** names of the path's parameters, in order */
  names: readonly string[];
}

interface Node {
  literals: Map<string, Node>;
  parameter: Node | null;
  methods: Map<string, Candidate[]>;
}

const node = (): Node => ({ literals: new Map(), parameter: null, methods: new Map() });

const root = node();
for (const operation of Object.values(operations)) {
  for (const { path, since, until } of operation.paths)
    add(operation.method, path, { operation, since, until });
}
for (const { method, path } of unimplemented)
  add(method, path, { operation: null, since: 0, until: Number.MAX_SAFE_INTEGER });

function add(method: string, path: string, candidate: Omit<Candidate, 'names'>): void {
  const names: string[] = [];
  let at = root;
  for (const segment of path.split('/').slice(1)) {
    if (segment.startsWith('{')) {
      names.push(segment.slice(1, -1));
      at.parameter ??= node();
      at = at.parameter;
    } else {
      const next: Node = at.literals.get(segment) ?? node();
      at.literals.set(segment, next);
      at = next;
    }
  }
  const list = at.methods.get(method) ?? [];
  list.push({ ...candidate, names });
  at.methods.set(method, list);
}

/** Literal segments win over parameters; undefined when no path has this method. Segments come decoded. */
export function matchPath(method: string, segments: readonly string[]): Match | undefined {
  const values: string[] = [];
  const candidates = walk(root, method, segments, 0, values);
  if (!candidates) return undefined;
  const params: Record<string, string> = {};
  for (const [i, name] of candidates[0]!.names.entries()) params[name] = values[i]!;
  return { candidates, params };
}

function walk(
  at: Node,
  method: string,
  segments: readonly string[],
  i: number,
  values: string[],
): Candidate[] | undefined {
  if (i === segments.length) return at.methods.get(method);
  const segment = segments[i]!;
  const literal = at.literals.get(segment);
  const found = literal && walk(literal, method, segments, i + 1, values);
  if (found) return found;
  if (!at.parameter || segment === '') return undefined;
  values.push(segment);
  const other = walk(at.parameter, method, segments, i + 1, values);
  if (!other) values.pop();
  return other;
}

/** Parameter values under the names that this candidate's path gives them. */
export function paramsFor(match: Match, candidate: Candidate): Record<string, string> {
  const first = match.candidates[0]!;
  if (first.names === candidate.names) return match.params;
  return Object.fromEntries(candidate.names.map((name, i) => [name, match.params[first.names[i]!]!]));
}
