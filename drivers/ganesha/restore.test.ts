import { execFileSync } from 'node:child_process';
import {
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { soon } from '../conformance.ts';
import { restoreFiles } from './restore.ts';

let base: string;
let share: string;
let snapshot: string;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'shoal-restore-'));
  share = join(base, 'share');
  snapshot = join(base, 'snapshot');
  mkdirSync(join(share, 'dir/sub'), { recursive: true });
  writeFileSync(join(share, 'dir/file'), 'old');
  writeFileSync(join(share, 'dir/sub/-rf'), 'looks like an option');
  writeFileSync(Buffer.concat([Buffer.from(`${share}/dir/`), Buffer.from([0xff, 0x0a, 0x20])]), 'bytes');
  writeFileSync(join(share, 'twice'), 'linked');
  linkSync(join(share, 'twice'), join(share, 'dir/again'));
  symlinkSync('dir/file', join(share, 'pointer'));
  execFileSync('mkfifo', [join(share, 'pipe')]);
  // whole seconds: those of directories come back to the microsecond only
  for (const path of ['dir/sub', 'dir', '.']) utimesSync(join(share, path), 1000, 2000);
  execFileSync('cp', ['-a', share, snapshot]);
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

/** What a tree holds: names, types, contents, links, modes and times. */
function describeTree(root: string): string {
  return execFileSync(
    'sh',
    [
      '-c',
      `cd "$1" && find . -printf '%p %y %m %n %l %T@\\n' | sort; find . -type f -print0 | sort -z | xargs -0 cat`,
      '-',
      root,
    ],
    { encoding: 'latin1' },
  );
}

const restore = (): Promise<void> => restoreFiles(snapshot, share, 'auto', soon());

test('what was changed, removed, added or replaced by another kind comes back', async () => {
  writeFileSync(join(share, 'dir/file'), 'new and longer');
  unlinkSync(join(share, 'dir/sub/-rf'));
  writeFileSync(join(share, 'added'), 'x');
  mkdirSync(join(share, 'added-dir'));
  writeFileSync(join(share, 'added-dir/x'), 'x');
  rmSync(join(share, 'pointer'));
  mkdirSync(join(share, 'pointer'));
  rmSync(join(share, 'pipe'));
  writeFileSync(join(share, 'pipe'), 'no pipe');
  rmSync(join(share, 'dir/sub'), { recursive: true });
  symlinkSync('/etc', join(share, 'dir/sub'));
  await restore();
  expect(describeTree(share)).toBe(describeTree(snapshot));
  expect(readdirSync('/etc')).not.toContain('-rf');
});

test('hard links are again what they were', async () => {
  unlinkSync(join(share, 'dir/again'));
  writeFileSync(join(share, 'dir/again'), 'on its own');
  rmSync(join(share, 'dir/file'));
  linkSync(join(share, 'twice'), join(share, 'dir/file'));
  await restore();
  expect(describeTree(share)).toBe(describeTree(snapshot));
  expect(lstatSync(join(share, 'twice')).ino).toBe(lstatSync(join(share, 'dir/again')).ino);
});

test('done twice it is the same as once, also after it was interrupted', async () => {
  writeFileSync(join(share, 'dir/file'), 'new');
  await expect(restoreFiles(snapshot, share, 'auto', AbortSignal.abort())).rejects.toMatchObject({
    code: 'timeout',
  });
  await restore();
  await restore();
  expect(describeTree(share)).toBe(describeTree(snapshot));
});

test('directories stay the same directories', async () => {
  const before = [share, join(share, 'dir')].map((path) => lstatSync(path).ino);
  renameSync(join(share, 'twice'), join(share, 'moved'));
  await restore();
  expect([share, join(share, 'dir')].map((path) => lstatSync(path).ino)).toEqual(before);
  expect(readFileSync(join(share, 'twice'), 'utf8')).toBe('linked');
});
