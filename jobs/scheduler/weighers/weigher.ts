/** What a weigher is: one value for each pool that passed; the scale is its own, see weigh.ts. */
import type { PoolState } from '../hostState.ts';
import type { ScheduleRequest } from '../request.ts';

export interface Weigher {
  /** as in the configuration */
  name: string;
  /** infinite values stand for "can't tell"; `warn` is told what an operator should repair */
  weigh(pool: PoolState, request: ScheduleRequest, multiplier: number, warn: (text: string) => void): number;
}
