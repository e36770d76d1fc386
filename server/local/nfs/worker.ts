/** The process behind client.ts: one mounted export, one call at a time, answers by IPC. */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import type { Call, Mount, Reply } from './calls.ts';
import { c, entryName, fileHandle } from './libnfs.ts';

/** What calls by path go through. A file that is open stays with the context that opened it. */
let nfs = c.init() as unknown;
let mounted: Mount | undefined;
let stale = false;
const files = new Map<number, OpenFile>();
let nextHandle = 1;

interface OpenFile {
  nfs: unknown;
  fh: unknown;
  path: string;
  flags: number;
}

/** Debian 12's libnfs 4 breaks NFSv4 writes of 4,000 bytes and more. */
const chunk = 3072;

class Failed extends Error {
  readonly code: string;
  /** the server's status by name, where it was the server that refused */
  readonly status: string | undefined;
  constructor(what: string, status: number, context: unknown = nfs) {
    super(`${what}: ${c.error(context) as string}`);
    this.status = /NFS4ERR_\w+/.exec(this.message)?.[0];
    this.code = errno(status, this.status);
  }
}

/** libnfs knows no number for some of the server's words and says ERANGE. */
function errno(status: number, word: string | undefined): string {
  if (word === 'NFS4ERR_DQUOT') return 'EDQUOT';
  if (word === 'NFS4ERR_STALE') return 'ESTALE';
  return status < 0 && status > -4096 ? getSystemErrorName(status) : 'EIO';
}

function check(what: string, status: number, context: unknown = nfs): number {
  if (status < 0) throw new Failed(what, status, context);
  return status;
}

function mount(to: Mount): void {
  // only for its arguments: there is no other way to set the port
  const url = c.parseUrl(nfs, `nfs://server${to.path}?version=4&nfsport=${to.port}`) as unknown;
  if (url === null) throw new Failed('url', -22);
  c.destroyUrl(url);
  c.setUid(nfs, to.uid);
  c.setGid(nfs, to.gid);
  c.setTimeout(nfs, to.timeout);
  c.setDirCache(nfs, 0);
  // two contexts of one name would be one client to the server, and the second its reboot
  c.setClientName(nfs, `shoal-${process.pid}-${randomUUID()}`);
  check('mount', c.mount(nfs, to.host.replace(/^\[(.*)\]$/, '$1'), to.path));
  c.setAutoReconnect(c.rpc(nfs), -1);
  mounted = to;
}

function mountAnew(): void {
  nfs = c.init();
  stale = false;
  if (mounted !== undefined) mount(mounted);
}

/**
 * libnfs doesn't count the sequence id of an OPEN that was refused, so that the server answers the next ones
 * with the same refusal: the call after it starts with a context of its own.
 */
function openFile(path: string, flags: number, mode: number): OpenFile {
  const out: unknown[] = [null];
  const status = c.open(nfs, path, flags, mode, out) as number;
  stale = status < 0;
  check(`open ${path}`, status);
  return { nfs, fh: out[0], path, flags };
}

/** Runs `call(context, file)` and answers what it answered, unless it failed. */
function onFile(what: string, handle: number, call: (nfs: unknown, fh: unknown) => number): number {
  const file = files.get(handle);
  if (file === undefined) throw new Error(`handle ${handle} is not open`);
  try {
    return check(what, call(file.nfs, file.fh), file.nfs);
  } catch (error) {
    if (!lostState.includes((error as Failed).status ?? '')) throw error;
    const again = reclaim(file);
    files.set(handle, again);
    return check(what, call(again.nfs, again.fh), again.nfs);
  }
}

/** A server that restarted knows its files but not who has them open: clients tell it anew. */
const lostState = ['NFS4ERR_STALE_STATEID', 'NFS4ERR_STALE_CLIENTID', 'NFS4ERR_EXPIRED'];

/** What kernel clients do then and libnfs does not. The file must be the same by its handle, not its name. */
function reclaim(file: OpenFile): OpenFile {
  mountAnew();
  const again = openFile(file.path, file.flags & ~constants.O_CREAT, 0);
  if (fileHandle(again.fh) !== fileHandle(file.fh))
    throw Object.assign(new Error(`${file.path} has another file handle now`), { code: 'ESTALE' });
  return again;
}

const calls: { [K in keyof Call]: (...args: Parameters<Call[K]>) => ReturnType<Call[K]> } = {
  mount,
  open(path, flags, mode) {
    files.set(nextHandle, openFile(path, flags, mode));
    return nextHandle++;
  },
  close(handle) {
    onFile('close', handle, c.close);
    files.delete(handle);
  },
  pread(handle, offset, count) {
    const into = Buffer.alloc(count);
    let done = 0;
    while (done < count) {
      const part = Buffer.alloc(Math.min(count - done, 65_536));
      const read = onFile('read', handle, (nfs, fh) => c.pread(nfs, fh, offset + done, part.length, part));
      if (read === 0) break;
      part.copy(into, done, 0, read);
      done += read;
    }
    return into.subarray(0, done);
  },
  pwrite(handle, offset, data) {
    const bytes = Buffer.from(data);
    for (let done = 0; done < bytes.length; ) {
      const part = Buffer.from(bytes.subarray(done, done + chunk));
      done += onFile('write', handle, (nfs, fh) => c.pwrite(nfs, fh, offset + done, part.length, part));
    }
  },
  fsync: (handle) => void onFile('fsync', handle, c.fsync),
  truncate: (handle, size) => void onFile('truncate', handle, (nfs, fh) => c.ftruncate(nfs, fh, size)),
  list(path) {
    const out: unknown[] = [null];
    check(`list ${path}`, c.opendir(nfs, path, out));
    const names: string[] = [];
    for (let entry = c.readdir(nfs, out[0]); entry; entry = c.readdir(nfs, out[0]))
      names.push(entryName(entry));
    c.closedir(nfs, out[0]);
    return names.filter((name) => name !== '.' && name !== '..').sort();
  },
  unlink: (path) => void check(`unlink ${path}`, c.unlink(nfs, path)),
  mkdir: (path) => void check(`mkdir ${path}`, c.mkdir(nfs, path)),
  rmdir: (path) => void check(`rmdir ${path}`, c.rmdir(nfs, path)),
  rename: (from, to) => void check(`rename ${from}`, c.rename(nfs, from, to)),
  link: (from, to) => void check(`link ${from}`, c.link(nfs, from, to)),
  symlink: (target, path) => void check(`symlink ${path}`, c.symlink(nfs, target, path)),
  chmod: (path, mode) => void check(`chmod ${path}`, c.chmod(nfs, path, mode)),
  stat(path) {
    const into = {} as ReturnType<Call['stat']>;
    check(`stat ${path}`, c.lstat(nfs, path, into));
    return into;
  },
  fstat(handle) {
    const into = {} as ReturnType<Call['fstat']>;
    onFile('fstat', handle, (nfs, fh) => c.fstat(nfs, fh, into));
    return into;
  },
  statvfs(path) {
    const into = {} as ReturnType<Call['statvfs']>;
    check(`statvfs ${path}`, c.statvfs(nfs, path, into));
    return into;
  },
};

process.on('message', ({ id, call, args }: { id: number; call: keyof Call; args: unknown[] }) => {
  let reply: Reply;
  try {
    if (stale) mountAnew();
    const perform = calls[call] as (...args: unknown[]) => unknown;
    reply = { id, value: perform(...args) };
  } catch (error) {
    const { message, code, status } = error as Failed;
    reply = { id, error: { message, code: code ?? 'EIO', status } };
  }
  process.send!(reply);
});
