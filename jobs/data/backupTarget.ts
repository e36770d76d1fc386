/**
 * Where backups go: an NFS export that is mounted for as long as a job is at it, or a directory of this machine. Each
 * has a directory of its id there, for root alone, since the files in it keep the modes that tenants gave them.
 */
import { mkdir, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { DriverError } from '#drivers/driver.ts';
import type { Run } from '../job.ts';
import { mustRun } from './command.ts';
import { mount } from './mount.ts';

export interface BackupTarget {
  /** Where the files of the backup go: made where it isn't there. */
  make(): Promise<string>;
  /** Where they are; throws DriverError notFound when there are none: nothing must be restored from an empty place. */
  find(): Promise<string>;
  /** Removes them; those that aren't there are a success. */
  remove(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Opens what the configuration names, for one backup. Throws DriverError, unsupported when it names nothing. */
export async function openBackupTarget(backupId: string, { tools, signal }: Run): Promise<BackupTarget> {
  const { settings } = tools;
  if (settings.backup_mount_export === null)
    throw new DriverError(
      'unsupported',
      'backup_mount_export is not set: there is nowhere for backups to go',
    );
  if (isAbsolute(settings.backup_mount_export)) {
    await assertDirectory(settings.backup_mount_export);
    return target(settings.backup_mount_export, backupId, async () => {});
  }
  const { path, unmount } = await mount(
    {
      location: settings.backup_mount_tmp_location,
      label: `backup-${backupId}`,
      mount: settings.backup_mount_template,
      unmount: settings.backup_unmount_template,
      values: {
        proto: settings.backup_mount_proto,
        options: settings.backup_mount_options,
        export: settings.backup_mount_export,
      },
    },
    signal,
  );
  return target(path, backupId, unmount);
}

function target(root: string, backupId: string, close: () => Promise<void>): BackupTarget {
  const own = join(root, backupId);
  const files = join(own, 'files');
  return {
    async make() {
      await mkdir(own, { recursive: true, mode: 0o700 });
      await mkdir(files, { recursive: true, mode: 0o700 });
      return files;
    },
    async find() {
      await assertDirectory(files);
      return files;
    },
    remove: (signal) => mustRun(['rm', '-rf', '--one-file-system', '--', own], signal),
    close,
  };
}

async function assertDirectory(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory()) throw new DriverError('notFound', `${path} is no directory`);
}
