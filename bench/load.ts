/**
 * A process that does nothing but send requests: forked by loader.ts, given jobs over IPC. Each connection sends its
 * next request as soon as it has the answer to the last.
 */
import { Connection } from './connection.ts';
import { percentile } from './percentile.ts';

export interface LoadJob {
  host: string;
  port: number;
  /** whole requests, sent in turn */
  requests: readonly string[];
  connections: number;
  /** no request starts after this time */
  seconds: number;
  /** nor after this number */
  most: number;
}

export interface LoadResult {
  sent: number;
  /** from the first request to the last answer */
  seconds: number;
  /** how often each status came */
  statuses: Record<number, number>;
  /** of one request, in milliseconds */
  p50: number;
  p99: number;
}

export type LoadReply = { result: LoadResult } | { error: string };

process.on('message', (job: LoadJob) => {
  run(job).then(
    (result) => process.send!({ result } satisfies LoadReply),
    (error: Error) => process.send!({ error: error.message } satisfies LoadReply),
  );
});
process.on('disconnect', () => process.exit());

async function run(job: LoadJob): Promise<LoadResult> {
  const times: number[] = [];
  const statuses: Record<number, number> = {};
  const begin = performance.now();
  const end = begin + job.seconds * 1000;
  let sent = 0;
  const client = async () => {
    const connection = new Connection(job.host, job.port);
    try {
      while (sent < job.most && performance.now() < end) {
        const at = performance.now();
        const { status } = await connection.send(job.requests[sent++ % job.requests.length]!);
        times.push(performance.now() - at);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    } finally {
      connection.close();
    }
  };
  await Promise.all(Array.from({ length: job.connections }, client));
  const seconds = (performance.now() - begin) / 1000;
  return { sent, seconds, statuses, p50: percentile(times, 50), p99: percentile(times, 99) };
}
