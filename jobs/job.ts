/**
 * What a job is: it loads its rows anew, asks the back end, and ends in one transaction that also removes its
 * outbox row. It may be run twice, or be killed and run again, at any point.
 */
import type { Db, Tx } from '#db/connection.ts';
import { lockJob, type OutboxRow, type Sendable } from '#db/outbox.ts';
import type { NetworkPlugin } from '#domain/network.ts';
import type { BackendReport } from '#domain/services.ts';
import type { Driver } from '#drivers/driver.ts';
import type { Placer } from './placement.ts';
import type { Outcome } from './scheduler/schedule.ts';
import type { BackendSettings, JobSettings } from './settings.ts';

export type Log = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  detail?: Record<string, unknown>,
) => void;

/**
 * Thrown by a job that can't be decided now and should be run again soon, as it is. Runs count as attempts
 * unless they wait for something that is known to end.
 */
export class TryAgain extends Error {
  readonly counts: boolean;
  constructor(message: string, { counts = true } = {}) {
    super(message);
    this.counts = counts;
  }
}

/** The network plug-ins of a back end that handles share servers. */
export interface Networks {
  tenant: NetworkPlugin;
  /** of the administrators' network, where there is one */
  admin: NetworkPlugin | null;
}

/** Thrown in a run whose job another run has ended or handed on meanwhile: there is nothing left for it to do. */
export class Superseded extends Error {}

/**
 * Writes in the middle of a job. Only while it is this run's: a late one would write over what came of the job.
 * Throws Superseded, which ends the run.
 */
export function writeMidway<T>({ tools, row }: Run, write: (tx: Tx) => Promise<T>): Promise<T> {
  return tools.db.transaction(async (tx) => {
    if (!(await lockJob(tx, row))) throw new Superseded();
    return write(tx);
  });
}

/** What all jobs of a process share. */
export interface Tools {
  db: Db;
  settings: JobSettings;
  log: Log;
  /** The driver of a back end, `host@backend`; undefined when this process doesn't serve it. */
  driver(backend: string): Driver | undefined;
  /** What a back end's section, `host@backend`, says; undefined when this process doesn't serve it. */
  options(backend: string): BackendSettings | undefined;
  /** Where the share servers of a back end, `host@backend`, get their ports. */
  network?(backend: string): Networks | undefined;
  /** Last capability reports of all back ends. */
  reports(): Promise<BackendReport[]>;
  /** Carries a row that was handed on to its queue at once; else the relay does. */
  send?(row: Sendable): void;
  /** Chooses pools; only in a process with the scheduler's role. */
  placer?: Placer;
  /** Keeps why a share was placed or not, for the admins who ask. */
  explain?(shareId: string, outcome: Outcome): Promise<void>;
}

/** Who asked, as handlers put it into the payload: for user messages and for what is done in their name. */
export interface Requester {
  requestId: string;
  projectId: string;
  userId: string;
}

export interface Run {
  tools: Tools;
  row: OutboxRow;
  requester: Requester;
  /** aborted at the job's deadline, or when the worker stops */
  signal: AbortSignal;
}

/** How a job ends well: its row goes, or goes on to another queue. */
export interface Forward {
  queue: string;
  kind: string;
  payload?: Record<string, unknown>;
}

export interface Job<Subject, Result> {
  kind: string;
  deadlineMs: number;
  /** The rows it is about, read anew; undefined when there is nothing left to do. */
  load(run: Run): Promise<Subject | undefined>;
  /** The work itself: idempotent. Fails with DriverError or Fault. */
  perform(subject: Subject, run: Run): Promise<Result>;
  /** Takes back what a failed `perform` may have left; its own failure is logged and changes nothing. */
  undo?(subject: Subject, run: Run): Promise<void>;
  /** Writes the outcome. Answering a Forward hands the job on to another queue, in the same place of the order. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most jobs end with nothing more to say
  succeed(tx: Tx, subject: Subject, result: Result, run: Run): Promise<Forward | void>;
  /** Writes the failure: the error state, the user message, the quota given back. */
  fail(tx: Tx, subject: Subject, error: unknown, run: Run): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: a registry holds jobs of every subject
export type AnyJob = Job<any, any>;

/** Declares a job; only for the types to be inferred. */
export function job<Subject, Result>(definition: Job<Subject, Result>): Job<Subject, Result> {
  return definition;
}

export const minutes = (n: number): number => n * 60_000;
