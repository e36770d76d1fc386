import { once } from 'node:events';
import { createServer } from 'node:net';
import {
  cpuSeconds,
  listeners,
  parseStat,
  residentMegabytes,
  socketsListening,
  startedAt,
} from './processes.ts';

test('CPU time is that in user and kernel mode, with that of ended children', () => {
  const line = `7 (a) name) (x) S 3 7 7 0 -1 4194560 100 0 0 0 150 50 25 5 20 0 11 0 4200 1000 200 1`;
  expect(parseStat(line)).toEqual({ parent: 3, cpu: 2.3, started: 42 });
  expect(parseStat('')).toBeUndefined();
});

test('a process that works uses CPU time, and one that has ended none', () => {
  const before = cpuSeconds([process.pid]);
  const end = before + 0.03;
  for (let i = 0; cpuSeconds([process.pid]) < end; i++)
    if (i > 1e6) throw new Error('no CPU time was counted');
  expect(cpuSeconds([process.pid])).toBeGreaterThan(before);
  expect(cpuSeconds([2 ** 22 + 1])).toBe(0);
  expect(residentMegabytes(process.pid)).toBeGreaterThan(1);
  expect(Math.abs(startedAt(process.pid) - performance.timeOrigin)).toBeLessThan(60_000);
});

test('the process that listens on a port is found', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  expect(listeners(port)).toContain(process.pid);
  server.close();
  await once(server, 'close');
  expect(listeners(port)).toEqual([]);
});

test('only sockets that listen count, on all of the port', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:2252 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 111 1 x',
    '   1: 0100007F:2252 0100007F:A3E4 01 00000000:00000000 00:00000000 00000000     0        0 222 1 x',
    '   2: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 333 1 x',
  ].join('\n');
  expect(socketsListening(table, 8786)).toEqual(['111']);
  expect(socketsListening(table, 80)).toEqual(['333']);
});
