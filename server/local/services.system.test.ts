import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import { type MariaDb, startMariaDb } from './mariadb.ts';
import { Part } from './part.ts';
import { poll } from './poll.ts';
import { startRedis } from './redis.ts';
import { isRunning } from './stateDirectory.ts';

let dir: string;
const running: { stop(): Promise<void> }[] = [];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'shoal-services-'));
});
afterEach(async () => {
  for (const service of running.splice(0)) await service.stop();
  rmSync(dir, { recursive: true });
});

function started<T extends { stop(): Promise<void> }>(service: T): T {
  running.push(service);
  return service;
}

async function ask(server: MariaDb, statement: string): Promise<unknown> {
  const connection = await mysql.createConnection({
    host: server.host,
    port: server.port,
    user: server.user,
    password: server.password,
    database: server.database,
  });
  try {
    return (await connection.query(statement))[0];
  } finally {
    await connection.end();
  }
}

test('MariaDB keeps its temporary tables to itself: neighbours that start remove what lies in a shared place', async () => {
  const server = started(await startMariaDb({ directory: dir, durable: false }));
  expect(await ask(server, 'SELECT @@tmpdir AS place')).toEqual([{ place: join(dir, 'tmp') }]);
}, 60_000);

test('MariaDB keeps its data from one start to the next', async () => {
  const directory = join(dir, 'x'.repeat(120));
  const first = started(await startMariaDb({ directory, durable: true }));
  await ask(first, 'CREATE TABLE fish (name VARCHAR(20))');
  await ask(first, "INSERT INTO fish VALUES ('herring')");
  await first.stop();
  const second = started(await startMariaDb({ directory, durable: true }));
  expect(await ask(second, 'SELECT * FROM fish')).toEqual([{ name: 'herring' }]);
  expect(second.password).not.toBe(first.password);
  expect(statSync(join(directory, 'start.sql')).mode & 0o077).toBe(0);
});

test('MariaDB that is killed comes back on the same port with the same account', async () => {
  const pids: number[] = [];
  const deaths: string[] = [];
  const server = started(
    await startMariaDb({
      directory: dir,
      durable: false,
      onStart: (pid) => pids.push(pid),
      onDeath: (message) => deaths.push(message),
    }),
  );
  process.kill(pids[0]!, 'SIGKILL');
  await poll(async () => pids.length === 2, { what: 'a second process', withinMs: 10_000 });
  const answer = await poll(() => ask(server, 'SELECT 1 AS one'), { what: 'an answer', withinMs: 10_000 });
  expect(answer).toEqual([{ one: 1 }]);
  expect(deaths).toEqual(['mariadb ended (SIGKILL)']);
  await server.stop();
  expect(pids.filter(isRunning)).toEqual([]);
});

test('Redis answers to its password alone, and starts empty', async () => {
  const server = started(await startRedis({ directory: dir }));
  const client = new Redis(server.url);
  await client.set('fish', 'herring');
  await client.quit();
  const stranger = createConnection({ host: '127.0.0.1', port: server.port });
  stranger.write('GET fish\r\n');
  expect(String((await once(stranger, 'data'))[0])).toMatch(/^-NOAUTH/);
  stranger.destroy();
  await server.stop();
  const again = started(await startRedis({ directory: dir, port: server.port }));
  const second = new Redis(again.url);
  expect(await second.get('fish')).toBeNull();
  await second.quit();
});

test('a part that ends before it is ready fails with its last words', async () => {
  const start = Part.start({
    name: 'herring',
    command: ['sh', '-c', 'echo the net is torn >&2; exit 3'],
    logFile: join(dir, 'log'),
    isReady: async () => false,
  });
  await expect(start).rejects.toThrow(/^herring ended \(code 3\)\n {2}\| the net is torn\n/);
});

test('a program that is missing is named', async () => {
  const start = Part.start({
    name: 'herring',
    command: ['no-such-program'],
    logFile: join(dir, 'log'),
    isReady: async () => false,
  });
  await expect(start).rejects.toThrow(/^herring (ended|can't be started)[\s\S]*no-such-program/);
});

test('a part that ignores SIGTERM is killed in time', async () => {
  const part = started(
    await Part.start({
      name: 'herring',
      command: ['sh', '-c', 'trap "" TERM; echo ready; while :; do sleep 0.05; done'],
      logFile: join(dir, 'log'),
      isReady: async () => readFileSync(join(dir, 'log'), 'utf8').includes('ready'),
      stopWithinMs: 200,
    }),
  );
  const pid = part.pid!;
  await part.stop();
  expect(isRunning(pid)).toBe(false);
});

test('parts die with a parent that is killed', async () => {
  const script = `
    import { Part } from ${JSON.stringify(join(import.meta.dirname, 'part.ts'))};
    const part = await Part.start({ name: 'p', command: ['sleep', '60'], logFile: ${JSON.stringify(join(dir, 'log'))} });
    console.log(part.pid);
    setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(parent.stdout!, 'data');
  const pid = Number(String(line));
  expect(isRunning(pid)).toBe(true);
  parent.kill('SIGKILL');
  await poll(async () => !isRunning(pid), { what: 'the end of the part', withinMs: 5_000 });
});
