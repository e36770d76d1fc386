/** Setting quotas: whose, which of them, and which limits contradict others or what is used already. */
import { fault } from './faults.ts';
import { type QuotaResource, quotaResources } from './quotas.ts';

/** Whose limits: the project's, one of its users', or those of a share type in it. */
export interface QuotaScope {
  projectId: string;
  userId: string | null;
  shareTypeId: string | null;
}

export type Limits = Partial<Record<QuotaResource, number>>;

const OF_NO_TYPE: readonly QuotaResource[] = ['share_networks', 'share_groups', 'share_group_snapshots'];

/** The resources that the scope has limits for: a share type has none for what isn't of a type. */
export function resourcesOf(scope: QuotaScope): readonly QuotaResource[] {
  return scope.shareTypeId === null
    ? quotaResources
    : quotaResources.filter((resource) => !OF_NO_TYPE.includes(resource));
}

const LARGEST = 2 ** 31 - 1;

/** The limits among what a client sent; null leaves a limit as it is. Throws 400 for what can't be a limit here. */
export function readLimits(given: Readonly<Record<string, unknown>>, scope: QuotaScope): Limits {
  const limits: Limits = {};
  const settable = resourcesOf(scope);
  for (const resource of quotaResources) {
    const value = given[resource];
    if (value === undefined || value === null) continue;
    if (!settable.includes(resource)) {
      throw fault('invalidQuota', {
        resource,
        reason: 'a share type has none; it can be set for a project or user',
      });
    }
    const limit = Math.trunc(Number(value));
    if (!(limit >= -1 && limit <= LARGEST))
      throw fault('invalidQuota', { resource, reason: `must be from -1 to ${LARGEST}` });
    limits[resource] = limit;
  }
  if (Object.keys(limits).length === 0) {
    throw fault('invalidBody', {
      where: 'quota_set',
      reason: `must have at least one of ${settable.join(', ')}`,
    });
  }
  return limits;
}

/** What a limit is held against. */
export interface LimitContext {
  /** in use and reserved, of whom the limit is set for */
  used: number;
  /** a user's or share type's limit stays within the project's; null for the project itself */
  projectLimit: number | null;
  /** a project's limit stays above those of its users; null when they have none */
  largestUserLimit: number | null;
}

/** Why the limit makes no sense beside the others; null when it does. -1 is no limit. */
export function limitProblem(
  limit: number,
  { used, projectLimit, largestUserLimit }: LimitContext,
): string | null {
  if (limit >= 0 && limit < used) return `${used} are in use or reserved already, more than ${limit}`;
  if (projectLimit !== null && projectLimit >= 0) {
    if (limit === -1) return `the project's limit is ${projectLimit}, so this can't be unlimited`;
    if (limit > projectLimit) return `the project's limit is ${projectLimit}, less than ${limit}`;
  }
  if (limit >= 0 && largestUserLimit !== null && limit < largestUserLimit) {
    return `a user's limit is ${largestUserLimit}, more than ${limit}`;
  }
  return null;
}
