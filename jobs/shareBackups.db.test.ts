/** Backups with files: shares are directories, and so is the backup target. */
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Ctx } from '#handlers/context.ts';
import { shareBackups } from '#handlers/shareBackups.ts';
import { shares } from '#handlers/shares.ts';
import { startWorld, type World, type WorldShare } from '#server/local/testing/world.ts';

let world: World;
let root: string;
let target: string;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'shoal-backups-'));
  target = join(root, 'target');
  mkdirSync(target);
  world.openShares(join(root, 'shares'), { backup_mount_export: target });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const none = { path: {}, query: {}, body: undefined } as never as { path: never; query: never; body: never };

/** A share with files in it, and its owner. */
async function given() {
  const share = await world.share();
  const owner = world.caller({ projectId: share.projectId });
  const files = filesOf(share);
  mkdirSync(join(files, 'd'), { recursive: true });
  writeFileSync(join(files, 'd/file'), 'kept');
  writeFileSync(join(files, 'program'), '#!/bin/sh\n');
  chmodSync(join(files, 'program'), 0o755);
  symlinkSync('d/file', join(files, 'link'));
  const make = async () =>
    (await shareBackups.createShareBackup({ ...none, ctx: owner, body: { share_id: share.id } })).share_backup
      .id;
  return { share, owner, files, make };
}
const filesOf = ({ instanceId }: WorldShare) => join(root, 'shares', instanceId);
const show = async (ctx: Ctx, id: string) =>
  (await shareBackups.getShareBackup({ ...none, ctx, path: { id } })).share_backup;
const restore = (ctx: Ctx, id: string, body: unknown = null) =>
  shareBackups.restoreShareBackup({ ...none, ctx, path: { id }, body: body as never });
const statusOf = async (ctx: Ctx, { id }: WorldShare) => {
  const { share } = await shares.getShare({ ...none, ctx, path: { id } });
  return [share.status, share.task_state];
};
const everywhere = [1, 2];

test.each(everywhere)('with %i worker(s): backed up, lost, restored, deleted', async (workers) => {
  const { share, owner, files, make } = await given();
  const id = await make();
  expect(await world.work(share.id, workers)).toEqual(['backup.create', 'backup.copyOut', 'share.detach']);
  expect(await show(owner, id)).toMatchObject({ status: 'available', progress: '100' });
  expect(await statusOf(owner, share)).toEqual(['available', null]);
  expect(statSync(join(target, id)).mode & 0o777).toBe(0o700);

  rmSync(join(files, 'd'), { recursive: true });
  writeFileSync(join(files, 'program'), 'overwritten');
  writeFileSync(join(files, 'later'), 'goes');
  await restore(owner, id);
  expect(await world.work(share.id, workers)).toEqual(['backup.restore', 'backup.copyBack', 'share.detach']);
  expect(await show(owner, id)).toMatchObject({ status: 'available', restore_progress: '100' });
  expect(await statusOf(owner, share)).toEqual(['available', null]);
  expect(readFileSync(join(files, 'link'), 'utf8')).toBe('kept');
  expect(statSync(join(files, 'program'))).toMatchObject({ size: 10, mode: 0o100755 });
  expect(readdirSync(files).sort()).toEqual(['d', 'link', 'program']);

  await shareBackups.deleteShareBackup({ ...none, ctx: owner, path: { id } });
  expect(await world.work(share.id, workers)).toEqual(['backup.delete']);
  expect(readdirSync(target)).toEqual([]);
  await expect(show(owner, id)).rejects.toMatchObject({ status: 404 });
  expect(await world.usage(share.projectId)).toMatchObject({ backups: [0, 0], backup_gigabytes: [0, 0] });
  await shares.deleteShare({ ...none, ctx: owner, path: { id: share.id } });
});

test('a backup is restored to another share, which knows where its files are from', async () => {
  const { share, owner, make } = await given();
  const id = await make();
  await world.work(share.id);
  const other = await world.share({ projectId: share.projectId, size: 2 });
  await restore(owner, id, other.id);
  expect(await statusOf(owner, share)).toEqual(['available', null]);
  expect(await world.work(other.id)).toEqual(['backup.restore', 'backup.copyBack', 'share.detach']);
  expect(readFileSync(join(filesOf(other), 'link'), 'utf8')).toBe('kept');
  const shown = await shares.getShare({ ...none, ctx: owner, path: { id: other.id } });
  expect(shown.share).toMatchObject({ status: 'available', source_backup_id: id });
});

const asRoot = process.geteuid?.() === 0 ? test : test.skip;

asRoot('a target that is mounted is mounted for as long as a job is at it', async () => {
  const { share, owner, files, make } = await given();
  world.openShares(join(root, 'shares'), {
    backup_mount_export: `host:${target}`,
    backup_mount_template: `mount %(options)s ${target} %(path)s`,
    backup_unmount_template: 'umount -v %(path)s',
    backup_mount_options: '--bind -o nosuid',
    backup_mount_proto: 'nfs',
    backup_mount_tmp_location: root,
  });
  const id = await make();
  await world.work(share.id, 2);
  expect(await show(owner, id)).toMatchObject({ status: 'available', progress: '100' });
  expect(readdirSync(join(target, id, 'files')).sort()).toEqual(['d', 'link', 'program']);
  rmSync(join(files, 'd/file'));
  await restore(owner, id);
  await world.work(share.id);
  expect(readFileSync(join(files, 'link'), 'utf8')).toBe('kept');
  await shareBackups.deleteShareBackup({ ...none, ctx: owner, path: { id } });
  await world.work(share.id);
  expect(readdirSync(target)).toEqual([]);
  expect(readdirSync(root).sort()).toEqual(['shares', 'target']);

  world.openShares(join(root, 'shares'), { backup_mount_template: 'mount -t nosuch x %(path)s' });
  const failed = await make();
  await world.work(share.id);
  expect(await show(owner, failed)).toMatchObject({ status: 'error' });
  expect(await statusOf(owner, share)).toEqual(['available', 'data_copying_error']);
});

test('a backup whose files are gone is not restored: the share keeps its own', async () => {
  const { share, owner, files, make } = await given();
  const id = await make();
  await world.work(share.id);
  rmSync(join(target, id), { recursive: true });
  await restore(owner, id);
  await world.work(share.id);
  expect(await statusOf(owner, share)).toEqual(['backup_restoring_error', 'data_copying_error']);
  expect(readFileSync(join(files, 'd/file'), 'utf8')).toBe('kept');
});

test('where the target is away a backup fails, leaves the share available, and can be deleted later', async () => {
  const { share, owner, files, make } = await given();
  renameSync(target, join(root, 'away'));
  const id = await make();
  expect(await world.work(share.id)).toEqual([
    'backup.create',
    'backup.copyOut',
    'share.detach',
    'backup.discard',
  ]);
  expect(await show(owner, id)).toMatchObject({ status: 'error', progress: '0' });
  expect(await statusOf(owner, share)).toEqual(['available', 'data_copying_error']);
  expect(readdirSync(files).sort()).toEqual(['d', 'link', 'program']);
  renameSync(join(root, 'away'), target);
  await shareBackups.deleteShareBackup({ ...none, ctx: owner, path: { id } });
  await world.work(share.id);
  await expect(show(owner, id)).rejects.toMatchObject({ status: 404 });
});

test('a share that the back end let go of is attached again; one that another machine has is given up', async () => {
  const { share, owner, files, make } = await given();
  const id = await make();
  const forget = (identity: string) =>
    world.db.run`UPDATE shoal_outbox SET kind = 'backup.copyOut', queue = 'data', payload = JSON_SET(payload,
      '$.attached', JSON_OBJECT('kind', 'directory', 'path', ${files}, 'identity', ${identity}), '$.attachments', 1)
      WHERE resource = ${share.id}`;
  await forget('0:0');
  expect(await world.work(share.id)).toEqual([
    'backup.copyOut',
    'backup.create',
    'backup.copyOut',
    'share.detach',
  ]);
  expect(await show(owner, id)).toMatchObject({ status: 'available' });

  const second = await make();
  await world.db
    .run`UPDATE shoal_outbox SET kind = 'backup.copyOut', queue = 'data', payload = JSON_SET(payload,
    '$.attached', JSON_OBJECT('kind', 'directory', 'path', ${files}, 'identity', '0:0'), '$.attachments', 5)
    WHERE resource = ${share.id}`;
  expect(await world.work(share.id)).toEqual(['backup.copyOut', 'share.detach', 'backup.discard']);
  expect(await show(owner, second)).toMatchObject({ status: 'error' });
  expect(existsSync(join(target, second))).toBe(false);
});

test('a backup that an admin set to another status meanwhile is left alone, and the share is free', async () => {
  const { share, owner, make } = await given();
  const id = await make();
  const admin = world.caller({ projectId: share.projectId, roles: ['admin', 'member', 'reader'] });
  await shareBackups.resetShareBackupStatus({ ...none, ctx: admin, path: { id }, body: { status: 'error' } });
  expect(await world.work(share.id)).toEqual(['backup.create']);
  expect(await show(owner, id)).toMatchObject({ status: 'error' });
  expect((await statusOf(owner, share))[0]).toBe('available');
  expect(existsSync(join(target, id))).toBe(false);
});

test('a job about a backup or share that is gone ends', async () => {
  const { share, make } = await given();
  await make();
  await world.db
    .run`UPDATE shoal_outbox SET payload = JSON_SET(payload, '$.backupId', ${randomUUID()}) WHERE resource = ${share.id}`;
  expect(await world.work(share.id)).toEqual(['backup.create']);
});
