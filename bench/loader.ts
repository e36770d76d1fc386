/** The process that sends the load, seen from the one that measures. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { LoadJob, LoadReply, LoadResult } from './load.ts';

export class Loader {
  readonly #child: ChildProcess = fork(join(import.meta.dirname, 'load.ts'), { execArgv: [] });

  /** Sends requests as the job says, and tells what came back. One job at a time. */
  async run(job: LoadJob): Promise<LoadResult> {
    const over = new AbortController();
    const reply = once(this.#child, 'message', { signal: over.signal });
    const end = once(this.#child, 'exit', { signal: over.signal }).then(() => {
      throw new Error('the process that sends the load ended');
    });
    try {
      this.#child.send(job);
      const [answer] = (await Promise.race([reply, end])) as [LoadReply];
      if ('error' in answer) throw new Error(`${job.host}:${job.port}: ${answer.error}`);
      return answer.result;
    } finally {
      over.abort();
      reply.catch(() => {});
      end.catch(() => {});
    }
  }

  stop(): void {
    this.#child.kill();
  }
}
