/** What a filter is: one question asked of each pool, answered by yes or by a refusal with its numbers. */
import type { PoolState } from '../hostState.ts';
import type { ScheduleRequest } from '../request.ts';

/** Names of user message details (see the generated table of messages). */
export type RefusalDetail =
  | 'noValidHost'
  | 'filterAvailability'
  | 'filterCapabilities'
  | 'filterCapacity'
  | 'filterDriver'
  | 'filterIgnore'
  | 'filterReplication'
  | 'filterCreateFromSnapshot'
  | 'shareBackendNotReadyYet'
  | 'noDefaultShareType';

/** The values that were compared, by what they are; capacities in GiB. */
export type Numbers = Readonly<Record<string, number | string | null>>;

export interface Refusal {
  reason: string;
  numbers: Numbers;
  /** an operator's mistake is behind it: worth a line in the log */
  isMistake?: true;
}

export interface Filter {
  /** as in the configuration */
  name: string;
  /** what the user is told when this filter leaves no pool */
  detail: RefusalDetail;
  /** null: the pool passes */
  check(pool: PoolState, request: ScheduleRequest): Refusal | null;
}
