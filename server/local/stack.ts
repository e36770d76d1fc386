/**
 * A whole installation on this machine: MariaDB, Redis, the API and the three workers, each started again when it
 * dies, ended in order together. It says what it does, a line at a time.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '../config/config.ts';
import { startMariaDb } from './mariadb.ts';
import { Part } from './part.ts';
import { poll } from './poll.ts';
import { freePort, isPortFree } from './ports.ts';
import { type ConfigSections, configText, type Profile } from './profiles/profile.ts';
import { startRedis } from './redis.ts';
import { StateDirectory } from './stateDirectory.ts';

export interface StackOptions {
  profile: Profile;
  /** where the API listens, on the loopback address; 0 takes a free port */
  port: number;
  /** kept afterwards; a throwaway profile without one has a temporary directory */
  stateDirectory?: string;
  /** options over those of the profile */
  overrides?: ConfigSections;
  /** gives up starting */
  signal?: AbortSignal;
  say: (line: string) => void;
  /** where api.ts, worker.ts and manage.ts are */
  programs?: string;
}

export interface Stack {
  /** `http://127.0.0.1:<port>/v2` */
  url: string;
  configFile: string;
  stateDirectory: string;
  stop(): Promise<void>;
}

const serverDirectory = resolve(import.meta.dirname, '..');
/** An identity that may see everything; noauth believes it. */
/**
 * A bound that is never reached and keeps memory small all the same: V8 lets a heap grow by what it may become, and
 * what it holds outside of the heap with it.
 */
const boundedHeap = '--max-old-space-size=512';
/** Workers mostly wait: a small nursery does. The API's long lists would outlive one, and be collected twice. */
const smallNursery = '--max-semi-space-size=4';

const adminToken = 'shoal:5a0a1:admin,member,reader';

/** Starts everything and waits until the API serves and every back end has reported its pools. */
export async function startStack(options: StackOptions): Promise<Stack> {
  // What Node compiles once is kept: the next start takes half the time, and needs less memory.
  process.env.NODE_COMPILE_CACHE ??= resolve(serverDirectory, '../node_modules/.cache/shoal');
  if (options.port !== 0 && !(await isPortFree(options.port)))
    throw new Error(`port ${options.port} of 127.0.0.1 is taken: choose another, or 0 for any`);
  const temporary = options.stateDirectory === undefined;
  const path = options.stateDirectory ?? mkdtempSync(join(tmpdir(), `shoal-${options.profile.name}-`));
  const running = new RunningStack(options, await StateDirectory.claim(resolve(path)), temporary);
  try {
    return await running.start();
  } catch (error) {
    await running.stop({ keepLogs: !options.signal?.aborted });
    throw error;
  }
}

class RunningStack {
  private readonly options: StackOptions;
  private readonly state: StateDirectory;
  private readonly temporary: boolean;
  private readonly servers: { stop(): Promise<void> }[] = [];
  private readonly parts: Part[] = [];
  /** aborted by the caller, and by the first death before everything serves */
  private readonly givingUp = new AbortController();
  private serves = false;
  private stopped: Promise<void> | null = null;

  constructor(options: StackOptions, state: StateDirectory, temporary: boolean) {
    this.options = options;
    this.state = state;
    this.temporary = temporary;
    options.signal?.addEventListener('abort', () => this.givingUp.abort(options.signal?.reason), {
      once: true,
    });
    if (options.signal?.aborted) this.givingUp.abort(options.signal.reason);
  }

  async start(): Promise<Stack> {
    const { profile, say } = this.options;
    say(`profile ${profile.name}, state in ${this.state.path}`);
    if (profile.throwaway) for (const name of ['mariadb', 'redis']) this.remove(this.state.file(name));
    const prepared = (await profile.prepare?.(this.state.path)) ?? {};
    const port = this.options.port || (await freePort());
    say('starting MariaDB and Redis');
    const configFile = this.writeConfig(port, prepared, await this.startServers());
    const { backends } = loadConfig([configFile], { warn: say });
    say('bringing the database to its schema');
    await this.migrate(configFile);
    say('starting the API and the workers');
    await this.startProcesses(port, configFile);
    await this.untilPoolsAreReported(port, Object.keys(backends));
    this.serves = true;
    return {
      url: `http://127.0.0.1:${port}/v2`,
      configFile,
      stateDirectory: this.state.path,
      stop: () => this.stop(),
    };
  }

  /** Ends the processes first, then what they need. Logs of a start that failed are worth reading. */
  stop({ keepLogs = false } = {}): Promise<void> {
    this.stopped ??= (async () => {
      this.givingUp.abort(new Error('the stack is being stopped'));
      await Promise.all(this.parts.map((part) => part.stop()));
      for (const server of [...this.servers].reverse()) await server.stop();
      this.state.release();
      if (!this.temporary) return;
      const data = ['mariadb', 'redis', 'state'].map((name) => this.state.file(name));
      for (const path of keepLogs ? data : [this.state.path]) this.remove(path);
    })();
    return this.stopped;
  }

  private async startServers(): Promise<ConfigSections> {
    const { throwaway } = this.options.profile;
    const started = await Promise.allSettled([
      startMariaDb({
        directory: this.state.file('mariadb'),
        durable: !throwaway,
        ...this.supervised('mariadb'),
      }),
      startRedis({ directory: this.state.file('redis'), ...this.supervised('redis') }),
    ]);
    for (const server of started) if (server.status === 'fulfilled') this.servers.push(server.value);
    const [mariadb, redis] = started.map((server) => {
      if (server.status === 'rejected') throw server.reason;
      return server.value.url;
    });
    this.givingUp.signal.throwIfAborted();
    return { database: { connection: mariadb! }, redis: { url: redis! } };
  }

  private writeConfig(port: number, prepared: ConfigSections, servers: ConfigSections): string {
    const { profile, overrides = {} } = this.options;
    const file = this.state.file('shoal.conf');
    const places: ConfigSections = {
      DEFAULT: {
        osapi_share_listen: '127.0.0.1',
        osapi_share_listen_port: port,
        state_path: this.state.file('state'),
      },
      ...servers,
    };
    const heading = `Written at every start of profile ${profile.name}.`;
    const text = configText(heading, profile.config, prepared, places, overrides);
    rmSync(file, { force: true });
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }

  private async migrate(configFile: string): Promise<void> {
    try {
      await promisify(execFile)(process.execPath, this.program('manage', configFile, 'db', 'sync'), {
        timeout: 120_000,
        signal: this.givingUp.signal,
      });
    } catch (error) {
      this.givingUp.signal.throwIfAborted();
      const { stderr, message } = error as Error & { stderr?: string };
      throw new Error(`db sync failed: ${stderr?.trim() || message}`);
    }
  }

  private async startProcesses(port: number, configFile: string): Promise<void> {
    const worker = (role: string) => [
      boundedHeap,
      smallNursery,
      ...this.program('worker', configFile, '--roles', role),
    ];
    const api = [boundedHeap, ...this.program('api', configFile)];
    const healthy = async () => (await get(`http://127.0.0.1:${port}/healthcheck`)).ok;
    const starts = await Promise.allSettled([
      this.startPart('api', api, healthy),
      ...['scheduler', 'share', 'data'].map((role) => this.startPart(role, worker(role))),
    ]);
    for (const start of starts) if (start.status === 'rejected') throw start.reason;
    this.givingUp.signal.throwIfAborted();
  }

  private program(name: 'api' | 'worker' | 'manage', configFile: string, ...args: string[]): string[] {
    return [
      join(this.options.programs ?? serverDirectory, `${name}.ts`),
      ...args,
      '--config-file',
      configFile,
    ];
  }

  private async startPart(name: string, args: string[], isReady?: () => Promise<boolean>): Promise<void> {
    const logFile = this.state.file(`${name}.log`);
    const { onDeath, ...supervised } = this.supervised(name);
    const part = await Part.start({
      name,
      command: [process.execPath, ...args],
      logFile,
      isReady,
      ...supervised,
      onDeath: (message) => onDeath(this.serves ? message : `${message}\n${part.lastOutput()}`),
    });
    this.parts.push(part);
  }

  /** Before everything serves, a death ends the start; afterwards it is reported and mended. */
  private supervised(name: string) {
    return {
      signal: this.givingUp.signal,
      onStart: (pid: number) => this.state.note(name, pid),
      onDeath: (message: string) => {
        if (this.serves) this.options.say(`${message}; starting it again`);
        else this.givingUp.abort(new Error(message));
      },
    };
  }

  private async untilPoolsAreReported(port: number, backends: readonly string[]): Promise<void> {
    const reported = async () => {
      const response = await get(`http://127.0.0.1:${port}/v2/scheduler-stats/pools`);
      const { pools } = (await response.json()) as { pools: { backend: string }[] };
      return backends.every((backend) => pools.some((pool) => pool.backend === backend));
    };
    await poll(reported, {
      what: 'the report of every back end',
      withinMs: 60_000,
      signal: this.givingUp.signal,
    });
  }

  private remove(path: string): void {
    rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

function get(url: string): Promise<Response> {
  return fetch(url, {
    headers: { 'X-Auth-Token': adminToken, 'X-OpenStack-Manila-API-Version': '2.99' },
    signal: AbortSignal.timeout(5_000),
  });
}
