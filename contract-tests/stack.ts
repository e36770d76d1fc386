/**
 * A whole service of one's own for a test: `make stack` as a child, on a free port, with a database that is empty at
 * first and gone afterwards.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Stack {
  /** The base URL, without `/v2`. */
  base: string;
  stop(): Promise<void>;
}

const READY_DEADLINE = 60_000;
const STOP_DEADLINE = 20_000;
const TAIL = 40;
const READY = /shoal: ready on (http:\/\/\S+?)\/v2\b/;

/** What the make target has no variable for: then the command behind it is run. */
export interface StackOptions {
  /** directory of data, logs and pids.json */
  state: string;
  /** options over the profile's, `SECTION.OPTION=VALUE` */
  set?: readonly string[];
}

function made(profile: string, port: number): string[] {
  return ['make', '-s', 'stack', `PROFILE=${profile}`, `PORT=${port}`];
}

function supervised(profile: string, port: number, { state, set = [] }: StackOptions): string[] {
  const fixed = ['server/stack.ts', '--profile', profile, '--port', String(port), '--state', state];
  return [process.execPath, ...fixed, ...set.flatMap((option) => ['--set', option])];
}

/**
 * Starts a stack and waits until it serves. Fails with the end of its log when it ends or is not ready within a
 * minute.
 */
export async function startStack(profile = 'recorded', options?: StackOptions): Promise<Stack> {
  const port = await freePort();
  const [command, ...args] = options ? supervised(profile, port, options) : made(profile, port);
  const child = spawn(command!, args, {
    cwd: join(import.meta.dirname, '..'),
    detached: true, // a process group of its own, so that all of it can be stopped
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const endWithUs = () => signalGroup(child, 'SIGINT');
  process.once('exit', endWithUs);
  const stop = async () => {
    await stopGroup(child);
    process.off('exit', endWithUs);
  };
  try {
    return { base: await readyBase(child), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The server that a test is to use: the one of SHOAL_TEST_BASE, else a stack that is started for it. */
export async function testServer(profile = 'recorded'): Promise<Stack> {
  const base = process.env.SHOAL_TEST_BASE;
  if (base) return { base: base.replace(/\/+$/, ''), stop: async () => undefined };
  return startStack(profile);
}

function readyBase(child: ChildProcess): Promise<string> {
  const tail: string[] = [];
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => {
      clearTimeout(timer);
      reject(new Error(`the stack ${reason}; the end of its log:\n${tail.join('\n')}`));
    };
    const timer = setTimeout(() => fail(`was not ready after ${READY_DEADLINE / 1000} s`), READY_DEADLINE);
    for (const stream of [child.stdout!, child.stderr!]) {
      createInterface({ input: stream }).on('line', (line) => {
        tail.push(line);
        if (tail.length > TAIL) tail.shift();
        const base = READY.exec(line)?.[1];
        if (!base) return;
        clearTimeout(timer);
        resolve(base);
      });
    }
    child.once('error', (error) => fail(`could not be started: ${error.message}`));
    // Not 'exit': the last lines may still be on their way then.
    child.once('close', (code, signal) => fail(`ended with ${signal ?? code}`));
  });
}

/** Interrupts all processes of the group, and kills those that stay. */
async function stopGroup(child: ChildProcess): Promise<void> {
  const closed = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
  signalGroup(child, 'SIGINT');
  const deadline = performance.now() + STOP_DEADLINE;
  while (signalGroup(child, 0)) {
    if (performance.now() > deadline) signalGroup(child, 'SIGKILL');
    await sleep(50);
  }
  await closed;
}

/** Whether there was a process to get the signal. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  if (child.pid === undefined) return false;
  try {
    return process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  if (address === null || typeof address === 'string') throw new Error('no free port was found');
  return address.port;
}
