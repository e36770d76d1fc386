import { endpoints } from '../properties/endpoints.ts';
import type { Answer } from '../replayer/comparison.ts';
import type { Json, RecordedRequest } from '../replayer/recordings.ts';
import { namesIn } from '../replayer/templating.ts';
import { withValue } from './bodies.ts';
import { drawRequests } from './draw.ts';
import { type Explanation, explanationOf, loadExplanations, requestText } from './explained.ts';
import { readPage, withTables } from './page.ts';
import { differencesOf } from './shapes.ts';
import { stepsFor, thingsFor } from './things.ts';

const endpoint = (id: string) => endpoints.find(({ operation }) => operation.id === id)!;

describe('drawing', () => {
  test('the same seed draws the same requests', () => {
    const first = drawRequests(endpoint('createShare'), 7, 20);
    expect(first).toHaveLength(20);
    expect(drawRequests(endpoint('createShare'), 7, 20)).toEqual(first);
    expect(drawRequests(endpoint('createShare'), 8, 20)).not.toEqual(first);
  });

  test.each(endpoints.map((each) => [each.operation.id, each] as const))(
    '%s: all that requests speak of can be made',
    (_id, each) => {
      for (const request of drawRequests(each, 1, 20)) {
        expect(request.method).toBe(each.operation.method);
        const names = new Set([...namesIn(request.path), ...namesIn(request.body)]);
        expect(() => stepsFor(names)).not.toThrow();
      }
    },
  );

  test('no host that others use is put out of service', () => {
    for (const id of ['updateService', 'ensureShares'])
      for (const request of drawRequests(endpoint(id), 1, 200))
        expect(requestText(request)).not.toMatch(/refhost/);
  });

  test('a value at a place is replaced, taken away or added', () => {
    const body: Json = { a: { b: [1, 2] } };
    expect(withValue(body, ['a', 'b', 0], null)).toEqual({ a: { b: [null, 2] } });
    expect(withValue(body, ['a', 'b', 0], undefined)).toEqual({ a: { b: [2] } });
    expect(withValue(body, ['a', 'c'], 'x')).toEqual({ a: { b: [1, 2], c: 'x' } });
    expect(body).toEqual({ a: { b: [1, 2] } });
  });
});

test('a thing is made with what it hangs on, and nothing else', () => {
  expect(thingsFor(new Set(['snapshot_1', 'project_demo']))).toEqual(
    new Set(['snapshot_1', 'share_1', 'type_1']),
  );
  const paths = stepsFor(new Set(['share_1'])).map(([, { request }]) => `${request.method} ${request.path}`);
  expect(paths).toEqual(['POST /v2/types', 'POST /v2/shares', 'GET /v2/shares/{{share_1}}']);
});

describe('comparing', () => {
  const get: RecordedRequest = { method: 'GET', path: '/v2/shares/detail', version: '2.99', as: 'demo' };
  const answer = (status: number, body: Json, headers = {}): Answer => ({ status, body, headers });
  const differ = (reference: Answer, shoal: Answer, request = get) =>
    differencesOf(request, { reference, shoal });

  test('values do not count', () => {
    const shares = (name: string) =>
      answer(200, { shares: [{ id: name, size: 1, metadata: { [name]: 'b' } }] });
    expect(differ(shares('a'), shares('b'))).toEqual([]);
  });

  test('status, fault and version headers', () => {
    expect(differ(answer(202, null), answer(400, null))).toEqual(['status: 202, Shoal 400']);
    const fault = (name: string, more = {}) => answer(400, { [name]: { code: 400, message: 'm', ...more } });
    expect(differ(fault('badRequest'), fault('badRequest'))).toEqual([]);
    expect(differ(fault('badRequest'), fault('computeFault', { x: 1 }))).toEqual([
      'fault: badRequest {code, message}, Shoal computeFault {code, message, x}',
    ]);
    const version = { 'x-openstack-manila-api-version': '2.5' };
    expect(differ(answer(204, null, version), answer(204, null))).toEqual([
      'header x-openstack-manila-api-version: 2.5, Shoal none',
    ]);
  });

  test('keys, fields of items and their types', () => {
    const theirs = answer(200, { shares: [{ id: 'a', size: 1, host: null }], next: 'x' });
    const ours = answer(200, { shares: [{ id: 'a', size: '1', more: 1, host: 'h' }] });
    expect(differ(theirs, ours).sort()).toEqual([
      'next: missing in Shoal',
      'shares[].host: null, Shoal string',
      'shares[].more: only in Shoal',
      'shares[].size: integer, Shoal string',
    ]);
  });

  test('what was just made may not be settled yet', () => {
    const post = { ...get, method: 'POST' };
    const made = (host: Json) => answer(200, { share: { host } });
    expect(differ(made(null), made('h'), post)).toEqual([]);
    expect(differ(made(null), made('h'))).toEqual(['share.host: null, Shoal string']);
  });

  test('how long a list is, unless it shows what everybody has', () => {
    const list = (...shares: Json[]) => answer(200, { shares });
    expect(differ(list(), list({ id: 'a' }))).toEqual(['shares: Shoal has more items']);
    const all = { ...get, path: '/v2/shares/detail?all_tenants=1', as: 'admin' };
    expect(differ(list(), list({ id: 'a' }), all)).toEqual([]);
  });
});

describe('explaining', () => {
  const request: RecordedRequest = { method: 'GET', path: '/v2/x?sort_dir=up', version: '2.10', as: 'demo' };
  const difference = { operation: 'listX', request, what: 'status: 200, Shoal 400', answer: '{"a":1}' };
  const row: Explanation = { operations: ['listX'], differs: 'status: 200, Shoal 4..', reason: 'r' };

  test('by operation, what differs, request, version and who asks', () => {
    const fits = (more: Partial<Explanation>) =>
      explanationOf(difference, [{ ...row, ...more }]) !== undefined;
    expect(fits({})).toBe(true);
    expect(fits({ operations: '*' })).toBe(true);
    expect(fits({ operations: ['other'] })).toBe(false);
    expect(fits({ differs: 'status: 200' })).toBe(false);
    expect(fits({ when: 'sort_dir=' })).toBe(true);
    expect(fits({ when: 'sort_key=' })).toBe(false);
    expect(fits({ says: '"a":1' })).toBe(true);
    expect(fits({ says: '"b"' })).toBe(false);
    expect(fits({ versions: '2.0-2.10' })).toBe(true);
    expect(fits({ versions: '2.11-2.99' })).toBe(false);
    expect(fits({ as: ['admin'] })).toBe(false);
  });

  test('every explanation is of operations that are there', () => {
    const ids = new Set<string>(endpoints.map(({ operation }) => operation.id));
    for (const { operations, reason } of loadExplanations()) {
      expect(reason).toMatch(/\w{3}/);
      if (operations !== '*') for (const id of operations) expect(ids).toContain(id);
    }
  });

  test('docs/differences.md says them', () => {
    const page = readPage();
    // Tables are aligned by the formatter.
    const plain = (text: string) => text.replace(/ +/g, ' ').replace(/-{3,}/g, '---');
    expect(plain(withTables(page))).toBe(plain(page));
  });
});
