/** What client.ts can ask of worker.ts, over IPC. */

export interface Stat {
  ino: number;
  mode: number;
  nlink: number;
  uid: number;
  gid: number;
  size: number;
  mtime: number;
}

/** Sizes in units of `frsize` bytes. */
export interface StatVfs {
  frsize: number;
  blocks: number;
  bfree: number;
  bavail: number;
}

export interface Mount {
  host: string;
  port: number;
  /** pseudo path of the export, `/shares/…` */
  path: string;
  uid: number;
  gid: number;
  /** milliseconds for one request to the server */
  timeout: number;
}

export interface Call {
  mount(mount: Mount): void;
  open(path: string, flags: number, mode: number): number;
  close(handle: number): void;
  pread(handle: number, offset: number, count: number): Uint8Array;
  pwrite(handle: number, offset: number, data: Uint8Array): void;
  fsync(handle: number): void;
  truncate(handle: number, size: number): void;
  list(path: string): string[];
  unlink(path: string): void;
  mkdir(path: string): void;
  rmdir(path: string): void;
  rename(from: string, to: string): void;
  link(from: string, to: string): void;
  symlink(target: string, path: string): void;
  chmod(path: string, mode: number): void;
  stat(path: string): Stat;
  fstat(handle: number): Stat;
  statvfs(path: string): StatVfs;
}

export interface Reply {
  id: number;
  value?: unknown;
  error?: { message: string; code: string; status?: string | undefined };
}
