/** What was settled when a recording was made, by chance of its pace: a replay waits for it. */
import { recordingsFile, type Until } from './recordings.ts';

export interface Wait {
  /** The exchange that comes after it. */
  before: number;
  as: string;
  path: string;
  until: Until;
  reason: string;
}

/** By scenario. */
export type Waits = Readonly<Record<string, readonly Wait[]>>;

export function loadWaits(): Waits {
  return JSON.parse(recordingsFile('waits.json')) as Waits;
}
