/**
 * What the reference answered to each read at each microversion: runs of versions with the same status and fields.
 */
import type { FieldType } from '../replayer/fields.ts';
import { recordingsLines } from '../replayer/recordings.ts';

export const LAST_MINOR = 99;

export type Reader = 'admin' | 'demo';

export interface Run {
  /** Path without `/v2`, its `{names}` as recorded; ends in `(note)` where it was asked of an object of a certain kind. */
  read: string;
  as: Reader;
  /** Microversions, `2.7`; both inclusive. */
  from: string;
  to: string;
  status: number;
  /** Null where the answer was a refusal. */
  fields: Record<string, FieldType[]> | null;
}

export function loadRuns(): Run[] {
  return recordingsLines<Run>('response-fields.jsonl');
}

/** `2.7` to 7. */
export function minorOf(version: string): number {
  return Number(version.split('.')[1]);
}

export function versionOf(minor: number): string {
  return `2.${minor}`;
}
