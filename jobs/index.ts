/** Every job by its kind. */
import { accessJobs } from './access.ts';
import { dataJobs } from './data/attach.ts';
import { ensureJobs } from './ensureOnDemand.ts';
import type { AnyJob } from './job.ts';
import { managingJobs } from './managing.ts';
import { serverManagingJobs } from './serverManaging.ts';
import { serverMigrationJobs } from './serverMigration.ts';
import { serverUpdateJobs } from './serverUpdate.ts';
import { shareBackupJobs } from './shareBackups.ts';
import { shareCopyJobs } from './shareCopy.ts';
import { shareGroupSnapshotJobs } from './shareGroupSnapshots.ts';
import { shareGroupJobList } from './shareGroups.ts';
import { shareMigrationJobs } from './shareMigration.ts';
import { replicaPromotionJobs } from './shareReplicaPromotion.ts';
import { replicaStateJobs } from './shareReplicaState.ts';
import { replicaJobList } from './shareReplicas.ts';
import { shareResizeJobs } from './shareResize.ts';
import { shareRevertJobs } from './shareRevert.ts';
import { serverJobs } from './shareServers.ts';
import { shareJobList } from './shares.ts';
import { snapshotAccessJobs } from './snapshotAccess.ts';
import { snapshotJobs } from './snapshots.ts';

export const jobs: ReadonlyMap<string, AnyJob> = new Map(
  [
    ...shareJobList,
    ...accessJobs,
    ...ensureJobs,
    ...managingJobs,
    ...dataJobs,
    ...shareCopyJobs,
    ...shareMigrationJobs,
    ...shareBackupJobs,
    ...replicaJobList,
    ...replicaPromotionJobs,
    ...replicaStateJobs,
    ...shareGroupJobList,
    ...shareGroupSnapshotJobs,
    ...shareResizeJobs,
    ...serverJobs,
    ...serverManagingJobs,
    ...serverMigrationJobs,
    ...serverUpdateJobs,
    ...shareRevertJobs,
    ...snapshotJobs,
    ...snapshotAccessJobs,
  ].map((job) => [job.kind, job] as const),
);
