/** What processes cost: CPU seconds and memory, read from /proc. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second wherever it shows it to programs. */
const TICKS_A_SECOND = 100;

interface Stat {
  parent: number;
  /** seconds in user and kernel mode, with those of children that have ended and were waited for */
  cpu: number;
  /** seconds after boot */
  started: number;
}

/** CPU seconds used so far by these processes, all their threads and all that descends from them. */
export function cpuSeconds(pids: readonly number[]): number {
  return withDescendants(pids).reduce((sum, pid) => sum + (readStat(pid)?.cpu ?? 0), 0);
}

/** MB (10^6 bytes) of memory that a process holds; 0 when it has ended. */
export function residentMegabytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB/m.exec(read(`/proc/${pid}/status`))?.[1] ?? '0';
  return (Number(kibibytes) * 1024) / 1e6;
}

/** When a process was started, in milliseconds since 1970, to a hundredth of a second. */
export function startedAt(pid: number): number {
  const upFor = Number(read('/proc/uptime').split(' ')[0]);
  const booted = Date.now() - upFor * 1000;
  return booted + (readStat(pid)?.started ?? Number.NaN) * 1000;
}

/** The processes that listen on a TCP port of this machine. */
export function listeners(port: number): number[] {
  const sockets = new Set(
    ['tcp', 'tcp6'].flatMap((table) => socketsListening(read(`/proc/net/${table}`), port)),
  );
  return allPids().filter((pid) => openSockets(pid).some((inode) => sockets.has(inode)));
}

/** Inodes of the sockets of a table (of the form of /proc/net/tcp) that listen on `port`. */
export function socketsListening(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === '0A' && local?.endsWith(suffix))
    .map((columns) => columns[9]!);
}

/** `text` is a line of the form of /proc/<pid>/stat. */
export function parseStat(text: string): Stat | undefined {
  // The name, in brackets, may hold anything.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .trim()
    .split(' ');
  if (fields.length < 20) return undefined;
  const ticks = (from: number, to: number) =>
    fields.slice(from, to).reduce((sum, field) => sum + Number(field), 0);
  return {
    parent: Number(fields[1]),
    cpu: ticks(11, 15) / TICKS_A_SECOND,
    started: Number(fields[19]) / TICKS_A_SECOND,
  };
}

function withDescendants(pids: readonly number[]): number[] {
  const found = new Set(pids);
  const parents = new Map(allPids().map((pid) => [pid, readStat(pid)?.parent ?? 0]));
  for (let before = 0; before !== found.size; ) {
    before = found.size;
    for (const [pid, parent] of parents) if (found.has(parent)) found.add(pid);
  }
  return [...found];
}

function readStat(pid: number): Stat | undefined {
  return parseStat(read(`/proc/${pid}/stat`));
}

function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function openSockets(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return []; // closed meanwhile
      }
    });
  } catch {
    return []; // ended meanwhile, or another user's
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
