/** Resource locks: what can be locked against what, and when. */
import { fault } from './faults.ts';

export type LockedType = 'share' | 'access_rule';
export type LockedAction = 'delete' | 'show';
export type LockContext = 'user' | 'admin' | 'service';

/** A share can't be hidden by a lock: only who may use it can. */
const lockable: Readonly<Record<LockedType, readonly LockedAction[]>> = {
  share: ['delete'],
  access_rule: ['delete', 'show'],
};

/** States in which there is nothing left, or nothing yet, that a lock could keep. */
const unsuitable: Readonly<Record<LockedType, readonly string[]>> = {
  share: ['deleting', 'error_deleting', 'deferred_deleting', 'error_deferred_deleting', 'unmanage_starting'],
  access_rule: ['queued_to_deny', 'denying', 'error'],
};

/** As what a caller places locks: those of an admin are not for users to lift. */
export function lockContext(caller: { isAdmin: boolean; roles: readonly string[] }): LockContext {
  if (caller.isAdmin) return 'admin';
  return caller.roles.includes('service') ? 'service' : 'user';
}

/** Throws invalidInput when resources of this type can't be locked against the action. */
export function assertLockable(type: LockedType, action: LockedAction): void {
  if (lockable[type].includes(action)) return;
  throw fault('invalidInput', {
    reason: `resource_action of a lock on a ${type} must be ${lockable[type].join(' or ')}; not ${action}`,
  });
}

/** Throws conflict when the resource is on its way out, or has failed to come. */
export function assertKept(type: LockedType, id: string, status: string): void {
  if (!unsuitable[type].includes(status)) return;
  throw fault('conflict', { reason: `The ${type} ${id} is ${status} and can't be locked.` });
}
