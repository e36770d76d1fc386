import { type Answer, compareAnswer } from './comparison.ts';
import { seesAllProjects } from './crossing.ts';
import { KnownItems, sortKeyOf } from './ordering.ts';
import type { Exchange, Json, RecordedRequest } from './recordings.ts';
import type { ReplayState } from './values.ts';

const VERSION = { 'X-OpenStack-Manila-API-Version': '2.99', Vary: 'X-OpenStack-Manila-API-Version' };
const get: RecordedRequest = { method: 'GET', path: '/v2/x', version: '2.99', as: 'demo' };

function recorded(
  body: Json,
  status = 200,
  request = get,
  captures: Record<string, string> | null = null,
): Exchange {
  return { n: 1, request, response: { status, captures, body, headers: VERSION } };
}

function answered(body: Json, status = 200, headers: Answer['headers'] = {}): Answer {
  const version = { 'x-openstack-manila-api-version': '2.99', vary: 'X-OpenStack-Manila-API-Version' };
  return { status, headers: { ...version, ...headers }, body };
}

function replayState(bindings: Record<string, string> = {}, path = '/v2/x'): ReplayState {
  return {
    bindings: new Map(Object.entries({ endpoint: 'http://h', ...bindings })),
    known: new KnownItems(),
    sortKey: sortKeyOf(path),
    swaps: new Map(),
    chances: [],
  };
}

function paths(exchange: Exchange, answer: Answer, state = replayState()): string[] {
  return compareAnswer(exchange, answer, state).map(({ path }) => path);
}

describe('an answer as a whole', () => {
  test('status, version headers and fault name count', () => {
    const fault = { badRequest: { code: 400, message: 'one text' } };
    const exchange = recorded(fault, 400);
    expect(paths(exchange, answered({ badRequest: { code: 400, message: 'another' } }, 400))).toEqual([]);
    expect(paths(exchange, answered(fault, 404))).toContain('status');
    expect(paths(exchange, answered({ itemNotFound: { code: 400, message: '' } }, 400))).toContain(
      '$.badRequest',
    );
    const newer = answered(fault, 400, { 'x-openstack-manila-api-version': '2.98' });
    expect(paths(exchange, newer)).toEqual(['header X-OpenStack-Manila-API-Version']);
    const experimental = answered(fault, 400, { 'x-openstack-manila-api-experimental': 'True' });
    expect(paths(exchange, experimental)).toEqual(['header X-OpenStack-Manila-API-Experimental']);
  });

  test('Vary may name more headers', () => {
    const more = answered({}, 200, { vary: 'Origin, X-OpenStack-Manila-API-Version' });
    expect(paths(recorded({}), more)).toEqual([]);
    expect(paths(recorded({}), answered({}, 200, { vary: 'Origin' }))).toEqual(['header Vary']);
  });

  test('where the reference broke down, any well-formed answer below 500 will do', () => {
    const exchange = recorded({ computeFault: { code: 500, message: '' } }, 500);
    expect(paths(exchange, answered({ share: {} }, 200))).toEqual([]);
    expect(paths(exchange, answered({ badRequest: { code: 400, message: '' } }, 400))).toEqual([]);
    expect(paths(exchange, answered({ oops: 1 }, 400))).toEqual(['$']);
    const broken = answered(exchange.response.body, 500);
    expect(paths(exchange, broken)).toEqual(['status']);
    expect(compareAnswer(exchange, broken, replayState(), { reference: true })).toEqual([]);
  });

  test('captured ids are bound, wherever the item stands', () => {
    const exchange = recorded(
      {
        export_locations: [
          { id: '{{one}}', preferred: true },
          { id: '{{two}}', preferred: false },
        ],
      },
      200,
      get,
      { one: 'export_locations[0].id', two: 'export_locations[1].id' },
    );
    const state = replayState();
    const swapped = [
      { id: 'b', preferred: false },
      { id: 'a', preferred: true },
    ];
    expect(paths(exchange, answered({ export_locations: swapped }), state)).toEqual([]);
    expect([state.bindings.get('one'), state.bindings.get('two')]).toEqual(['a', 'b']);
  });

  test('a captured id that did not come is a difference', () => {
    const exchange = recorded({ share: { id: '{{share_1}}' } }, 200, get, { share_1: 'share.id' });
    expect(paths(exchange, answered({ share: {} }))).toEqual(['$.share.id', '$.share.id']);
  });
});

describe('values', () => {
  const share = { id: '{{share_1}}', size: 1, created_at: '<timestamp>', host: 'alpha', progress: null };
  const compare = (expected: Json, got: Json) =>
    paths(recorded({ share: expected }), answered({ share: got }));

  test('volatile ones count by their type', () => {
    const got = { id: 'x', size: 1, created_at: '2026-01-01T00:00:00.000000', host: 'beta', progress: null };
    expect(compare(share, got)).toEqual([]);
    expect(compare(share, { ...got, host: null })).toEqual(['$.share.host']);
    expect(compare(share, { ...got, created_at: 5 })).toEqual(['$.share.created_at']);
    expect(compare(share, { ...got, size: 2 })).toEqual(['$.share.size']);
    expect(compare(share, { ...got, size: '1' })).toEqual(['$.share.size']);
  });

  test('missing and additional keys count', () => {
    expect(compare({ a: 1 }, { b: 1 })).toEqual(['$.share.a', '$.share.b']);
  });

  test('a time is a time', () => {
    expect(
      compare({ scheduled_to_be_deleted_at: '<timestamp>' }, { scheduled_to_be_deleted_at: 'soon' }),
    ).toHaveLength(1);
  });

  test('ids hang together', () => {
    const links = { id: '{{share_1}}', links: [{ href: '{{endpoint}}/v2/shares/{{share_1}}' }] };
    expect(compare(links, { id: 'x', links: [{ href: 'http://h/v2/shares/x' }] })).toEqual([]);
    expect(compare(links, { id: 'x', links: [{ href: 'http://h/v2/shares/y' }] })).toEqual([
      '$.share.links[0].href',
    ]);
  });

  test('a state may have moved on, with what goes along', () => {
    const creating = { status: 'creating', progress: null, size: 1 };
    expect(compare(creating, { status: 'available', progress: '100%', size: 1 })).toEqual([]);
    expect(compare(creating, { status: 'available', progress: '100%', size: 2 })).toEqual(['$.share.size']);
    expect(compare({ status: 'available' }, { status: 'creating' })).toEqual(['$.share.status']);
    expect(compare({ state: 'queued_to_apply' }, { state: 'active' })).toEqual([]);
    expect(compare({ state: 'active' }, { state: 'error' })).toEqual(['$.share.state']);
  });

  test('what a recording holds by chance may be any of its values', () => {
    const state = replayState();
    state.chances = [
      { n: [1], of: { to: ['x'] }, fields: ['state'], values: ['active', 'error'], reason: '' },
    ];
    const exchange = recorded({ rule: { to: 'x', state: 'error' } });
    expect(paths(exchange, answered({ rule: { to: 'x', state: 'active' } }), state)).toEqual([]);
    expect(paths(exchange, answered({ rule: { to: 'x', state: 'odd' } }), state)).toEqual(['$.rule.state']);
    const other = recorded({ rule: { to: 'y', state: 'error' } });
    expect(paths(other, answered({ rule: { to: 'y', state: 'active' } }), state)).toEqual(['$.rule.state']);
  });
});

describe('lists that have no order', () => {
  const compare = (expected: Json, got: Json, bindings = {}) =>
    paths(recorded({ pools: expected }), answered({ pools: got }), replayState(bindings));

  test('items are matched by content', () => {
    expect(compare([{ name: 'a' }, { name: 'b' }], [{ name: 'b' }, { name: 'a' }])).toEqual([]);
    expect(compare(['x', 'y'], ['y', 'x'])).toEqual([]);
  });

  test('known ids choose their items before new ones do', () => {
    const expected = [
      { id: '{{new}}', n: 1 },
      { id: '{{old}}', n: 1 },
    ];
    expect(
      compare(
        expected,
        [
          { id: 'o', n: 1 },
          { id: 'x', n: 1 },
        ],
        { old: 'o' },
      ),
    ).toEqual([]);
  });

  test('the nearest item tells what differs', () => {
    const expected = [
      { name: 'a', size: 1 },
      { name: 'b', size: 2 },
    ];
    expect(
      compare(expected, [
        { name: 'b', size: 3 },
        { name: 'a', size: 1 },
      ]),
    ).toEqual(['$.pools[0].size']);
  });

  test('missing and additional items count', () => {
    expect(compare([{ name: 'a' }, { name: 'b' }], [{ name: 'a' }])).toEqual(['$.pools[]']);
    expect(compare([], [{ name: 'a' }])).toEqual(['$.pools[0]']);
  });
});

describe('lists that a client sorts', () => {
  const ids = { share_1: 'one', share_2: 'two', share_3: 'three' };
  const items = (...names: string[]) => names.map((id) => ({ id }));
  const shares = (...numbers: number[]) => numbers.map((number) => ({ id: `{{share_${number}}}` }));

  function compare(expected: Json, got: Json, times: Record<string, string>, path = '/v2/shares'): string[] {
    const state = replayState(ids, path);
    state.known.remember(Object.entries(times).map(([id, created_at]) => ({ id, created_at, size: 1 })));
    const request = { ...get, path };
    return paths(recorded({ shares: expected }, 200, request), answered({ shares: got }), state);
  }

  test('order counts when the sort key tells items apart', () => {
    const times = { one: '10:00', two: '10:01' };
    expect(compare(shares(2, 1), items('two', 'one'), times)).toEqual([]);
    expect(compare(shares(2, 1), items('one', 'two'), times)).toEqual(['$.shares[0].id', '$.shares[1].id']);
  });

  test('ties fall anywhere', () => {
    expect(compare(shares(2, 1), items('one', 'two'), { one: '10:00', two: '10:00' })).toEqual([]);
    const times = { one: '10:00', two: '10:01' };
    expect(compare(shares(2, 1), items('one', 'two'), times, '/v2/shares?sort_key=size')).toEqual([]);
  });

  test('a tie may bring another item onto a page, and into the link to the next', () => {
    const state = replayState(ids, '/v2/shares?limit=1');
    state.known.remember([
      { id: 'one', created_at: 'now' },
      { id: 'two', created_at: 'now' },
    ]);
    const page = (item: string, marker: string): Json => ({
      shares: [{ id: item }],
      shares_links: [{ href: `http://h/v2/shares?limit=1&marker=${marker}`, rel: 'next' }],
    });
    const exchange = recorded(page('{{share_2}}', '{{share_2}}'), 200, {
      ...get,
      path: '/v2/shares?limit=1',
    });
    expect(paths(exchange, answered(page('one', 'one')), state)).toEqual([]);
    expect(paths(exchange, answered(page('one', 'three')), { ...state, swaps: new Map() })).toHaveLength(1);
  });

  test('the number of items counts', () => {
    expect(compare(shares(2, 1), items('two'), {})).toEqual(['$.shares[1]']);
    expect(compare(shares(2), items('two', 'one'), {})).toEqual(['$.shares[1]']);
  });
});

describe('views across projects', () => {
  const request = { ...get, as: 'admin', path: '/v2/shares?all_tenants=1' };
  const compare = (expected: Json, got: Json) =>
    paths(recorded({ shares: expected }, 200, request), answered({ shares: got }));

  test('are recognised', () => {
    expect(seesAllProjects(request)).toBe(true);
    expect(seesAllProjects({ ...request, as: 'demo' })).toBe(false);
    expect(seesAllProjects({ ...request, path: '/v2/snapshots?share_id={{share_1}}&all_tenants=1' })).toBe(
      false,
    );
    expect(seesAllProjects({ ...get, path: '/v2/types?is_public=all' })).toBe(true);
    expect(seesAllProjects({ ...get, path: '/v2/types/default' })).toBe(false);
    expect(seesAllProjects({ ...get, path: '/v2/os-services' })).toBe(true);
  });

  test('only fields count', () => {
    expect(
      compare(
        [{ id: 'a', n: 1 }],
        [
          { id: 'b', n: 2 },
          { id: 'c', n: null },
        ],
      ),
    ).toEqual([]);
    expect(compare([{ id: 'a', n: 1 }], [{ id: 'b' }])).toEqual(['$.shares[0].n']);
    expect(compare([{ id: 'a' }], [{ id: 'b', n: 1 }])).toEqual(['$.shares[0].n']);
    expect(compare([{ n: 1 }], [{ n: 'x' }])).toEqual(['$.shares[0].n']);
    expect(compare([{ metadata: { a: 'b' } }], [{ metadata: {} }])).toEqual([]);
    expect(compare([{ id: 'a' }], [])).toEqual(['$.shares']);
  });

  test('types are compared by their names', () => {
    const types = (body: Json) => recorded({ share_types: body }, 200, { ...get, path: '/v2/types' });
    const state = replayState();
    const mine = { id: '{{type_1}}', name: 'default', is_default: true };
    const others = { id: 'o', name: 'other', is_default: false };
    const got = { id: 'd', name: 'default', is_default: true };
    expect(paths(types([mine]), answered({ share_types: [others, got] }), state)).toEqual([]);
    expect(state.bindings.get('type_1')).toBe('d');
    const changed = answered({ share_types: [others, { ...got, is_default: false }] });
    expect(paths(types([mine]), changed, state)).toEqual(['$.share_types[1].is_default']);
  });
});
