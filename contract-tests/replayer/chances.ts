/**
 * Values that a recording holds by chance: the reference itself gives now one, now another.
 */
import { type Json, type JsonObject, recordingsFile } from './recordings.ts';

export interface Chance {
  /** The exchanges in whose answers the value stands. */
  n: number[];
  /** The objects concerned: those with one of these values under the key. */
  of: Record<string, Json[]>;
  fields: string[];
  /** All that may come; anything where it is absent. */
  values?: Json[];
  reason: string;
}

/** By scenario. */
export type Chances = Readonly<Record<string, readonly Chance[]>>;

export function loadChances(): Chances {
  return JSON.parse(recordingsFile('by-chance.json')) as Chances;
}

/** The keys of an answered object whose values are as good as the recorded ones. */
export function chanceKeys(answered: JsonObject, chances: readonly Chance[]): string[] {
  const concerned = chances.filter(({ of }) =>
    Object.entries(of).every(([key, accepted]) => accepted.includes(answered[key]!)),
  );
  return concerned.flatMap(({ fields, values }) =>
    fields.filter((field) => values === undefined || values.includes(answered[field]!)),
  );
}
