/**
 * For every operation of the contract, the requests that it has to refuse: of someone without a role, about what isn't
 * there, about what belongs to another project, with a body that can't be read or lacks its entity. Bodies are those
 * of recorded requests that succeeded.
 */
import { type Operation, operations } from '#generated/operations.ts';
import { isOperation, type OperationName } from '../replayer/coverage.ts';
import type { Json, RecordedRequest } from '../replayer/recordings.ts';
import { namesIn } from '../replayer/templating.ts';
import type { Step } from './record.ts';
import { fill, fitting, mapped, NOWHERE, ours, succeeded } from './samples.ts';
import { owned, world } from './world.ts';

/** One is ours alone. */
const ofTheReference = Object.values(operations).filter(({ id }) => id !== 'explainScheduling');

/** The whole script. */
export function refusals(): Step[] {
  const samples = succeeded();
  return [...world, ...ofTheReference.flatMap((operation) => refusalsOf(operation, samples))];
}

function refusalsOf(operation: Operation, samples: readonly RecordedRequest[]): Step[] {
  const version = Math.min(operation.until, 99);
  const path = operation.paths.find(({ since, until }) => version >= since && version <= until)!.path;
  const { filled, collections } = fill(path);
  const sample = samples.find((request) => namesOf(operation).some((name) => isOperation(name, request)));
  const body = ours(bodyOf(operation, sample));
  const experimental = operation.experimental?.some(
    ({ since, until }) => version >= since && version <= until,
  );
  const base = {
    method: operation.method,
    version: `2.${version}`,
    ...(experimental ? { experimental: true } : {}),
  };
  const withBody = body === undefined ? {} : { body };
  const steps: RecordedRequest[] = [];
  if (operation.policy) steps.push({ ...base, path: filled, as: 'nobody', ...withBody });
  const named = collections.length > 0 || namesIn(body).size > 0;
  const swapped = (text: string) => text.replace(/\{\{(?!project|user)\w+\}\}/g, NOWHERE);
  if (named) {
    const gone = body === undefined || collections.length > 0 ? withBody : { body: mapped(body, swapped) };
    steps.push({ ...base, path: swapped(filled), as: 'admin', ...gone });
  }
  if (named && (collections.length === 0 || collections.some((each) => owned.has(each))))
    steps.push({ ...base, path: filled, as: 'alt', ...withBody });
  if (operation.body || operation.actions) {
    steps.push({
      ...base,
      path: filled,
      as: 'demo',
      raw_body: '{"share": ',
      headers: { 'Content-Type': 'application/json' },
    });
    steps.push({ ...base, path: filled, as: 'demo', body: {} });
  }
  return steps.map((request) => ({ request }));
}

function bodyOf(operation: Operation, sample: RecordedRequest | undefined): Json | undefined {
  if (operation.actions) {
    const key = operation.actions.at(-1)!.name;
    const value = sample?.body ? Object.values(sample.body as object)[0] : null;
    return { [key]: value as Json };
  }
  if (sample?.body !== undefined) return fitting(operation, sample.body);
  if (operation.body?.key) return { [operation.body.key]: {} };
  return operation.body ? {} : undefined;
}

/** The operation by each of its spellings. */
export function namesOf({ method, paths, actions }: Operation): OperationName[] {
  return paths.flatMap(({ path }) =>
    actions ? actions.map(({ name }) => ({ method, path, action: name })) : [{ method, path }],
  );
}
