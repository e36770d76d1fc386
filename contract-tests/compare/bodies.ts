/** Bodies of one operation's requests: recorded ones that succeeded, whole or with one thing changed, and others. */
import fc from 'fast-check';
import type { Operation } from '#generated/operations.ts';
import type { Endpoint } from '../properties/endpoints.ts';
import { around } from '../properties/values.ts';
import { fitting as fittingPath, ours } from '../recorder/samples.ts';
import type { Json, JsonObject, RecordedRequest } from '../replayer/recordings.ts';
import { fitting, ids, oddValue } from './words.ts';

type BodyPart = Pick<RecordedRequest, 'body' | 'raw_body' | 'headers'>;

/** `samples` are bodies of recorded requests; `key` the one that names the action at the request's version. */
export function bodyOf(
  endpoint: Endpoint,
  samples: readonly Json[],
  key: string | undefined,
): fc.Arbitrary<BodyPart> {
  const { operation } = endpoint;
  if (!operation.body && !operation.actions) return fc.constant({});
  const entity = key ?? operation.body?.key ?? undefined;
  const wrapped = around(endpoint.body, { ids, fitting }, entity).map(
    (value) => (entity === undefined ? value : { [entity]: value }) as Json,
  );
  const usual = samples.length > 0 ? fc.constantFrom(...samples).map((body) => asAction(body, key)) : wrapped;
  return fc.oneof(
    { weight: 4, arbitrary: usual.map((body) => ({ body })) },
    { weight: 9, arbitrary: usual.chain(changed).map((body) => ({ body })) },
    { weight: 4, arbitrary: wrapped.map((body) => ({ body })) },
    { weight: 1, arbitrary: broken },
  );
}

/** Recorded bodies of an operation, made to speak of the world's things. */
export function sampleBodies(operation: Operation, samples: readonly RecordedRequest[]): Json[] {
  const bodies = samples.flatMap(({ body }) => (body === undefined ? [] : [body]));
  const fitted = bodies
    .map((body) => ours(operation.actions ? body : fittingPath(operation, body))!)
    .map((body) => (ofAHost.has(operation.id) ? elsewhere(body) : body));
  return [...new Map(fitted.map((body) => [JSON.stringify(body), body])).values()].slice(0, MOST_SAMPLES);
}

const MOST_SAMPLES = 24;

/** These would put a host that others use out of service, or keep it busy. */
const ofAHost = new Set(['updateService', 'ensureShares']);

function elsewhere(body: Json): Json {
  return JSON.parse(JSON.stringify(body).replace(/refhost@\w+/g, 'elsewhere@none')) as Json;
}

/** The action's value under the name that it has at the request's version. */
function asAction(body: Json, key: string | undefined): Json {
  return key === undefined || !isObject(body) ? body : { [key]: Object.values(body)[0]! };
}

const broken: fc.Arbitrary<BodyPart> = fc.oneof(
  fc.constantFrom<Json>({}, [], null, 'x', 1, { x: {} }, { share: null }).map((body) => ({ body })),
  fc.constantFrom('', '{', '{"share": ').map((raw_body) => ({
    raw_body,
    headers: { 'Content-Type': 'application/json' },
  })),
);

type Place = readonly (string | number)[];

/** With one value replaced, left out or added. */
function changed(body: Json): fc.Arbitrary<Json> {
  const places = placesIn(body).filter((place) => place.length > 0);
  if (places.length === 0) return oddValue;
  return fc.constantFrom(...places).chain((place) =>
    fc.oneof(
      { weight: 5, arbitrary: oddValue.map((value) => withValue(body, place, value)) },
      { weight: 2, arbitrary: fc.constant(withValue(body, place, undefined)) },
      {
        weight: 2,
        arbitrary: fc
          .tuple(fc.constantFrom('x', 'id', 'name', 'description', ...Object.keys(fitting)), oddValue)
          .map(([name, value]) => withValue(body, [...place.slice(0, -1), name], value)),
      },
    ),
  );
}

function placesIn(value: Json, place: Place = []): Place[] {
  if (value === null || typeof value !== 'object') return [place];
  return [place, ...Object.entries(value).flatMap(([key, item]) => placesIn(item, [...place, key]))];
}

/** A copy with another value at a place; undefined takes it away. */
export function withValue(body: Json, [step, ...rest]: Place, value: Json | undefined): Json {
  if (step === undefined) return value!;
  if (body === null || typeof body !== 'object') return body;
  const copy = (Array.isArray(body) ? [...body] : { ...body }) as JsonObject;
  const next = rest.length > 0 ? withValue(copy[step] ?? {}, rest, value) : value;
  if (next === undefined) {
    if (Array.isArray(copy)) copy.splice(Number(step), 1);
    else delete copy[step];
  } else copy[step] = next;
  return copy;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
