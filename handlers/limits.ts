/** Limits: the quotas of the caller's project and what it uses of them, at a glance. */
import { limitsOf, usageOf } from '#db/quotaLimits.ts';
import type { QuotaResource } from '#domain/quotas.ts';
import type { Schemas } from '#generated/handlers.ts';
import type { Handlers } from './request.ts';

/** What limits call a counted resource: maxTotal<name>, total<name>Used. */
const names: readonly [name: string, resource: QuotaResource][] = [
  ['Shares', 'shares'],
  ['ShareGigabytes', 'gigabytes'],
  ['ShareSnapshots', 'snapshots'],
  ['SnapshotGigabytes', 'snapshot_gigabytes'],
  ['ShareNetworks', 'share_networks'],
  ['ShareGroups', 'share_groups'],
  ['ShareGroupSnapshots', 'share_group_snapshots'],
  ['ShareReplicas', 'share_replicas'],
  ['ReplicaGigabytes', 'replica_gigabytes'],
  ['ShareBackups', 'backups'],
  ['BackupGigabytes', 'backup_gigabytes'],
];

export const limits = {
  async getLimits({ ctx }) {
    const scope = { projectId: ctx.projectId, userId: null, shareTypeId: null };
    const { project } = await limitsOf(ctx.db, scope, ctx.settings.quota);
    const usages = await usageOf(ctx.db, scope);
    const absolute: Record<string, number> = {};
    for (const [name, resource] of names) {
      absolute[`maxTotal${name}`] = project[resource];
      absolute[`total${name}Used`] = usages.get(resource)?.in_use ?? 0;
    }
    return { limits: { rate: [], absolute: absolute as Schemas['AbsoluteLimits'] } };
  },
} satisfies Partial<Handlers>;
