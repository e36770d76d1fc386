/**
 * A Redis server of one's own, on the loopback address alone, with a new random password at every start. It keeps
 * nothing on disk: the queues are made again from the database.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { Part, type PartOptions } from './part.ts';
import { onPort } from './ports.ts';

export interface RedisOptions extends Pick<PartOptions, 'onDeath' | 'onStart' | 'signal'> {
  /** where its log and configuration are kept; made when missing */
  directory: string;
  /** a free one by default */
  port?: number;
  /** how many numbered databases it has, 16 by default */
  databases?: number;
}

export interface Redis {
  port: number;
  /** `redis://…`, as [redis] url takes it */
  url: string;
  stop(): Promise<void>;
}

/** Starts an empty server and waits until it answers. */
export async function startRedis(options: RedisOptions): Promise<Redis> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const password = randomBytes(24).toString('base64url');
  const configuration = join(options.directory, 'redis.conf');
  return onPort(options.port, async (port) => {
    rmSync(configuration, { force: true });
    writeFileSync(configuration, settings(options, port, password), { mode: 0o600 });
    const part = await Part.start({
      name: 'redis',
      command: ['redis-server', configuration],
      logFile: join(options.directory, 'redis.log'),
      isReady: () => answers(port, password),
      onDeath: options.onDeath,
      onStart: options.onStart,
      signal: options.signal,
    });
    return { port, url: `redis://:${password}@127.0.0.1:${port}/0`, stop: () => part.stop() };
  });
}

function settings({ directory, databases = 16 }: RedisOptions, port: number, password: string): string {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir "${directory.replaceAll(/["\\]/g, '\\$&')}"`,
    `databases ${databases}`,
    'save ""',
    'appendonly no',
    'maxmemory-policy noeviction',
    // Keeps the directory in the process list, by which a later start knows what an earlier one left behind.
    'set-proc-title no',
    '',
  ].join('\n');
}

/** Says PING on a connection of its own. */
function answers(port: number, password: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ host: '127.0.0.1', port, timeout: 2_000 });
    socket.once('connect', () => socket.write(`AUTH ${password}\r\nPING\r\n`));
    let heard = '';
    socket.on('data', (data) => {
      heard += data.toString();
      if (!heard.includes('PONG') && !heard.startsWith('-')) return;
      socket.destroy();
      resolve(heard.includes('PONG'));
    });
    socket.once('timeout', () => socket.destroy(new Error('no answer')));
    socket.once('error', reject);
    socket.once('close', () => resolve(false));
  });
}
