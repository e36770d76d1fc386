/** Measures both sides in turn, one thing after the other, so that each has the machine's mood of the moment. */
import { Connection } from './connection.ts';
import type { Loader } from './loader.ts';
import { type Measure, measures, provisioning } from './measures.ts';
import { cleanUp, prepare, settled } from './prepare.ts';
import { cpuSeconds } from './processes.ts';
import { provision } from './provisioning.ts';
import type { Compared, Rate, Result } from './result.ts';
import { projects, requestText, send, type Target } from './target.ts';

export interface Options {
  seconds: number;
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
  const compared: Compared[] = [];
  for (const measure of measures) {
    options.signal.throwIfAborted();
    options.say(measure.name);
    const statements = await countStatements(shoal, measure, shares!);
    const ours = await rate(shoal, measure, shares!, loader, options);
    const theirs = reference && (await rate(reference, measure, referenceShares!, loader, options));
    compared.push({
      name: measure.name,
      shoal: ours,
      reference: theirs,
      recorded: measure.recorded,
      ratio: ours.perCpuSecond / (theirs?.perCpuSecond ?? measure.recorded),
      goal: measure.goal,
      statements,
      mostStatements: measure.statements,
    });
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

async function rate(
  target: Target,
  measure: Measure,
  shares: readonly string[],
  loader: Loader,
  { seconds, connections }: Options,
): Promise<Rate> {
  const requests = measure.calls(shares).map((call) => requestText(target, call));
  const job = { host: target.host, port: target.port, requests, connections, seconds, most: measure.most };
  await loader.run({ ...job, seconds: seconds / 3, most: Math.ceil(measure.most / 3) });
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
