/** Answers that are other than the reference's on purpose: its own are faults. docs/differences.md tells of them. */
import { isOperation } from './coverage.ts';
import { type Exchange, recordingsFile } from './recordings.ts';

export interface Departure {
  as: string;
  method: string;
  /** without `/v2`; `{names}` stand for any one segment */
  path: string;
  action?: string;
  /** what is answered instead */
  status: number;
  reason: string;
}

/** By scenario. */
export type Departures = Readonly<Record<string, readonly Departure[]>>;

export function loadDepartures(): Departures {
  return JSON.parse(recordingsFile('departures.json')) as Departures;
}

export function departureOf(
  { request }: Exchange,
  departures: readonly Departure[] = [],
): Departure | undefined {
  // What can't be read is refused alike.
  if (request.raw_body !== undefined) return undefined;
  return departures.find((departure) => departure.as === request.as && isOperation(departure, request));
}
