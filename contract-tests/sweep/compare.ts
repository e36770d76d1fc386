/**
 * Whether a read answered at one microversion has the status and the fields that were recorded.
 */
import { type Fields, type FieldType, fieldsOf, isDataPath, typesAgree } from '../replayer/fields.ts';
import type { Json } from '../replayer/recordings.ts';
import type { Run } from './recorded.ts';

/** Field to all types that it was recorded with, in whatever version and for whomever. */
export type KnownTypes = ReadonlyMap<string, ReadonlySet<FieldType>>;

export function typesEverRecorded(runs: readonly Run[]): KnownTypes {
  const known = new Map<string, Set<FieldType>>();
  for (const [field, types] of runs.flatMap((run) => Object.entries(run.fields ?? {}))) {
    known.set(field, new Set([...(known.get(field) ?? []), ...types]));
  }
  return known;
}

/** Texts of what differs; the same text for the same difference at another version. */
export function compareRead(
  run: Run,
  known: KnownTypes,
  answer: { status: number; body: Json },
  options: { data?: boolean } = {},
): string[] {
  if (answer.status !== run.status) return [`status: expected ${run.status}, got ${answer.status}`];
  if (run.fields === null) return [];
  const seen = fieldsOf(answer.body, options);
  const recorded = recordedFields(run.fields, options);
  const differences: string[] = [];
  for (const field of recorded.keys()) {
    if (!seen.has(field)) differences.push(`${field}: missing`);
  }
  for (const [field, types] of seen) {
    const expected = recorded.get(field);
    if (!expected) differences.push(`${field}: should not be there`);
    else if (!typesAgree(known.get(field) ?? expected, types) || isNullInstead(expected, types)) {
      differences.push(`${field}: expected ${[...expected].join(' or ')}, got ${[...types].join(' or ')}`);
    }
  }
  return differences;
}

/** Null goes with any type, but a field that is always filled in should not be null throughout. */
function isNullInstead(expected: ReadonlySet<FieldType>, seen: ReadonlySet<FieldType>): boolean {
  return seen.size === 1 && seen.has('null') && !expected.has('null');
}

function recordedFields(fields: Record<string, FieldType[]>, options: { data?: boolean }): Fields {
  const counted = Object.entries(fields).filter(([field]) => options.data || !isBelowData(field));
  return new Map(counted.map(([field, types]) => [field, new Set(types)]));
}

function isBelowData(field: string): boolean {
  const steps = field.split('.');
  return steps.some((_, index) => index > 0 && isDataPath(steps.slice(0, index).join('.')));
}
