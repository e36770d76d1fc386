/**
 * Sends a script's requests to the reference, one after the other, and writes down what it answers, in the form in
 * which recordings are replayed: ids by name, times by `<timestamp>`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, valueAt } from '../replayer/comparison.ts';
import { freshIdentities, type Identities, identityNames } from '../replayer/identities.ts';
import type { Exchange, Json, RecordedRequest, Until } from '../replayer/recordings.ts';
import { toWire } from '../replayer/runner.ts';
import type { Bindings } from '../replayer/templating.ts';
import type { Wire } from '../replayer/wire.ts';

/** A request of a script. */
export interface Step {
  request: RecordedRequest;
  /** ids to be known by a name later: name to place in the answer */
  captures?: Record<string, string>;
  until?: Until;
}

const HEADERS = [
  'Content-Type',
  'X-OpenStack-Manila-API-Version',
  'X-OpenStack-Manila-API-Experimental',
  'Vary',
];
const POLL_INTERVAL = 250;
const POLL_LIMIT = 40_000;

export async function record(
  wire: Wire,
  steps: readonly Step[],
  onExchange: (exchange: Exchange) => void,
): Promise<Exchange[]> {
  const identities = freshIdentities();
  const bindings = identityNames(identities);
  bindings.set('endpoint', wire.base);
  const exchanges: Exchange[] = [];
  for (const [index, { request, captures, until }] of steps.entries()) {
    const answer = await play(wire, { request, captures, until }, identities, bindings);
    const exchange: Exchange = {
      n: index + 1,
      request,
      response: {
        status: answer.status,
        captures: captures ?? null,
        body: named(answer.body, namesById(meet(answer.body, bindings))),
        headers: headersOf(answer),
      },
      ...(until ? { until } : {}),
    };
    exchanges.push(exchange);
    onExchange(exchange);
  }
  return exchanges;
}

/** Sends a step's request until it is as waited for, and binds what it captures; fails when that isn't there. */
export async function play(
  wire: Wire,
  {
    request,
    captures,
    until,
  }: { request: RecordedRequest; captures?: Step['captures'] | undefined; until?: Until | undefined },
  identities: Identities,
  bindings: Bindings,
): Promise<Answer> {
  const answer = await ask(wire, toWire(request, identities, bindings), until);
  for (const [name, place] of Object.entries(captures ?? {})) {
    const id = valueAt(answer.body, place);
    if (typeof id !== 'string')
      throw new Error(
        `${request.method} ${request.path} answered ${answer.status} without ${place}: ${JSON.stringify(answer.body)}`,
      );
    bindings.set(name, id);
  }
  return answer;
}

async function ask(wire: Wire, request: ReturnType<typeof toWire>, until?: Until): Promise<Answer> {
  for (const end = performance.now() + POLL_LIMIT; ; await sleep(POLL_INTERVAL)) {
    const answer = await wire.send(request);
    if (!until || performance.now() > end) return answer;
    if ('status' in until) {
      if (answer.status === until.status) return answer;
    } else if (answer.status === 404 || until.in.includes(valueAt(answer.body, until.field) ?? null)) {
      return answer;
    }
  }
}

/** Longest first, so that an id within another text is not taken for a shorter one. */
function namesById(bindings: ReadonlyMap<string, string>): [id: string, name: string][] {
  return [...bindings]
    .map(([name, id]): [string, string] => [id, name])
    .sort(([a], [b]) => b.length - a.length);
}

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** Names ids that are met for the first time: a replay has others in their place. */
function meet(body: Json, bindings: Map<string, string>): Map<string, string> {
  const known = new Set(bindings.values());
  const met = new Set(JSON.stringify(body).match(ID));
  for (const id of met)
    if (!known.has(id) && !id.startsWith('00000000')) bindings.set(`id_${bindings.size}`, id);
  return bindings;
}

const TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(\.\d+)?$/;

function named(value: Json, names: readonly [id: string, name: string][]): Json {
  if (Array.isArray(value)) return value.map((item) => named(item, names));
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, named(item, names)]));
  if (typeof value !== 'string') return value;
  if (TIME.test(value)) return '<timestamp>';
  return names.reduce((text, [id, name]) => text.replaceAll(id, `{{${name}}}`), value);
}

function headersOf({ headers }: Answer): Record<string, string> {
  const found = HEADERS.map((name) => [name, headers[name.toLowerCase()]] as const);
  return Object.fromEntries(found.filter((each): each is [string, string] => each[1] !== undefined));
}
