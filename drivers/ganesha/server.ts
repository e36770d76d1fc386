/**
 * NFS-Ganesha and its private bus: started, watched and started again when either ends. A server that a killed
 * worker left running is taken over when its configuration is still the one wanted.
 */
import { mkdir, rename, rmdir, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DriverError, type DriverSettings } from '../driver.ts';
import { type BusMethod, busAddress, busConfiguration, busSocket, callBus, prepareSocket } from './bus.ts';
import { giveUpIf, run } from './command.ts';
import { type ServerSettings, serverBlocks } from './configuration.ts';
import { readIfThere, writeWhole } from './files.ts';
import { type Daemon, endDaemon, findDaemon, isDaemon, startDaemon } from './processes.ts';
import { waitFor } from './queue.ts';

export interface GaneshaSettings {
  stateDirectory: string;
  address: string;
  /** 0: a free one, kept from then on */
  port: number;
  /** which is tried first where any will do */
  preferred?: number;
  gracePeriod: number;
  log: DriverSettings['log'];
  /** the blocks of all exports, asked for whenever Ganesha starts */
  exports(signal: AbortSignal): Promise<string>;
}

const watchInterval = 250;
const pauses = [0, 200, 500, 1000, 2000, 5000];

export class GaneshaServer {
  readonly #settings: GaneshaSettings;
  readonly #socket: string;
  readonly #bus: Daemon;
  readonly #ganesha: Daemon;
  #port = 0;
  #pids: { bus: number; ganesha: number } | undefined;
  /** resolves while the server is up; replaced by a pending one when it isn't */
  #up = Promise.withResolvers<void>();
  #watching: NodeJS.Timeout | undefined;
  #restarting: Promise<void> | undefined;
  #stopped = true;

  constructor(settings: GaneshaSettings) {
    const { stateDirectory } = settings;
    this.#settings = settings;
    this.#socket = busSocket(stateDirectory);
    const busFile = join(stateDirectory, 'bus.conf');
    this.#bus = {
      command: 'dbus-daemon',
      args: [`--config-file=${busFile}`, '--nofork', '--nopidfile'],
      mark: `--config-file=${busFile}`,
      env: {},
      log: join(stateDirectory, 'bus.log'),
    };
    const file = join(stateDirectory, 'ganesha.conf');
    const log = join(stateDirectory, 'ganesha.log');
    this.#ganesha = {
      command: 'ganesha.nfsd',
      args: ['-F', '-f', file, '-L', log, '-p', join(stateDirectory, 'ganesha.pid')],
      mark: file,
      env: { DBUS_SYSTEM_BUS_ADDRESS: busAddress(this.#socket) },
      log,
    };
  }

  get port(): number {
    return this.#port;
  }

  async start(signal: AbortSignal): Promise<void> {
    this.#stopped = false;
    await mkdir(join(this.#settings.stateDirectory, 'recovery', 'krb5'), { recursive: true, mode: 0o700 });
    await prepareSocket(this.#socket);
    await writeWhole(join(this.#settings.stateDirectory, 'bus.conf'), busConfiguration(this.#socket));
    if (!(await this.#takeOver(signal))) {
      try {
        await this.#choosePort();
        await this.#launch(signal);
      } catch (error) {
        await this.#endAll();
        throw error;
      }
    }
    this.#up.resolve();
    this.#watching = setInterval(() => void this.#watch(), watchInterval);
    this.#watching.unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#watching);
    this.#down();
    await this.#restarting?.catch(() => {});
    await this.#endAll();
    const nest = dirname(this.#socket);
    if (nest !== this.#settings.stateDirectory) await rmdir(nest).catch(() => {});
  }

  /** Waits for the server where it is just being started again. */
  async call(method: BusMethod, args: readonly string[], signal: AbortSignal): Promise<string> {
    for (;;) {
      await waitFor(this.#up.promise, signal);
      try {
        return await callBus(this.#socket, method, args, signal);
      } catch (error) {
        // when it ended under the call, the call is for its successor
        if (signal.aborted || (await this.#alive())) throw error;
        this.#ended();
      }
    }
  }

  /**
   * The process stands still while `work` is done: whatever clients have been answered is there, and nothing
   * follows. A worker that is killed meanwhile leaves it so for the next one to wake: see #takeOver.
   */
  async paused<T>(work: () => Promise<T>): Promise<T> {
    const pid = this.#pids?.ganesha;
    if (pid === undefined || !(await isDaemon(pid, this.#ganesha))) return work();
    process.kill(pid, 'SIGSTOP');
    try {
      return await work();
    } finally {
      signalIfThere(pid, 'SIGCONT');
    }
  }

  async #takeOver(signal: AbortSignal): Promise<boolean> {
    const [bus, ganesha] = [(await findDaemon(this.#bus))[0], (await findDaemon(this.#ganesha))[0]];
    const written = await readIfThere(this.#ganesha.mark);
    const port = Number(/NFS_Port = (\d+);/.exec(written ?? '')?.[1] ?? 0);
    const wanted = this.#settings.port === 0 || this.#settings.port === port;
    if (bus === undefined || ganesha === undefined || !wanted) return false;
    signalIfThere(ganesha, 'SIGCONT');
    if (!written?.startsWith(serverBlocks(this.#serverSettings(port)))) return false;
    const answers = await callBus(this.#socket, 'ShowExports', [], AbortSignal.timeout(3000)).catch(
      () => null,
    );
    giveUpIf(signal, 'the start');
    if (answers === null) return false;
    this.#pids = { bus, ganesha };
    this.#port = port;
    this.#settings.log('info', 'took over the running NFS server', { pid: ganesha, port });
    return true;
  }

  async #launch(signal: AbortSignal): Promise<void> {
    await this.#endAll();
    await rotate(this.#ganesha.log);
    const head = serverBlocks(this.#serverSettings(this.#port));
    await writeWhole(this.#ganesha.mark, head + (await this.#settings.exports(signal)));
    const bus = await startDaemon(this.#bus, () => this.#ended());
    await this.#until('the bus', bus, this.#bus, signal, () => stat(this.#socket));
    const ganesha = await startDaemon(this.#ganesha, () => this.#ended());
    await this.#until('Ganesha', ganesha, this.#ganesha, signal, () =>
      callBus(this.#socket, 'ShowExports', [], AbortSignal.timeout(2000)),
    );
    this.#pids = { bus, ganesha };
    this.#settings.log('info', 'the NFS server is up', { pid: ganesha, port: this.#port });
  }

  /** Until `works` does: fails when the process ends first or the deadline passes. */
  async #until(
    what: string,
    pid: number,
    daemon: Daemon,
    signal: AbortSignal,
    works: () => Promise<unknown>,
  ): Promise<void> {
    for (;;) {
      giveUpIf(signal, `the start of ${what}`);
      try {
        await works();
        return;
      } catch (error) {
        if (error instanceof DriverError && error.code === 'unsupported') throw error;
      }
      await sleep(30);
      if (await isDaemon(pid, daemon)) continue;
      const said = ((await readIfThere(daemon.log)) ?? '').trim().split('\n').slice(-5).join('\n');
      throw new DriverError('failed', `${what} ended at once. The end of ${daemon.log}:\n${said}`);
    }
  }

  async #alive(): Promise<boolean> {
    const pids = this.#pids;
    if (pids === undefined) return false;
    const [bus, ganesha] = await Promise.all([
      isDaemon(pids.bus, this.#bus),
      isDaemon(pids.ganesha, this.#ganesha),
    ]);
    return bus && ganesha;
  }

  async #watch(): Promise<void> {
    if (this.#restarting === undefined && !(await this.#alive())) this.#ended();
  }

  #ended(): void {
    if (this.#stopped || this.#restarting !== undefined || this.#pids === undefined) return;
    this.#settings.log('warn', 'the NFS server ended and is started again', { port: this.#port });
    this.#down();
    this.#restarting = this.#restart().finally(() => {
      this.#restarting = undefined;
    });
  }

  #down(): void {
    this.#up = Promise.withResolvers<void>();
    this.#up.promise.catch(() => {});
    this.#pids = undefined;
  }

  async #restart(): Promise<void> {
    for (let attempt = 0; !this.#stopped; attempt++) {
      await sleep(pauses[Math.min(attempt, pauses.length - 1)]);
      try {
        await this.#launch(AbortSignal.timeout(30_000));
        this.#up.resolve();
        return;
      } catch (error) {
        this.#settings.log('error', 'the NFS server could not be started', { error: String(error) });
      }
    }
  }

  async #endAll(): Promise<void> {
    for (const daemon of [this.#ganesha, this.#bus])
      await Promise.all((await findDaemon(daemon)).map((pid) => endDaemon(pid, daemon)));
    await run('rm', ['-f', this.#socket], { signal: AbortSignal.timeout(5000) });
  }

  #serverSettings(port: number): ServerSettings {
    const recoveryDirectory = join(this.#settings.stateDirectory, 'recovery');
    return {
      address: this.#settings.address,
      gracePeriod: this.#settings.gracePeriod,
      port,
      recoveryDirectory,
    };
  }

  /** Clients have mounted by it: a port once chosen is kept while it can be had. */
  async #choosePort(): Promise<void> {
    const { address, port, preferred, stateDirectory } = this.#settings;
    await this.#endAll();
    const file = join(stateDirectory, 'port');
    const kept = Number((await readIfThere(file)) ?? 0);
    const chosen =
      (await tryPort(address, port || kept || (preferred ?? 0))) ??
      (port === 0 ? await tryPort(address, 0) : null);
    if (chosen === null)
      throw new DriverError(
        'failed',
        `port ${port} of ${address} can't be used: another process may have it`,
      );
    this.#port = chosen;
    await writeWhole(file, String(chosen));
  }
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // it ended by itself
  }
}

/** null: it can't be bound. */
async function tryPort(address: string, port: number): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  const server = createServer();
  server.once('error', () => resolve(null));
  server.listen({ host: address, port, exclusive: true }, () => {
    const bound = server.address();
    server.close(() => resolve(typeof bound === 'object' && bound !== null ? bound.port : null));
  });
  return promise;
}

async function rotate(log: string): Promise<void> {
  const size = await stat(log).then(
    (found) => found.size,
    () => 0,
  );
  if (size > 10 * 1024 * 1024) await rename(log, `${log}.1`);
}
