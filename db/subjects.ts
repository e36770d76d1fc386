/** Whose status a transition changes. */
import { sql } from './sql.ts';
import type { Subject } from './transition.ts';

/** All live instances of a share. */
export const shareSubject = (id: string): Subject => ({
  table: 'share_instances',
  where: sql`share_id = ${id}`,
  what: 'Share',
  id,
});

/** The instance that stands for a share, which the caller knows by the share. */
export const standingSubject = (share: { id: string; instance_id: string }): Subject => ({
  table: 'share_instances',
  where: sql`id = ${share.instance_id}`,
  what: 'Share',
  id: share.id,
});

export const instanceSubject = (id: string): Subject => ({
  table: 'share_instances',
  where: sql`id = ${id}`,
  what: 'Share instance',
  id,
});

/** A share instance, which the caller knows as a replica. */
export const replicaSubject = (id: string): Subject => ({
  table: 'share_instances',
  where: sql`id = ${id}`,
  what: 'Share replica',
  id,
});

/** All live instances of a snapshot. */
export const snapshotSubject = (id: string): Subject => ({
  table: 'share_snapshot_instances',
  where: sql`snapshot_id = ${id}`,
  what: 'Snapshot',
  id,
});

/** The instance that stands for a snapshot, which the caller knows by the snapshot. */
export const standingSnapshotSubject = (snapshot: { id: string; instance_id: string }): Subject => ({
  table: 'share_snapshot_instances',
  where: sql`id = ${snapshot.instance_id}`,
  what: 'Snapshot',
  id: snapshot.id,
});

export const backupSubject = (id: string): Subject => ({
  table: 'share_backups',
  where: sql`id = ${id}`,
  what: 'Backup',
  id,
});
