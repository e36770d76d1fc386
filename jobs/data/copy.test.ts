/** With rsync itself, on a directory of the machine. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyTree, differences } from './copy.ts';

let root: string;
let from: string;
let to: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'shoal-copy-'));
  from = join(root, 'from');
  to = join(root, 'to');
  mkdirSync(from);
  mkdirSync(to);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const signal = () => AbortSignal.timeout(20_000);
const isRoot = process.getuid?.() === 0;

test('all that belongs to files is copied; what the source has not is removed', async () => {
  mkdirSync(join(from, 'd/e'), { recursive: true });
  writeFileSync(join(from, 'd/e/with a space\nand more'), 'text');
  writeFileSync(join(from, '-rf'), 'no option');
  linkSync(join(from, '-rf'), join(from, 'd/same'));
  symlinkSync('/nowhere/at/all', join(from, 'link'));
  writeFileSync(join(from, 'holes'), '');
  truncateSync(join(from, 'holes'), 100 * 1024 * 1024);
  chmodSync(join(from, 'holes'), 0o4751);
  chmodSync(from, 0o2770);
  if (isRoot) chownSync(join(from, 'd'), 1234, 4321);
  utimesSync(join(from, 'd/e'), 1_000_000_000, 1_000_000_000);
  writeFileSync(join(to, 'old'), 'goes');
  mkdirSync(join(to, 'lost+found'));

  const progress: number[] = [];
  const options = { signal: signal(), exclude: ['lost+found'] };
  await copyTree(from, to, { ...options, compare: true, onProgress: (percent) => progress.push(percent) });

  expect(readFileSync(join(to, 'd/e/with a space\nand more'), 'utf8')).toBe('text');
  expect(statSync(join(to, '-rf')).ino).toBe(statSync(join(to, 'd/same')).ino);
  expect(readlinkSync(join(to, 'link'))).toBe('/nowhere/at/all');
  expect(statSync(join(to, 'holes'))).toMatchObject({ size: 100 * 1024 * 1024, mode: 0o104751 });
  expect(statSync(join(to, 'holes')).blocks).toBeLessThan(100);
  expect(statSync(to).mode & 0o7777).toBe(0o2770);
  if (isRoot) expect(lstatSync(join(to, 'd'))).toMatchObject({ uid: 1234, gid: 4321 });
  expect(statSync(join(to, 'd/e')).mtimeMs).toBe(1_000_000_000_000);
  expect(existsSync(join(to, 'old'))).toBe(false);
  expect(existsSync(join(to, 'lost+found'))).toBe(true);
  expect(progress.at(-1)).toBe(100);
  expect(progress).toEqual([...progress].sort((a, b) => a - b));
  expect(await differences(from, to, options)).toEqual([]);
});

test('what differs is found although size and time are the same', async () => {
  for (const [directory, text] of [
    [from, 'aaaa'],
    [to, 'bbbb'],
  ] as const) {
    writeFileSync(join(directory, 'file'), text);
    utimesSync(join(directory, 'file'), 1_000_000_000, 1_000_000_000);
    utimesSync(directory, 1_000_000_000, 1_000_000_000);
  }
  expect(await differences(from, to, { signal: signal() })).toEqual(['file']);
  await copyTree(from, to, { signal: signal(), compare: true });
  expect(readFileSync(join(to, 'file'), 'utf8')).toBe('aaaa');
});

test('a copy that is given up leaves the source whole, and goes on when asked again', async () => {
  const text = 'x'.repeat(64 * 1024);
  for (let i = 0; i < 2000; i++) writeFileSync(join(from, `f${i}`), `${i}${text}`);
  const giveUp = new AbortController();
  const begun = copyTree(from, to, { signal: giveUp.signal, onProgress: (n) => n > 0 && giveUp.abort() });
  await expect(begun).rejects.toMatchObject({ code: 'timeout' });
  expect(execFileSync('ls', [from]).toString().split('\n')).toHaveLength(2001);
  await copyTree(from, to, { signal: signal() });
  expect(await differences(from, to, { signal: signal() })).toEqual([]);
});

test('two copies into one directory come one after the other', async () => {
  for (let i = 0; i < 500; i++) writeFileSync(join(from, `f${i}`), 'x'.repeat(4096));
  const once = () => copyTree(from, to, { signal: signal() });
  await Promise.all([once(), once(), once()]);
  expect(await differences(from, to, { signal: signal() })).toEqual([]);
});

test('a source that is not there is a failure, and the destination stays', async () => {
  writeFileSync(join(to, 'file'), 'stays');
  const copied = copyTree(join(root, 'none'), to, { signal: signal() });
  await expect(copied).rejects.toMatchObject({ code: 'failed' });
  expect(existsSync(join(to, 'file'))).toBe(true);
});
