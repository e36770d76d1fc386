/**
 * Delays and failures on demand, per call, so that slow and broken back ends can be rehearsed.
 *
 *   fake_driver_default_delay = 0                     seconds, every call
 *   fake_driver_delays = create_share:0.5,update_access:2
 *   fake_driver_failures = extend_share:always,create_share:once/noSpace,revert_to_snapshot:unsupported
 *
 * A failure is `always`, `once` (the first call since the worker's start) or `unsupported` (always, with that
 * code); `/code` names another DriverError code than 'failed'.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { DriverError, type DriverErrorCode } from '../driver.ts';
import type { Options } from '../options.ts';

/** The calls, by the names that the field's operators know. */
export const fakeCalls = [
  'start',
  'get_stats',
  'create_share',
  'create_share_from_snapshot',
  'delete_share',
  'extend_share',
  'shrink_share',
  'ensure_share',
  'update_access',
  'create_share_group',
  'delete_share_group',
  'create_share_group_snapshot',
  'delete_share_group_snapshot',
  'create_snapshot',
  'delete_snapshot',
  'snapshot_update_access',
  'revert_to_snapshot',
  'setup_server',
  'teardown_server',
  'ensure_server',
  'manage_server',
  'unmanage_server',
  'update_share_server',
  'share_server_migration_check',
  'share_server_migration_start',
  'share_server_migration_continue',
  'share_server_migration_get_progress',
  'share_server_migration_complete',
  'share_server_migration_cancel',
  'create_replica',
  'delete_replica',
  'promote_replica',
  'update_replica_state',
  'manage_existing',
  'unmanage',
  'manage_existing_snapshot',
  'unmanage_snapshot',
  'migration_check',
  'migration_start',
  'migration_continue',
  'migration_progress',
  'migration_complete',
  'migration_cancel',
] as const;
export type FakeCall = (typeof fakeCalls)[number];

const codes: readonly DriverErrorCode[] = [
  'failed',
  'unsupported',
  'invalid',
  'noSpace',
  'possibleDataLoss',
  'notFound',
  'timeout',
];

interface Failure {
  once: boolean;
  code: DriverErrorCode;
}

/** Waits and fails as configured: awaited at the head of every call. */
export type Rehearse = (call: FakeCall, signal: AbortSignal) => Promise<void>;

export function readFaults(options: Options): Rehearse {
  const defaultDelay = options.number('fake_driver_default_delay', 0);
  const delays = readDelays(options);
  const failures = readFailures(options);
  return async (call, signal) => {
    const delay = delays.get(call) ?? defaultDelay;
    await pause(delay, call, signal);
    const failure = failures.get(call);
    if (failure === undefined) return;
    if (failure.once) failures.delete(call);
    throw new DriverError(failure.code, `${call} fails because the configuration says so`);
  };
}

async function pause(seconds: number, call: string, signal: AbortSignal): Promise<void> {
  try {
    signal.throwIfAborted();
    if (seconds > 0) await sleep(seconds * 1000, undefined, { signal });
  } catch (cause) {
    throw new DriverError('timeout', `${call} was given up`, { cause });
  }
}

function readDelays(options: Options): Map<FakeCall, number> {
  const delays = new Map<FakeCall, number>();
  for (const [name, value] of options.pairs('fake_driver_delays')) {
    const seconds = Number(value);
    if (!(seconds >= 0 && seconds < 86_400))
      options.refuse('fake_driver_delays', `'${value}' is not seconds`);
    delays.set(knownCall(options, 'fake_driver_delays', name), seconds);
  }
  return delays;
}

function readFailures(options: Options): Map<FakeCall, Failure> {
  const failures = new Map<FakeCall, Failure>();
  for (const [name, value] of options.pairs('fake_driver_failures')) {
    const [when = '', code = when === 'unsupported' ? 'unsupported' : 'failed'] = value.split('/');
    if (!['always', 'once', 'unsupported'].includes(when))
      options.refuse('fake_driver_failures', `'${when}' is none of always, once, unsupported`);
    if (!codes.includes(code as DriverErrorCode))
      options.refuse('fake_driver_failures', `'${code}' is none of ${codes.join(', ')}`);
    failures.set(knownCall(options, 'fake_driver_failures', name), {
      once: when === 'once',
      code: code as DriverErrorCode,
    });
  }
  return failures;
}

function knownCall(options: Options, option: string, name: string): FakeCall {
  const call = fakeCalls.find((known) => known === name);
  return call ?? options.refuse(option, `'${name}' is none of ${fakeCalls.join(', ')}`);
}
