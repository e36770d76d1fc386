/**
 * libnfs through koffi: the few calls of a user-space NFSv4 client that are needed here, blocking and unsafe.
 * Runs in a process of its own (worker.ts), since a call that hangs can't be interrupted.
 */
import koffi, { type LibraryHandle } from 'koffi';

/** Debian 12 has 13, Debian 13 and Ubuntu 24.04 have 14; later ones order the arguments of pread otherwise. */
const sonames = ['libnfs.so.13', 'libnfs.so.14'];

function load(): LibraryHandle {
  const failures: unknown[] = [];
  for (const name of sonames) {
    try {
      return koffi.load(name);
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, `no NFS client library: install libnfs13 (tried ${sonames.join(', ')})`);
}

const lib = load();
koffi.opaque('nfs_context');
koffi.opaque('rpc_context');
koffi.opaque('nfsfh');
koffi.opaque('nfsdir');
koffi.opaque('nfs_url');
koffi.struct('nfs_fh', { length: 'int', bytes: 'void *' });
koffi.struct('nfsdirent', { next: 'void *', name: 'const char *', inode: 'uint64_t' });
koffi.struct('nfs_stat_64', {
  dev: 'uint64_t',
  ino: 'uint64_t',
  mode: 'uint64_t',
  nlink: 'uint64_t',
  uid: 'uint64_t',
  gid: 'uint64_t',
  rdev: 'uint64_t',
  size: 'uint64_t',
  blksize: 'uint64_t',
  blocks: 'uint64_t',
  atime: 'uint64_t',
  mtime: 'uint64_t',
  ctime: 'uint64_t',
  atimeNanoseconds: 'uint64_t',
  mtimeNanoseconds: 'uint64_t',
  ctimeNanoseconds: 'uint64_t',
  used: 'uint64_t',
});
koffi.struct('nfs_statvfs_64', {
  bsize: 'uint64_t',
  frsize: 'uint64_t',
  blocks: 'uint64_t',
  bfree: 'uint64_t',
  bavail: 'uint64_t',
  files: 'uint64_t',
  ffree: 'uint64_t',
  favail: 'uint64_t',
  fsid: 'uint64_t',
  flag: 'uint64_t',
  namemax: 'uint64_t',
});

export const c = {
  init: lib.func('nfs_context *nfs_init_context()'),
  destroy: lib.func('void nfs_destroy_context(nfs_context *nfs)'),
  error: lib.func('const char *nfs_get_error(nfs_context *nfs)'),
  parseUrl: lib.func('nfs_url *nfs_parse_url_dir(nfs_context *nfs, const char *url)'),
  destroyUrl: lib.func('void nfs_destroy_url(nfs_url *url)'),
  setUid: lib.func('void nfs_set_uid(nfs_context *nfs, int uid)'),
  setGid: lib.func('void nfs_set_gid(nfs_context *nfs, int gid)'),
  setTimeout: lib.func('void nfs_set_timeout(nfs_context *nfs, int milliseconds)'),
  rpc: lib.func('rpc_context *nfs_get_rpc_context(nfs_context *nfs)'),
  /** the one of nfs_context counts for NFSv3 only */
  setAutoReconnect: lib.func('void rpc_set_autoreconnect(rpc_context *rpc, int retries)'),
  setClientName: lib.func('void nfs4_set_client_name(nfs_context *nfs, const char *name)'),
  setDirCache: lib.func('void nfs_set_dircache(nfs_context *nfs, int enabled)'),
  mount: lib.func('int nfs_mount(nfs_context *nfs, const char *server, const char *path)'),
  umount: lib.func('int nfs_umount(nfs_context *nfs)'),
  open: lib.func('int nfs_open2(nfs_context *nfs, const char *path, int flags, int mode, _Out_ nfsfh **fh)'),
  fh: lib.func('nfs_fh *nfs_get_fh(nfsfh *fh)'),
  close: lib.func('int nfs_close(nfs_context *nfs, nfsfh *fh)'),
  pread: lib.func(
    'int nfs_pread(nfs_context *nfs, nfsfh *fh, uint64_t offset, uint64_t count, _Out_ void *into)',
  ),
  pwrite: lib.func(
    'int nfs_pwrite(nfs_context *nfs, nfsfh *fh, uint64_t offset, uint64_t count, void *from)',
  ),
  fsync: lib.func('int nfs_fsync(nfs_context *nfs, nfsfh *fh)'),
  ftruncate: lib.func('int nfs_ftruncate(nfs_context *nfs, nfsfh *fh, uint64_t size)'),
  opendir: lib.func('int nfs_opendir(nfs_context *nfs, const char *path, _Out_ nfsdir **dir)'),
  readdir: lib.func('nfsdirent *nfs_readdir(nfs_context *nfs, nfsdir *dir)'),
  closedir: lib.func('void nfs_closedir(nfs_context *nfs, nfsdir *dir)'),
  unlink: lib.func('int nfs_unlink(nfs_context *nfs, const char *path)'),
  mkdir: lib.func('int nfs_mkdir(nfs_context *nfs, const char *path)'),
  rmdir: lib.func('int nfs_rmdir(nfs_context *nfs, const char *path)'),
  rename: lib.func('int nfs_rename(nfs_context *nfs, const char *from, const char *to)'),
  link: lib.func('int nfs_link(nfs_context *nfs, const char *from, const char *to)'),
  symlink: lib.func('int nfs_symlink(nfs_context *nfs, const char *target, const char *path)'),
  chmod: lib.func('int nfs_chmod(nfs_context *nfs, const char *path, int mode)'),
  lstat: lib.func('int nfs_lstat64(nfs_context *nfs, const char *path, _Out_ nfs_stat_64 *into)'),
  fstat: lib.func('int nfs_fstat64(nfs_context *nfs, nfsfh *fh, _Out_ nfs_stat_64 *into)'),
  statvfs: lib.func('int nfs_statvfs64(nfs_context *nfs, const char *path, _Out_ nfs_statvfs_64 *into)'),
};

/** The names in a directory that libnfs has read. */
export function entryName(entry: unknown): string {
  return (koffi.decode(entry, 'nfsdirent') as { name: string }).name;
}

/** What the server calls an open file by, as hex. */
export function fileHandle(fh: unknown): string {
  const { length, bytes } = koffi.decode(c.fh(fh), 'nfs_fh') as { length: number; bytes: unknown };
  return Buffer.from(koffi.decode(bytes, 'uint8_t', length) as number[]).toString('hex');
}
