/** What a run of the bench found. */
import type { Provisioned } from './provisioning.ts';

/** One measure on one side. */
export interface Rate {
  /** requests per CPU second of the API's processes */
  perCpuSecond: number;
  /** requests per second, and milliseconds a request, at the connections of the run */
  perSecond: number;
  p50: number;
  p99: number;
}

export interface Compared {
  name: string;
  shoal: Rate;
  /** null: not measured, `recorded` stands in */
  reference: Rate | null;
  recorded: number | null;
  /** Shoal's figure by the reference's */
  /** null: nothing to compare with */
  ratio: number | null;
  goal: number;
  /** SQL statements of one request; null: not told */
  statements: number | null;
  mostStatements: number | null;
}

export interface Result {
  /** where the reference's figures are from */
  reference: string;
  measures: Compared[];
  provisioning: { clients: number; goal: number; shoal: Provisioned; reference: Provisioned | null };
  /** null: of a Shoal that ran already */
  readiness: { process: string; seconds: number; goal: number }[] | null;
  memory: { process: string; megabytes: number; goal: number }[] | null;
  /** what a reader has to know of the circumstances */
  remarks: string[];
}
