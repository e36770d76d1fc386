import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const scripts = import.meta.dirname;
const root = resolve(scripts, '..');

function run(command: string, ...args: string[]) {
  return spawnSync(command, args, { cwd: root, encoding: 'utf8', timeout: 20_000 });
}

test.each([
  ['bash', 'scripts/setup.sh'],
  [process.execPath, 'scripts/test.ts'],
  [process.execPath, 'codegen/openapi.ts'],
])('%s %s tells its usage when asked, and refuses what it does not know', (command, script) => {
  expect(run(command, script, '--help')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^Usage: .*\n/),
  });
  const refused = run(command, script, '--bogus');
  expect(refused).toMatchObject({ status: 2, stdout: '' });
  expect(refused.stderr).toMatch(/--bogus[\s\S]*Usage: /);
  expect(refused.stderr).not.toMatch(/\n {4}at /);
});

test('clean.sh removes .shoal, but not when it is only asked about', () => {
  const checkout = mkdtempSync(join(tmpdir(), 'shoal-clean-'));
  mkdirSync(join(checkout, 'scripts'));
  mkdirSync(join(checkout, '.shoal'));
  writeFileSync(join(checkout, 'scripts/clean.sh'), readFileSync(join(scripts, 'clean.sh')));
  const clean = (...args: string[]) => run('bash', join(checkout, 'scripts/clean.sh'), ...args).status;
  try {
    expect([clean('--help'), clean('--bogus'), clean('')]).toEqual([0, 2, 2]);
    expect(readdirSync(checkout)).toContain('.shoal');
    expect(clean()).toBe(0);
    expect(readdirSync(checkout)).not.toContain('.shoal');
  } finally {
    rmSync(checkout, { recursive: true });
  }
});

test('no script pipes into a reader that stops early: pipefail would make a failure of it now and then', () => {
  const shell = [...readdirSync(scripts).filter((name) => name.endsWith('.sh')), '../.ci/run'];
  for (const name of shell)
    expect(readFileSync(join(scripts, name), 'utf8')).not.toMatch(/\|\s*(grep -\w*q|head\b)/);
});
