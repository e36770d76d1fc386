/** Requests to one operation that nobody should send. */
import fc from 'fast-check';
import { MAX_VERSION, MIN_VERSION } from '#generated/versions.ts';
import type { Endpoint } from './endpoints.ts';
import { around, jsonText, type Known, likelyText, nastyText, nastyValue } from './values.ts';

export interface BadRequest {
  method: string;
  /** as it goes over the wire: path and query, escaped where need be */
  path: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

/** Whose requests these are, and what is there to be named. */
export interface World extends Known {
  project: string;
  /** ids by the word that comes before them in paths */
  named: Readonly<Record<string, readonly string[]>>;
}

export function requestsTo(endpoint: Endpoint, world: World): fc.Arbitrary<BadRequest> {
  return versionFor(endpoint).chain((version) =>
    fc
      .record({
        path: pathOf(endpoint, version, world),
        query: queryOf(endpoint, world),
        token: tokenOf(world),
        experimental: fc.oneof(
          { weight: 4, arbitrary: fc.constant('true') },
          { weight: 1, arbitrary: headerText },
        ),
        body: bodyOf(endpoint, version, world),
      })
      .map(({ path, query, token, experimental, body }) => ({
        method: endpoint.operation.method,
        path: `/v2${path}${query}`,
        headers: {
          ...(version === null ? {} : { 'X-OpenStack-Manila-API-Version': version }),
          ...(token === null ? {} : { 'X-Auth-Token': token }),
          'X-OpenStack-Manila-API-Experimental': experimental,
          ...(body ? { 'Content-Type': body.type, 'Content-Length': String(body.bytes.length) } : {}),
        },
        body: body?.bytes,
      })),
  );
}

/** Requests to paths made up, or with methods that their path doesn't take. */
export function requestsAnywhere(world: World): fc.Arbitrary<BadRequest> {
  const words = [...Object.keys(world.named), ...world.ids, world.project, 'v2', 'action', 'detail', ''];
  const segment = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...words).map(encoded) },
    { weight: 1, arbitrary: nastyText.map((text) => encoded(text.slice(0, 1_000))) },
    { weight: 1, arbitrary: brokenSegment },
  );
  const root = fc.constantFrom('/v2', '/v2', '/v2', '/v1', '/v3', '');
  return fc
    .record({
      method: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH'),
      root,
      segments: fc.array(segment, { minLength: 1, maxLength: 6 }),
      token: tokenOf(world),
    })
    .map(
      ({ method, root, segments, token }): BadRequest => ({
        method,
        path: [root, ...segments].join('/'),
        headers: token === null ? {} : { 'X-Auth-Token': token },
        body: undefined,
      }),
    );
}

/** What a header can hold. */
const headerText = nastyText.map((text) =>
  text
    .slice(0, 400)
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '?')
    .trim(),
);

const wrongVersions = ['2.100', '2.-1', '1.0', '3.0', '2', '2.', '.1', 'latest', '2.007', '2.1.1', '2,5'];

/** Mostly one at which the operation is there; null: none is sent. */
function versionFor({ operation }: Endpoint): fc.Arbitrary<string | null> {
  const from = (min: number, max: number) => fc.integer({ min, max }).map((minor) => `2.${minor}`);
  return fc.oneof(
    { weight: 16, arbitrary: from(operation.since, operation.until) },
    { weight: 4, arbitrary: from(MIN_VERSION, MAX_VERSION) },
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(...wrongVersions, '9'.repeat(300), '२.५'.replace(/./gu, '?')) },
  );
}

const minorOf = (version: string | null) => Number(/^2\.(\d+)$/.exec(version ?? '2.0')?.[1] ?? Number.NaN);

/** What stood at this version, or all that ever stood. */
function at<T extends { since: number; until: number }>(
  windows: readonly T[],
  version: string | null,
): readonly T[] {
  const minor = minorOf(version);
  const found = windows.filter(({ since, until }) => minor >= since && minor <= until);
  return found.length > 0 ? found : windows;
}

const brokenSegment = fc.constantFrom(
  ...['%', '%zz', '%00', '%ff', '%c0%af', '..', '.', '%2e%2e', '%2F', '.json', ''],
);

function pathOf({ operation }: Endpoint, version: string | null, world: World): fc.Arbitrary<string> {
  const segment = (collection: string) =>
    fc.oneof(
      {
        weight: 20,
        arbitrary: fc.constantFrom(...(world.named[collection] ?? world.ids)).map(encoded),
      },
      { weight: 2, arbitrary: fc.constantFrom(...world.ids).map(encoded) },
      { weight: 2, arbitrary: likelyText(world).map(encoded) },
      { weight: 2, arbitrary: nastyText.map((text) => encoded(text.slice(0, 1_000))) },
      { weight: 1, arbitrary: brokenSegment },
    );
  const prefix = fc.oneof(
    { weight: 6, arbitrary: fc.constant('') },
    { weight: 3, arbitrary: fc.constant(`/${world.project}`) },
    { weight: 1, arbitrary: fc.constantFrom('/0000', '/ffffffffffffffffffffffffffffffff', '/not-hex', '//') },
  );
  return fc.constantFrom(...at(operation.paths, version).map(({ path }) => path)).chain((path) => {
    const parts = path.split(/\{\w+\}/);
    // `/shares/` before a parameter says what it names.
    const collections = parts.slice(0, -1).map((part) => part.split('/').at(-2)!);
    const values = fc.tuple(...collections.map(segment));
    return fc
      .tuple(prefix, values)
      .map(([before, filled]) =>
        [before, ...parts.map((part, i) => part + (i < filled.length ? filled[i]! : ''))].join(''),
      );
  });
}

const encoded = (text: string) => encodeURIComponent(text.toWellFormed());

const usualNames = [
  'limit',
  'offset',
  'marker',
  'sort_key',
  'sort_dir',
  'all_tenants',
  'name',
  'status',
  'metadata',
];

function queryOf({ queryNames, operation }: Endpoint, world: World): fc.Arbitrary<string> {
  const name = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...usualNames, ...queryNames) },
    { weight: 1, arbitrary: nastyText },
  );
  const odd = fc.constantFrom('-1', '0', '1', '99999999999999999999', '1.5', 'x', "{'k': 'v'}");
  const valueFor = (key: string) =>
    fc.oneof(
      { weight: 3, arbitrary: likelyText(world, key) },
      { weight: 2, arbitrary: nastyText },
      { weight: 1, arbitrary: odd },
    );
  const short = (text: string) => encoded(text.slice(0, 1_000)).slice(0, 3_000);
  const pair = name.chain((key) => valueFor(key).map((text) => `${short(key)}=${short(text)}`));
  const pairs = fc
    .array(pair, { minLength: 1, maxLength: 4 })
    .map((all) => `?${all.join('&').slice(0, 8_000)}`);
  const broken = fc.constantFrom(
    '?',
    '?&&&',
    '?=',
    '?a',
    '?%zz=%',
    '?limit=1&limit=2',
    '?limit[]=1',
    '?%00=%00',
  );
  return fc.oneof(
    { weight: operation.method === 'GET' ? 8 : 1, arbitrary: pairs },
    { weight: 1, arbitrary: broken },
    { weight: 3, arbitrary: fc.constant('') },
  );
}

/** Mostly one that is let in; null: none is sent. */
function tokenOf({ project }: World): fc.Arbitrary<string | null> {
  const roles = ['admin,member,reader', 'member,reader', 'reader', '', 'no-such-role'];
  return fc.oneof(
    { weight: 20, arbitrary: fc.constant(`u1:${project}:${roles[0]}`) },
    { weight: 8, arbitrary: fc.constantFrom(...roles).map((role) => `u1:${project}:${role}`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('u1:0:member', 'x', '::', ':::::', 'a:b', `${'x'.repeat(300)}:ab:member`),
    },
    { weight: 1, arbitrary: headerText },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

interface Body {
  type: string;
  bytes: Buffer;
}

function bodyOf(endpoint: Endpoint, version: string | null, world: World): fc.Arbitrary<Body | undefined> {
  const { operation } = endpoint;
  const none = fc.constant(undefined);
  if (operation.method === 'GET' || (operation.method === 'DELETE' && !operation.body)) return none;
  const keys = operation.actions
    ? at(operation.actions, version).map(({ name }) => name)
    : [operation.body?.key ?? null];
  const content = around(endpoint.body, world);
  const whole = fc
    .tuple(fc.constantFrom(...keys), content)
    .map(([key, value]) => json(key === null ? value : { [key]: value }));
  const anything = nastyValue.map(json);
  const raw = fc.oneof(
    fc
      .constantFrom(
        '',
        '{',
        '[',
        '{"a":}',
        'null',
        '"x"',
        '{"share": {"size": 01}}',
        "{'share': {}}",
        '\ufeff{}',
      )
      .map(utf8),
    fc.constant(utf8('{"__proto__": {"polluted": true}, "constructor": {}}')),
    fc.constant(utf8(`${'['.repeat(50_000)}${']'.repeat(50_000)}`)),
    fc.constant(utf8(`{"share": ${'{"a":'.repeat(15_000)}1${'}'.repeat(15_000)}}`)),
    fc.constant(utf8('x'.repeat(120_000))),
    fc.constant(Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  );
  const twice = whole.map((bytes) => utf8(`${bytes.toString().slice(0, -1)}, "second": {}}`));
  const type = fc.oneof(
    { weight: 12, arbitrary: fc.constant('application/json') },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        'text/plain',
        'application/xml',
        'application/json; charset=utf-16',
        'x',
        '',
      ),
    },
  );
  const bytes = fc.oneof(
    { weight: 14, arbitrary: whole },
    { weight: 2, arbitrary: anything },
    { weight: 2, arbitrary: raw },
    { weight: 1, arbitrary: twice },
  );
  return fc.oneof({ weight: 20, arbitrary: fc.record({ type, bytes }) }, { weight: 1, arbitrary: none });
}

const utf8 = (text: string) => Buffer.from(text, 'utf8');
const json = (value: unknown) => utf8(jsonText(value));
