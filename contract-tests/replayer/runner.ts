/**
 * Replays scenarios against a server, one request after the other, as they were recorded.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chances } from './chances.ts';
import { type Answer, type ComparisonOptions, compareAnswer, valueAt } from './comparison.ts';
import { type Coverage, leftOut } from './coverage.ts';
import { type Departure, type Departures, departureOf } from './departures.ts';
import { freshIdentities, type Identities, identityNames, tokenOf } from './identities.ts';
import { KnownItems, sortKeyOf } from './ordering.ts';
import type { Exchange, RecordedRequest, Scenario, Until } from './recordings.ts';
import { type Bindings, fillJson, fillText, showText, UnboundName } from './templating.ts';
import type { Difference } from './values.ts';
import type { Waits } from './waits.ts';
import type { Wire, WireRequest } from './wire.ts';

/** How an exchange came out. */
export interface Outcome {
  scenario: string;
  n: number;
  method: string;
  /** With the ids of this replay, as far as they were known. */
  path: string;
  as: string;
  version: string;
  result: 'alike' | 'different' | 'not covered';
  differences: Difference[];
  /** Why it was left out. */
  reason?: string;
}

export interface ReplayOptions extends ComparisonOptions {
  coverage: Coverage;
  chances: Chances;
  departures: Departures;
  waits: Waits;
  /** Told of each exchange as it is done. */
  onOutcome?: (outcome: Outcome) => void;
}

const POLL_INTERVAL = 50;
const POLL_LIMIT = 40_000;
/** How long a state of error may still turn into the one waited for. */
const ERROR_PATIENCE = 3_000;

export async function replayScenario(
  wire: Wire,
  scenario: Scenario,
  options: ReplayOptions,
): Promise<Outcome[]> {
  const identities = freshIdentities();
  const bindings = identityNames(identities);
  bindings.set('endpoint', wire.base);
  const known = new KnownItems();
  const reasons = leftOut(scenario, options.coverage);
  const outcomes: Outcome[] = [];
  for (const exchange of scenario.exchanges) {
    const { method, path, as = '-', version = '-' } = exchange.request;
    const shown = {
      scenario: scenario.name,
      n: exchange.n,
      method,
      path: showText(path, bindings),
      as,
      version,
    };
    const reason = reasons.get(exchange.n);
    let outcome: Outcome;
    if (reason !== undefined) {
      outcome = { ...shown, result: 'not covered', differences: [], reason };
    } else {
      const chances = (options.chances[scenario.name] ?? []).filter(({ n }) => n.includes(exchange.n));
      const state = { bindings, known, sortKey: sortKeyOf(path), swaps: new Map<string, string>(), chances };
      for (const wait of (options.waits[scenario.name] ?? []).filter(({ before }) => before === exchange.n)) {
        const request = { method: 'GET', path: wait.path, as: wait.as, version: '2.99' } as RecordedRequest;
        await sendUntil(wire, toWire(request, identities, bindings), wait.until);
      }
      const departure = departureOf(exchange, options.departures[scenario.name]);
      const differences = await replayExchange(wire, exchange, identities, state, options, departure);
      outcome = { ...shown, result: differences.length > 0 ? 'different' : 'alike', differences };
    }
    outcomes.push(outcome);
    options.onOutcome?.(outcome);
  }
  return outcomes;
}

async function replayExchange(
  wire: Wire,
  exchange: Exchange,
  identities: Identities,
  state: Parameters<typeof compareAnswer>[2],
  options: ComparisonOptions,
  departure: Departure | undefined,
): Promise<Difference[]> {
  try {
    const request = toWire(exchange.request, identities, state.bindings);
    const answer = await sendUntil(wire, request, exchange.until);
    if (departure && !options.reference) {
      const same = answer.status === departure.status;
      return same ? [] : [{ path: 'status', expected: departure.status, got: answer.status }];
    }
    return compareAnswer(exchange, answer, state, options);
  } catch (error) {
    if (error instanceof UnboundName) {
      return [{ path: 'request', expected: 'ids of earlier answers', got: error.message }];
    }
    return [{ path: 'connection', expected: exchange.response.status, got: String(error) }];
  }
}

/** What is sent for a recorded request. Throws UnboundName when an id that it uses is unknown. */
export function toWire(request: RecordedRequest, identities: Identities, bindings: Bindings): WireRequest {
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (request.version !== undefined) headers['X-OpenStack-Manila-API-Version'] = request.version;
  if (request.experimental) headers['X-OpenStack-Manila-API-Experimental'] = 'true';
  if (request.as !== undefined) headers['X-Auth-Token'] = tokenOf(identities[request.as]!);
  const wired: WireRequest = { method: request.method, path: fillText(request.path, bindings), headers };
  if (request.raw_body !== undefined) {
    const raw = request.raw_body;
    wired.body = typeof raw === 'string' ? raw : raw.repeat.repeat(raw.times);
  } else if (request.body !== undefined) {
    headers['Content-Type'] = 'application/json';
    wired.body = JSON.stringify(fillJson(request.body, bindings));
  }
  Object.assign(headers, request.headers);
  return wired;
}

/** Sends a request, again and again where it is to be waited for something; gives the last answer. */
async function sendUntil(wire: Wire, request: WireRequest, until: Until | undefined): Promise<Answer> {
  const start = performance.now();
  let failedSince: number | undefined;
  for (;;) {
    const answer = await wire.send(request);
    if (!until || isReached(until, answer)) return answer;
    const now = performance.now();
    if (now - start > POLL_LIMIT) return answer;
    failedSince = hasFailed(until, answer) ? (failedSince ?? now) : undefined;
    if (failedSince !== undefined && now - failedSince > ERROR_PATIENCE) return answer;
    await sleep(POLL_INTERVAL);
  }
}

function isReached(until: Until, answer: Answer): boolean {
  if ('status' in until) return answer.status === until.status;
  if (answer.status === 404) return true;
  const value = valueAt(answer.body, until.field) ?? null;
  return until.in.includes(value as string);
}

/** Whether the resource is in a state of error, which it does not leave by itself. */
function hasFailed(until: Until, answer: Answer): boolean {
  if ('status' in until)
    return Object.values(answer.body ?? {}).some((each) => String(each?.status) === 'error_deleting');
  const value = valueAt(answer.body, until.field);
  return typeof value === 'string' && /(^|_)error($|_)/.test(value);
}
