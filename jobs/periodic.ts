/** Work that comes round: each task at its own interval, never two runs of one at once, failures logged. */
import type { Log } from './job.ts';

export interface PeriodicTask {
  name: string;
  intervalMs: number;
  run(): Promise<void>;
}

export function runPeriodically(tasks: readonly PeriodicTask[], log: Log): { stop(): Promise<void> } {
  const running = new Map<string, Promise<void>>();
  const start = (task: PeriodicTask) => {
    if (running.has(task.name)) return;
    const run = task
      .run()
      .catch((error: Error) =>
        log('warn', 'a periodic task failed', { task: task.name, error: error.message }),
      )
      .finally(() => running.delete(task.name));
    running.set(task.name, run);
  };
  const timers = tasks.map((task) => setInterval(start, task.intervalMs, task));
  return {
    async stop() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all(running.values());
    },
  };
}
