/** Why the scheduler placed a share where it did, or nowhere: kept for the administrators who ask. */

/** What became of one pool. */
export interface PoolJudgement {
  /** host@backend#pool */
  name: string;
  accepted: boolean;
  /** of a refused pool: the filter, its words, and the values that it compared (capacities in GiB) */
  filter: string | null;
  reason: string | null;
  numbers: Record<string, unknown>;
  /** of an accepted pool: the sum, and what each weigher said on its own scale (null: it can't tell) */
  weight: number | null;
  weights: Record<string, number | null>;
}

/** The last decision about a share. Its pools: the one chosen, those that would also do, those refused. */
export interface Explanation {
  /** when it was made */
  at: string;
  /** the pool that was chosen; null when none was */
  host: string | null;
  /** the detail of the user message when none was chosen, by its name in messages.yaml */
  detail: string | null;
  pools: PoolJudgement[];
}
