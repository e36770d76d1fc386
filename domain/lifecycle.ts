/**
 * Lifecycles as data: from which states a step may begin, the state while it runs, the state after it, the
 * state when it fails. Handlers begin steps and jobs end them, both by db/transition.ts.
 */
import type { FaultCode } from './faults.ts';

/** After this step the row is soft-deleted: its job removes it. */
export const gone = Symbol('gone');

export interface Step {
  /** states it may begin in; null: the row is made by it */
  from: readonly string[] | null;
  via: string;
  to: string | typeof gone;
  onError: string;
  /** what a caller hears when the state is another one; invalidState (409) when not said */
  refused?: FaultCode;
}

export interface NamedStep extends Step {
  /** `share.extend`: the kind of the job, and of its outbox row */
  kind: string;
}

/** Names the steps of a resource. Pure data: `lifecycle('share', { extend: {…} }).extend.kind` is `share.extend`. */
export function lifecycle<const T extends Record<string, Step>>(
  resource: string,
  steps: T,
): { [K in keyof T]: NamedStep } {
  return Object.fromEntries(
    Object.entries(steps).map(([name, step]) => [name, { ...step, kind: `${resource}.${name}` }]),
  ) as { [K in keyof T]: NamedStep };
}
