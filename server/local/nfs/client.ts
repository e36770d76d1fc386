/**
 * An NFSv4 client in user space: what a machine without a kernel client can use, and for tests a second
 * opinion where there is one. Each mount is a process of its own that is killed when a call passes its
 * deadline, so a server that hangs fails a test and nothing more.
 *
 *   const nfs = await mountNfs('127.0.0.1:/shares/…', { port: 21049 });
 *   await nfs.write('/file', 'text');
 *   const handle = await nfs.open('/file');     // stays open across whatever happens to the server
 *   await nfs.unmount();
 */
import { type ChildProcess, fork } from 'node:child_process';
import { constants } from 'node:fs';
import { join } from 'node:path';
import type { Call, Reply } from './calls.ts';

export class NfsError extends Error {
  /** errno by name: EACCES, ENOSPC, EDQUOT, EROFS, ESTALE, ENOENT… or ETIMEDOUT past the deadline */
  readonly code: string;
  /** the server's status by name, NFS4ERR_ACCESS, where it was the server that refused */
  readonly status: string | undefined;
  constructor(message: string, code: string, status?: string) {
    super(`NFS ${code}: ${message}`);
    this.name = 'NfsError';
    this.code = code;
    this.status = status;
  }
}

export interface MountOptions {
  port: number;
  uid?: number;
  gid?: number;
  /** milliseconds for one call */
  deadline?: number;
}

/** Mounts `host:/path`. Fails with an NfsError; EACCES or ENOENT where access is denied. */
export async function mountNfs(location: string, options: MountOptions): Promise<NfsMount> {
  const colon = location.indexOf(':/');
  if (colon < 1) throw new Error(`'${location}' is not of the form host:/path`);
  const mount = new NfsMount(options.deadline ?? 10_000);
  try {
    await mount.call('mount', {
      host: location.slice(0, colon),
      path: location.slice(colon + 1),
      port: options.port,
      uid: options.uid ?? 0,
      gid: options.gid ?? 0,
      timeout: options.deadline ?? 10_000,
    });
    return mount;
  } catch (error) {
    mount.kill();
    throw error;
  }
}

export class NfsMount {
  readonly #child: ChildProcess;
  readonly #deadline: number;
  readonly #waiting = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  #next = 1;

  constructor(deadline: number) {
    this.#deadline = deadline;
    this.#child = fork(join(import.meta.dirname, 'worker.ts'), {
      serialization: 'advanced',
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (reply: Reply) => {
      const waiter = this.#waiting.get(reply.id);
      this.#waiting.delete(reply.id);
      if (reply.error)
        waiter?.reject(new NfsError(reply.error.message, reply.error.code, reply.error.status));
      else waiter?.resolve(reply.value);
    });
    this.#child.on('exit', () => {
      for (const waiter of this.#waiting.values()) waiter.reject(new NfsError('the client ended', 'EIO'));
      this.#waiting.clear();
    });
  }

  async call<K extends keyof Call>(call: K, ...args: Parameters<Call[K]>): Promise<ReturnType<Call[K]>> {
    const id = this.#next++;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { resolve, reject });
    const timer = setTimeout(() => {
      this.#waiting.delete(id);
      reject(new NfsError(`${call} took longer than ${this.#deadline} ms`, 'ETIMEDOUT'));
      this.kill();
    }, this.#deadline);
    try {
      if (!this.#child.connected) throw new NfsError('the client has ended', 'EIO');
      this.#child.send({ id, call, args });
      return (await promise) as ReturnType<Call[K]>;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Creates or overwrites a file. */
  async write(path: string, data: string | Uint8Array): Promise<void> {
    const handle = await this.create(path);
    try {
      await this.call('truncate', handle, 0);
      await this.call('pwrite', handle, 0, Buffer.from(data));
      await this.call('fsync', handle);
    } finally {
      await this.call('close', handle);
    }
  }

  async read(path: string): Promise<string> {
    const handle = await this.open(path, constants.O_RDONLY);
    try {
      const { size } = await this.call('fstat', handle);
      return Buffer.from(await this.call('pread', handle, 0, size)).toString();
    } finally {
      await this.call('close', handle);
    }
  }

  /** A file kept open; `flags` as in open(2). */
  open(path: string, flags: number = constants.O_RDWR): Promise<number> {
    return this.call('open', path, flags, 0o644);
  }

  /** A file made where it isn't there yet, and kept open. libnfs' O_CREAT refuses one that is there. */
  async create(path: string): Promise<number> {
    try {
      return await this.open(path);
    } catch (error) {
      if ((error as NfsError).code !== 'ENOENT') throw error;
      return this.open(path, constants.O_CREAT | constants.O_RDWR);
    }
  }

  async pread(handle: number, offset: number, count: number): Promise<string> {
    return Buffer.from(await this.call('pread', handle, offset, count)).toString();
  }

  pwrite(handle: number, offset: number, data: string | Uint8Array): Promise<void> {
    return this.call('pwrite', handle, offset, Buffer.from(data));
  }

  close(handle: number): Promise<void> {
    return this.call('close', handle);
  }

  list(path = '/'): Promise<string[]> {
    return this.call('list', path);
  }

  async unmount(): Promise<void> {
    this.kill();
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
