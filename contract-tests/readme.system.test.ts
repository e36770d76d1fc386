/** What README.md tells a newcomer to type is typed here: `make run`, the first steps, and the targets it names. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { describeHere } from '../drivers/ganesha/workbench.ts';
import { clientEnvironment } from './clients/openstack.ts';

const root = resolve(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const commands = [...readme.matchAll(/```sh\n(.*?)```/gs)]
  .flatMap(([, block]) => block!.split('\n'))
  .map((line) => line.replace(/\s+#.*$/, '').trim())
  .filter((line) => line !== '');
const firstSteps = commands.filter((line) => !/^(make|pip) /.test(line));
const say = (line: string) => void process.stderr.write(`${line}\n`);

test('every make target that it names is there', async () => {
  const targets = new Set(
    [...readme.matchAll(/`make (\w+)/g), ...readme.matchAll(/^make (\w+)/gm)].map(([, name]) => name!),
  );
  expect([...targets]).toEqual(expect.arrayContaining(['run', 'test', 'stack']));
  for (const target of targets) await promisify(execFile)('make', ['-n', target], { cwd: root });
});

test('it says how the clients are installed by names that the tests install too', () => {
  const lock = readFileSync(join(import.meta.dirname, 'clients/requirements.lock'), 'utf8');
  const installed = commands
    .filter((line) => line.startsWith('pip install '))
    .flatMap((line) => line.split(' ').slice(2));
  expect(installed.length).toBeGreaterThan(0);
  for (const name of installed) expect(lock).toMatch(new RegExp(`^${name}==`, 'm'));
});

describeHere('make run', () => {
  const state = mkdtempSync(join(tmpdir(), 'shoal-readme-'));
  let environment: string;
  let running: ChildProcess | undefined;

  beforeAll(async () => {
    environment = await clientEnvironment(say);
  }, 960_000);
  afterAll(async () => {
    await end();
    rmSync(state, { recursive: true, force: true });
  }, 60_000);

  /** The command behind `make run`, with data of its own; answers what it printed until its last line. */
  async function run(): Promise<string> {
    const child = spawn(process.execPath, ['server/run.ts', '--state', state, '--port', '0'], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running = child;
    const printed: string[] = [];
    return new Promise((done, failed) => {
      const timer = setTimeout(() => failed(new Error(`not ready:\n${printed.join('\n')}`)), 120_000);
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream }).on('line', (line) => {
          printed.push(line);
          if (!line.includes('Ctrl-C ends it')) return;
          clearTimeout(timer);
          done(printed.join('\n'));
        });
      }
      child.once('exit', (code) => failed(new Error(`ended with ${code}:\n${printed.join('\n')}`)));
    });
  }

  async function end(): Promise<void> {
    if (!running || running.exitCode !== null) return;
    const ended = new Promise((done) => running!.once('exit', done));
    running.kill('SIGINT');
    await ended;
  }

  test('makes a share with a file in it, and the first steps do what they say', async () => {
    const printed = await run();
    expect(printed).toMatch(/hello\.txt, read over NFS: Written over NFS/);
    const endpoint = /shoal: ready on (\S+)/.exec(printed)![1]!;
    expect(firstSteps.length).toBeGreaterThan(5);
    const script = firstSteps
      .map((line) => line.replace(/OS_ENDPOINT=\S+/, `OS_ENDPOINT=${endpoint}`))
      .join('\n');
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', script], {
      timeout: 280_000,
      env: { ...process.env, PATH: `${join(environment, 'bin')}:${process.env.PATH}` },
    });
    expect(stdout).toMatch(/127\.0\.0\.1:\/shares\//);
  }, 420_000);

  test('finds the shares again the next time', async () => {
    const before = await shares();
    expect(before).toContain('mine');
    await end();
    const printed = await run();
    expect(printed).toMatch(/hello\.txt/);
    expect(await shares(/shoal: ready on (\S+)/.exec(printed)![1]!)).toEqual(before);
  }, 240_000);

  let endpoint = '';
  async function shares(at?: string): Promise<string[]> {
    endpoint = at ?? (endpoint || apiOf(state));
    const answer = await fetch(`${endpoint}/shares`, {
      headers: { 'X-Auth-Token': 'admin:ad01:admin,member,reader', 'X-OpenStack-Manila-API-Version': '2.99' },
    });
    const body = (await answer.json()) as { shares: { name: string }[] };
    return body.shares.map(({ name }) => name).sort();
  }
});

function apiOf(state: string): string {
  const port = /^osapi_share_listen_port\s*=\s*(\d+)/m.exec(
    readFileSync(join(state, 'shoal.conf'), 'utf8'),
  )![1];
  return `http://127.0.0.1:${port}/v2`;
}
