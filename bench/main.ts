/** The command that measures Shoal beside the reference. */
import { loadavg } from 'node:os';
import { compare } from './compare.ts';
import { Loader } from './loader.ts';
import { processGoals } from './measures.ts';
import { listeners } from './processes.ts';
import { reportText } from './report.ts';
import type { Result } from './result.ts';
import { help, readSettings, type Settings } from './settings.ts';
import { type OwnShoal, startShoal } from './shoal.ts';
import type { Target } from './target.ts';

const say = (line: string) => process.stderr.write(`bench: ${line}\n`);
/** A machine whose run queue is longer than this before anything starts has other things to do. */
const QUIET_LOAD = 0.5;

try {
  const settings = readSettings(process.argv.slice(2), process.env);
  if (settings) {
    const result = await bench(settings);
    console.log(settings.json ? JSON.stringify(result, null, 2) : reportText(result));
  } else console.log(help);
} catch (error) {
  say((error as Error).message);
  process.exitCode = 2;
}

async function bench(settings: Settings): Promise<Result> {
  const remarks: string[] = [];
  const load = loadavg()[0]!;
  if (load > QUIET_LOAD)
    remarks.push(
      `The machine was busy before the bench began (load ${load.toFixed(1)}): figures may be low.`,
    );
  const reference = settings.reference && (await referenceAt(settings.reference, settings.referencePids));
  if (settings.reference && !reference)
    remarks.push(
      `No reference at ${settings.reference.origin}: the figures in brackets were recorded before, on another occasion.`,
    );
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => interruption.abort(new Error('interrupted')));
  const loader = new Loader();
  let own: OwnShoal | null = null;
  try {
    own = settings.shoal ? null : await startShoal(say, interruption.signal);
    const shoal = own?.target ?? target('Shoal', settings.shoal!, settings.shoalPids);
    const compared = await compare(shoal, reference, loader, {
      ...settings,
      say,
      signal: interruption.signal,
    });
    return {
      reference: reference ? `${settings.reference!.origin}, in this run` : 'recorded before',
      ...compared,
      readiness: own?.readiness.map((one) => ({ ...one, goal: processGoals.ready })) ?? null,
      memory: own?.memory().map((one) => ({ ...one, goal: processGoals.memory })) ?? null,
      remarks,
    };
  } finally {
    loader.stop();
    await own?.stop();
  }
}

/** null when nothing answers there. */
async function referenceAt(url: URL, pids: readonly number[]): Promise<Target | null> {
  try {
    await (await fetch(url, { signal: AbortSignal.timeout(3_000) })).arrayBuffer();
  } catch {
    return null;
  }
  return target('reference', url, pids);
}

function target(name: Target['name'], url: URL, pids: readonly number[]): Target {
  const port = Number(url.port || 80);
  const found = pids.length > 0 ? pids : listeners(port);
  if (found.length === 0)
    throw new Error(`no process of this machine listens on port ${port}: name them (see --help)`);
  return { name, host: url.hostname, port, pids: found };
}
