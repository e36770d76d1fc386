/** The supervisor with programs that stand in for the service's own: what it starts, mends and ends. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { poll } from './poll.ts';
import { recorded } from './profiles/recorded.ts';
import { type Stack, startStack } from './stack.ts';
import { isRunning } from './stateDirectory.ts';

const api = `
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
const config = readFileSync(process.argv.at(-1), 'utf8');
const backends = /enabled_share_backends = (.*)/.exec(config)[1].split(',');
createServer((request, response) => {
  if (request.url === '/crash') process.exit(1);
  response.end(JSON.stringify({ pools: backends.map((backend) => ({ backend })), pid: process.pid }));
}).listen(Number(/osapi_share_listen_port = (.*)/.exec(config)[1]), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
`;
const worker = `setInterval(() => {}, 1000); console.log(process.argv.slice(2, 4).join(' '));`;

let dir: string;
let stack: Stack | null = null;
const said: string[] = [];
const say = (line: string) => void said.push(line);

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'shoal-stack-'));
  said.length = 0;
  program('api', api);
  program('worker', worker);
  program('manage', 'process.exit(process.argv.slice(2, 4).join() === "db,sync" ? 0 : 1)');
});
afterEach(async () => {
  await stack?.stop();
  stack = null;
  rmSync(dir, { recursive: true });
});

function program(name: string, text: string): void {
  writeFileSync(join(dir, `${name}.ts`), text);
}

function start(
  options: { stateDirectory?: string; port?: number; signal?: AbortSignal } = {},
): Promise<Stack> {
  return startStack({ profile: recorded, port: 0, programs: dir, say, ...options });
}

function pidsOf(stateDirectory: string): Record<string, number> {
  return JSON.parse(readFileSync(join(stateDirectory, 'pids.json'), 'utf8'));
}

test('it starts every part, tells their processes, and leaves nothing behind', async () => {
  stack = await start();
  expect((await fetch(stack.url)).ok).toBe(true);
  const pids = pidsOf(stack.stateDirectory);
  expect(Object.keys(pids).sort()).toEqual(['api', 'data', 'mariadb', 'redis', 'scheduler', 'share']);
  expect(Object.values(pids).every(isRunning)).toBe(true);
  expect(readFileSync(join(stack.stateDirectory, 'share.log'), 'utf8').trim()).toBe('--roles share');
  await stack.stop();
  expect(Object.values(pids).filter(isRunning)).toEqual([]);
  expect(existsSync(stack.stateDirectory)).toBe(false);
});

test('every part that is killed comes back', async () => {
  stack = await start();
  const { stateDirectory } = stack;
  const before = pidsOf(stateDirectory);
  for (const pid of Object.values(before)) process.kill(pid, 'SIGKILL');
  await poll(
    async () => {
      const now = pidsOf(stateDirectory);
      return Object.keys(before).every((name) => now[name] !== before[name] && isRunning(now[name]!));
    },
    { what: 'the return of all parts', withinMs: 15_000 },
  );
  await poll(async () => (await fetch(stack!.url)).ok, { what: 'an answer', withinMs: 15_000 });
  expect(said).toContain('scheduler ended (SIGKILL); starting it again');
});

test('a second supervisor is refused, and one that was killed is succeeded', async () => {
  const stateDirectory = join(dir, 'state');
  const script = `
    import { startStack } from ${JSON.stringify(join(import.meta.dirname, 'stack.ts'))};
    import { recorded } from ${JSON.stringify(join(import.meta.dirname, 'profiles/recorded.ts'))};
    const options = { profile: recorded, port: 0, programs: ${JSON.stringify(dir)}, say() {} };
    await startStack({ ...options, stateDirectory: ${JSON.stringify(stateDirectory)} });
    console.log('ready');`;
  const first = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(first.stdout!, 'data');
  await expect(start({ stateDirectory })).rejects.toThrow(`is in use by process ${first.pid}`);
  const pids = pidsOf(stateDirectory);
  first.kill('SIGKILL');
  await once(first, 'exit');
  stack = await start({ stateDirectory });
  expect(Object.values(pids).filter(isRunning)).toEqual([]);
  await stack.stop();
  expect(readdirSync(stateDirectory)).not.toContain('supervisor.pid');
});

test('a part that fails at the start ends the start, with its last words', async () => {
  program(
    'worker',
    'if (process.argv.includes("share")) { console.error("no back end"); process.exit(3) } setInterval(() => {}, 1000)',
  );
  await expect(start({ stateDirectory: join(dir, 'state') })).rejects.toThrow(
    /^share ended \(code 3\)\n {2}\| no back end/,
  );
  expect(readdirSync(join(dir, 'state'))).not.toContain('pids.json');
});

test('a failing migration is told', async () => {
  program('manage', 'console.error("the database is of another release"); process.exit(1)');
  await expect(start({ stateDirectory: join(dir, 'state') })).rejects.toThrow(
    'db sync failed: the database is of another release',
  );
});

test('a start can be given up', async () => {
  program('api', 'setInterval(() => {}, 1000)');
  const giveUp = new AbortController();
  const starting = start({ stateDirectory: join(dir, 'state'), signal: giveUp.signal });
  const ended = expect(starting).rejects.toThrow('interrupted');
  await poll(async () => said.includes('starting the API and the workers'), {
    what: 'the API',
    withinMs: 20_000,
  });
  giveUp.abort(new Error('interrupted'));
  await ended;
});

test('a port that is taken is refused before anything starts', async () => {
  stack = await start();
  await expect(start({ port: Number(new URL(stack.url).port) })).rejects.toThrow('is taken');
});
