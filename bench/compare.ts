/**
 * Measures both sides in turn, one thing after the other, some rounds of each. The best round counts: whatever else
 * the machine does only ever makes a server slower.
 */
import { Connection } from './connection.ts';
import type { Loader } from './loader.ts';
import { type Measure, measures, provisioning } from './measures.ts';
import { cleanUp, prepare, settled } from './prepare.ts';
import { prepareLists } from './prepareLists.ts';
import { cpuSeconds } from './processes.ts';
import { provision } from './provisioning.ts';
import type { Compared, Rate, Result } from './result.ts';
import { projects, requestText, send, type Target } from './target.ts';

export interface Options {
  /** of all rounds of one measure together */
  seconds: number;
  rounds: number;
  connections: number;
  /** gives up before the next measurement */
  signal: AbortSignal;
  say: (line: string) => void;
}

/** How many shares are provisioned to see how long it takes. */
const PROVISIONED = { Shoal: 200, reference: 40 };

export async function compare(
  shoal: Target,
  reference: Target | null,
  loader: Loader,
  options: Options,
): Promise<Pick<Result, 'measures' | 'provisioning'>> {
  const targets = [shoal, ...(reference ? [reference] : [])];
  const [shares, referenceShares] = await prepare(targets, options.say);
  await prepareLists(shoal, shares!);
  if (reference) await prepareLists(reference, referenceShares!);
  const compared: Compared[] = [];
  for (const measure of measures) {
    options.say(measure.name);
    const statements = await countStatements(shoal, measure, shares!);
    let ours: Rate | null = null;
    let theirs: Rate | null = null;
    for (let round = 0; round < options.rounds; round++) {
      options.signal.throwIfAborted();
      ours = better(ours, await rate(shoal, measure, shares!, loader, options));
      if (reference)
        theirs = better(theirs, await rate(reference, measure, referenceShares!, loader, options));
    }
    compared.push(comparison(measure, ours!, theirs, statements));
  }
  options.signal.throwIfAborted();
  options.say(`POST to available, ${provisioning.clients} clients`);
  const provisioned = [];
  for (const target of targets) {
    await settled(target, projects.creates);
    provisioned.push(await provision(target, provisioning.clients, PROVISIONED[target.name]));
  }
  if (reference) await cleanUp(reference);
  return {
    measures: compared,
    provisioning: { ...provisioning, shoal: provisioned[0]!, reference: provisioned[1] ?? null },
  };
}

function comparison(
  { name, recorded, goal, statements: mostStatements }: Measure,
  shoal: Rate,
  reference: Rate | null,
  statements: number | null,
): Compared {
  const base = reference?.perCpuSecond ?? recorded;
  const ratio = base === null ? null : shoal.perCpuSecond / base;
  return { name, shoal, reference, recorded, ratio, goal, statements, mostStatements };
}

function better(one: Rate | null, other: Rate): Rate {
  return one && one.perCpuSecond > other.perCpuSecond ? one : other;
}

async function rate(
  target: Target,
  measure: Measure,
  shares: readonly string[],
  loader: Loader,
  options: Options,
): Promise<Rate> {
  const seconds = options.seconds / options.rounds;
  const most = Math.ceil(measure.most / options.rounds);
  const { connections } = options;
  const requests = measure.calls(shares).map((call) => requestText(target, call));
  const job = { host: target.host, port: target.port, requests, connections, seconds, most };
  await loader.run({ ...job, seconds: seconds / 3, most: Math.ceil(most / 3) });
  const before = cpuSeconds(target.pids);
  const result = await loader.run(job);
  const cpu = cpuSeconds(target.pids) - before;
  const others = Object.keys(result.statuses).filter((status) => Number(status) !== measure.status);
  if (others.length > 0)
    throw new Error(
      `${target.name}, ${measure.name}: answered ${others.join(', ')} instead of ${measure.status}`,
    );
  if (cpu <= 0) throw new Error(`${target.name}, ${measure.name}: its processes used no CPU; are these its?`);
  return {
    perCpuSecond: result.sent / cpu,
    perSecond: result.sent / result.seconds,
    p50: result.p50,
    p99: result.p99,
  };
}

/** What the server says of one request; null when it doesn't tell. */
async function countStatements(
  target: Target,
  measure: Measure,
  shares: readonly string[],
): Promise<number | null> {
  const connection = new Connection(target.host, target.port);
  try {
    const { head } = await send(target, connection, measure.calls(shares)[0]!);
    const count = /\r\nx-shoal-statements: *(\d+)/i.exec(head)?.[1];
    return count === undefined ? null : Number(count);
  } finally {
    connection.close();
  }
}
