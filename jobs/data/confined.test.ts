import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { poll } from '#server/local/poll.ts';
import { runConfined } from './confined.ts';

const asRoot = process.geteuid?.() === 0 ? test : test.skip;
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'shoal-confined-'));
  mkdirSync(join(root, 'from'));
  mkdirSync(join(root, 'to'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** What a shell says between the directories: its status, and what it wrote. */
async function sh(script: string, signal = AbortSignal.timeout(20_000)) {
  let heard = '';
  const words = (from: string, to: string) => ['sh', '-c', script, 'sh', from, to];
  const hear = (text: string) => {
    heard += text;
  };
  const ended = await runConfined(join(root, 'from'), join(root, 'to'), words, signal, hear);
  return { ...ended, heard: heard.trim() };
}

asRoot('the two directories are there, and nothing of the machine but its programs', async () => {
  writeFileSync(join(root, 'from/file'), 'text');
  symlinkSync('/etc', join(root, 'from/away'));
  symlinkSync(root, join(root, 'from/up'));
  expect(await sh('cat "$1/file" > "$2/copy"; ls /')).toMatchObject({
    status: 0,
    heard: 'bin\nfrom\nlib\nlib32\nlib64\nlibx32\nold\nproc\nsbin\nto\nusr',
  });
  expect(readFileSync(join(root, 'to/copy'), 'utf8')).toBe('text');
  for (const path of [
    '/etc',
    '/proc/self',
    '/old/*',
    '/proc/*',
    '/old/etc',
    '"$1/away/passwd"',
    '"$1/up/to"',
    '"$1/../../etc"',
  ])
    expect(await sh(`ls -d ${path}`)).toMatchObject({ status: 2, heard: '' });
});

asRoot('the source is not written to, nor are the programs', async () => {
  expect((await sh('echo x > "$1/file"')).status).not.toBe(0);
  expect((await sh('echo x > /usr/file')).status).not.toBe(0);
  expect(readdirSync(join(root, 'from'))).toEqual([]);
});

asRoot('nothing stays mounted, whether it ended or was given up', async () => {
  const before = roots();
  const given = AbortSignal.timeout(500);
  await expect(sh('sleep 60', given)).rejects.toMatchObject({ code: 'timeout' });
  await sh('true');
  expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(root);
  // Another run of these tests may have some there for a moment.
  const left = roots().filter((name) => !before.includes(name));
  const gone = async () => !roots().some((name) => left.includes(name));
  await poll(gone, { what: 'the roots to go', withinMs: 10_000 });
});

function roots(): string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('shoal-root-'));
}

test('what is not installed is told, and what is not there is a failure', async () => {
  await expect(sh('nosuchprogram')).rejects.toMatchObject({ code: 'unsupported' });
  rmSync(join(root, 'from'), { recursive: true });
  await expect(sh('ls "$1" || exit 1')).resolves.not.toMatchObject({ status: 0 });
});
