/** Draws requests to every operation, sends each to both sides, and gathers what differs. */
import { type Endpoint, endpoints } from '../properties/endpoints.ts';
import type { RecordedRequest } from '../replayer/recordings.ts';
import { namesIn } from '../replayer/templating.ts';
import type { Wire } from '../replayer/wire.ts';
import { drawRequests } from './draw.ts';
import { type Difference, type Explanation, explanationOf } from './explained.ts';
import { differencesOf } from './shapes.ts';
import { type Answers, Pair } from './sides.ts';
import { allThings } from './things.ts';

export interface Comparison {
  requests: number;
  found: readonly Found[];
  /** operations that could not be asked to the end, and why */
  failed: readonly string[];
}

/** A difference, and how often it was met. */
export interface Found extends Difference {
  explanation: Explanation | undefined;
  times: number;
  /** of the request that is shown */
  answers: Answers;
}

export interface Plan {
  reference: Wire;
  shoal: Wire;
  seed: number;
  /** requests of each operation */
  runs: number;
  operation: string | undefined;
  explanations: readonly Explanation[];
  progress: (text: string) => void;
  /** told of each difference of an operation once all its requests were sent */
  onFound: (found: Found) => void;
}

/** Operations whose requests are sent at the same time. */
const AT_ONCE = 8;

/** One is ours alone. */
const both = endpoints.filter(({ operation }) => operation.id !== 'explainScheduling');

export async function compare(plan: Plan): Promise<Comparison> {
  const chosen = both.filter(({ operation }) => !plan.operation || operation.id === plan.operation);
  if (chosen.length === 0) throw new Error(`no operation is called ${plan.operation}`);
  // Reads first: they share a world, which doesn't stay as it is for ever.
  const queue = [...chosen.filter(isRead), ...chosen.filter((each) => !isRead(each))].values();
  const shared = new Shared(plan);
  const found: Found[] = [];
  const failed: string[] = [];
  let done = 0;
  const worker = async () => {
    let pair = new Pair(plan);
    for (const endpoint of queue) {
      const requests = drawRequests(endpoint, plan.seed, plan.runs);
      const names = new Set(requests.flatMap((request) => [...namesOf(request)]));
      if (!pair.serves(names)) pair = new Pair(plan);
      const meeting = new Meeting(endpoint.operation.id, plan, isRead(endpoint) ? await shared.pair() : pair);
      try {
        for (const request of requests) await meeting.compare(request);
      } catch (error) {
        // One side can't be brought to where the others are asked: the rest of the operation is left out.
        meeting.pair = new Pair(plan);
        failed.push(`${endpoint.operation.id}: ${(error as Error).message}`);
      }
      if (!isRead(endpoint)) pair = meeting.pair;
      found.push(...meeting.found.values());
      for (const each of meeting.found.values()) plan.onFound(each);
      const left = [...meeting.found.values()].filter(({ explanation }) => !explanation).length;
      const result = left > 0 ? `${left} differences` : 'alike';
      plan.progress(`${++done}/${chosen.length} ${endpoint.operation.id}: ${result}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { requests: chosen.length * plan.runs, found, failed };
}

const isRead = ({ operation }: Endpoint) => operation.method === 'GET';

/** Offers are taken back after five minutes. */
const KEPT_MS = 200_000;

/** The world that is read: with all things in it. */
class Shared {
  readonly #plan: Plan;
  #until = 0;
  #pair: Promise<Pair> | undefined;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  pair(): Promise<Pair> {
    if (!this.#pair || performance.now() > this.#until) {
      this.#until = performance.now() + KEPT_MS;
      this.#pair = this.#make();
    }
    return this.#pair;
  }

  async #make(): Promise<Pair> {
    this.#plan.progress('making one thing of each kind on both sides');
    const pair = new Pair(this.#plan);
    await pair.make(allThings);
    return pair;
  }
}

/** One operation's requests, one after the other. */
class Meeting {
  readonly found = new Map<string, Found>();
  readonly #operation: string;
  readonly #plan: Plan;
  /** in which the next request is sent */
  pair: Pair;

  constructor(operation: string, plan: Plan, pair: Pair) {
    this.#operation = operation;
    this.#plan = plan;
    this.pair = pair;
  }

  async compare(request: RecordedRequest): Promise<void> {
    if (this.pair.isWorn) this.pair = new Pair(this.#plan);
    const wasNew = this.pair.isNew;
    let answers = await this.#send(request);
    let differences = this.#differences(request, answers);
    if (!wasNew && differences.some(({ explanation }) => !explanation)) {
      // States may have drifted apart: it counts if it is so in new worlds too.
      this.pair = new Pair(this.#plan);
      answers = await this.#send(request);
      differences = this.#differences(request, answers);
    }
    for (const each of differences) this.#add(each);
  }

  #differences(request: RecordedRequest, answers: Answers): Found[] {
    return differencesOf(request, answers).map((what) => {
      const answer = JSON.stringify(answers.shoal.body);
      const difference = { operation: this.#operation, request, what, answer };
      return {
        ...difference,
        explanation: explanationOf(difference, this.#plan.explanations),
        times: 1,
        answers,
      };
    });
  }

  async #send(request: RecordedRequest): Promise<Answers> {
    try {
      await this.pair.make(namesOf(request));
    } catch {
      // What is missing could not be made of what is left: once more, from nothing.
      this.pair = new Pair(this.#plan);
      await this.pair.make(namesOf(request));
    }
    return this.pair.send(request);
  }

  #add(found: Found): void {
    const key = `${found.explanation?.reason} ${found.what}`;
    const before = this.found.get(key);
    if (before) before.times++;
    else this.found.set(key, found);
  }
}

const namesOf = ({ path, body }: RecordedRequest) => new Set([...namesIn(path), ...namesIn(body)]);
