/**
 * One process of a running installation: started, waited for until it serves, started again when it dies
 * unexpectedly, ended in order. It dies with its parent, however that ends, and takes no Ctrl-C of its own: whoever
 * supervises it decides the order.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { poll } from './poll.ts';

export interface PartOptions {
  name: string;
  command: readonly [string, ...string[]];
  /** its output goes here, made anew at the first start */
  logFile: string;
  /** asked until it answers true; without one, a part is ready once it runs */
  isReady?: () => Promise<boolean>;
  /** time to become ready, 30 s by default */
  readyWithinMs?: number;
  /** gives up the first start */
  signal?: AbortSignal;
  /** time to end after SIGTERM before SIGKILL, 15 s by default */
  stopWithinMs?: number;
  /** told of a death, and why; with it, a part that dies is started again */
  onDeath?: (message: string) => void;
  /** told of every new process */
  onStart?: (pid: number) => void;
}

const setpriv = '/usr/bin/setpriv';
const shortestPauseMs = 100;
const longestPauseMs = 5_000;
/** A part that ran this long isn't caught in a loop of deaths: it is started again soon. */
const steadyMs = 3_000;

export class Part {
  readonly name: string;
  private readonly options: PartOptions;
  private child: ChildProcess | null = null;
  private stopping = new AbortController();
  private pauseMs = shortestPauseMs;

  private constructor(options: PartOptions) {
    this.name = options.name;
    this.options = options;
  }

  /** Starts the process and waits until it is ready; fails with the end of its output when it isn't in time. */
  static async start(options: PartOptions): Promise<Part> {
    const part = new Part(options);
    closeSync(openSync(options.logFile, 'w', 0o600));
    try {
      await part.run();
    } catch (error) {
      await part.stop();
      throw error;
    }
    return part;
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Ends the process for good. Asked twice, it is as asked once. */
  async stop(): Promise<void> {
    this.stopping.abort(new Error(`${this.name} is being stopped`));
    const child = this.child;
    if (!child || hasEnded(child)) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    const limit = new AbortController();
    await Promise.race([
      ended,
      sleep(this.options.stopWithinMs ?? 15_000, undefined, { signal: limit.signal }),
    ]);
    limit.abort();
    if (!hasEnded(child)) child.kill('SIGKILL');
    await ended;
  }

  private async run(): Promise<void> {
    const log = openSync(this.options.logFile, 'a', 0o600);
    const [program, ...args] = dyingWithParent(this.options.command);
    const child = spawn(program, args, { stdio: ['ignore', log, log], detached: true });
    closeSync(log);
    this.child = child;
    const startedAt = performance.now();
    const died = new Promise<never>((_, reject) => {
      child.once('error', (error) => reject(new Error(`${this.name} can't be started: ${error.message}`)));
      child.once('exit', (code, signal) =>
        reject(new Error(`${this.name} ended (${signal ?? `code ${code}`})`)),
      );
    });
    died.catch(() => {});
    if (child.pid !== undefined) this.options.onStart?.(child.pid);
    await this.untilReady(died);
    this.watch(died, startedAt);
  }

  private async untilReady(died: Promise<never>): Promise<void> {
    const { name, isReady, readyWithinMs = 30_000, signal } = this.options;
    const over = new AbortController();
    const ends = [over.signal, this.stopping.signal, ...(signal ? [signal] : [])];
    const ready = poll(async () => (isReady ? await isReady() : true), {
      what: `the start of ${name}`,
      withinMs: readyWithinMs,
      signal: AbortSignal.any(ends),
    });
    try {
      await Promise.race([ready, died]);
    } catch (error) {
      signal?.throwIfAborted();
      throw new Error(`${(error as Error).message}\n${this.lastOutput()}`);
    } finally {
      over.abort();
      ready.catch(() => {});
    }
  }

  private watch(died: Promise<never>, startedAt: number): void {
    died.catch((death: Error) => {
      if (this.stopping.signal.aborted || !this.options.onDeath) return;
      if (performance.now() - startedAt > steadyMs) this.pauseMs = shortestPauseMs;
      this.revive(death.message).catch(() => {});
    });
  }

  /** Starts the process again, with longer and longer pauses as long as it won't stay. */
  private async revive(message: string): Promise<void> {
    let reason = message;
    while (!this.stopping.signal.aborted) {
      this.options.onDeath?.(reason);
      await sleep(this.pauseMs, undefined, { signal: this.stopping.signal }).catch(() => {});
      this.pauseMs = Math.min(this.pauseMs * 2, longestPauseMs);
      if (this.stopping.signal.aborted) return;
      try {
        await this.run();
        return;
      } catch (error) {
        reason = (error as Error).message;
        this.child?.kill('SIGKILL');
      }
    }
  }

  /** The end of what it printed, indented, for messages. */
  lastOutput(): string {
    const lines = readFileSync(this.options.logFile, 'utf8').trimEnd().split('\n').slice(-15);
    return [...lines.map((line) => `  | ${line}`), `  (all of it in ${this.options.logFile})`].join('\n');
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
}

function dyingWithParent(command: PartOptions['command']): [string, ...string[]] {
  return existsSync(setpriv) ? [setpriv, '--pdeathsig', 'TERM', ...command] : [...command];
}
