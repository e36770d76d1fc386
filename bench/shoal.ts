/** A Shoal for the bench: the profile `recorded` in a directory of its own, telling its statements. */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recorded } from '../server/local/profiles/recorded.ts';
import { startStack } from '../server/local/stack.ts';
import { startApi } from './apiStart.ts';
import { residentMegabytes, startedAt } from './processes.ts';
import type { Target } from './target.ts';

export interface OwnShoal {
  target: Target;
  /** of each process, as things are now */
  memory(): { process: string; megabytes: number }[];
  /** seconds from the start of a process until it served */
  readiness: { process: string; seconds: number }[];
  stop(): Promise<void>;
}

/** Processes that are Shoal's, among those of a stack. */
const ours = ['api', 'scheduler', 'share', 'data'];

export async function startShoal(say: (line: string) => void, signal: AbortSignal): Promise<OwnShoal> {
  const directory = await mkdtemp(join(tmpdir(), 'shoal-bench-'));
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    const stack = await startStack({
      profile: recorded,
      port: 0,
      stateDirectory: directory,
      overrides: { DEFAULT: { show_statements: true } },
      signal,
      say,
    });
    const stop = async () => {
      await stack.stop();
      await remove();
    };
    try {
      const pids = JSON.parse(readFileSync(join(directory, 'pids.json'), 'utf8')) as Record<string, number>;
      const readiness = [
        { process: 'api, alone', seconds: await startApi(stack.configFile) },
        ...ours.map((name) => ({
          process: `${name}, all at once`,
          seconds: servedAfter(join(directory, `${name}.log`), pids[name]!),
        })),
      ];
      const { hostname, port } = new URL(stack.url);
      return {
        target: { name: 'Shoal', host: hostname, port: Number(port), pids: [pids.api!] },
        memory: () => ours.map((name) => ({ process: name, megabytes: residentMegabytes(pids[name]!) })),
        readiness,
        stop,
      };
    } catch (error) {
      await stop();
      throw error;
    }
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Seconds from a process's start to the line of its log that says it serves; NaN without one. */
function servedAfter(logFile: string, pid: number): number {
  for (const line of readFileSync(logFile, 'utf8').split('\n')) {
    if (!line.startsWith('{')) continue;
    const { msg, time } = JSON.parse(line) as { msg?: string; time: string };
    if (msg === 'serving' || msg === 'working') return (Date.parse(time) - startedAt(pid)) / 1000;
  }
  return Number.NaN;
}
