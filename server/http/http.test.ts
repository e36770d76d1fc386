import { Fault, fault } from '#domain/faults.ts';
import { nextLinks, readOrder, readPage } from '#domain/paging.ts';
import { operations } from '#generated/operations.ts';
import * as validators from '#generated/validators.js';
import { faultBody } from './faults.ts';
import { narrow } from './narrowing.ts';
import { type Viewer, writeAnswer } from './projection.ts';
import { matchPath, paramsFor } from './router.ts';
import { readVersion } from './version.ts';

describe('the version header', () => {
  test.each([
    [undefined, 0],
    ['2.0', 0],
    ['2.99', 99],
  ])('%s is minor version %i', (header, minor) => expect(readVersion(header)).toBe(minor));

  test.each(['', '2', '2.x', 'latest', '2.1.1', '02.5', '2.05', ' 2.1', '2.1 ', '-2.1'])(
    '%j is malformed: 400',
    (header) => {
      expect(() => readVersion(header)).toThrow(expect.objectContaining({ status: 400 }));
    },
  );

  test.each(['2.100', '3.0', '1.0', '99999999999.1'])('%s is out of range: 406 with the range', (header) => {
    expect(() => readVersion(header)).toThrow(
      expect.objectContaining({ status: 406, message: expect.stringMatching(/2\.0.*2\.99/) }),
    );
  });
});

describe('the router', () => {
  const at = (method: string, path: string) => matchPath(method, path.split('/').slice(1));

  test('finds every operation by each of its paths', () => {
    for (const operation of Object.values(operations)) {
      for (const { path } of operation.paths) {
        const match = at(operation.method, path.replace(/\{\w+\}/g, 'some-id'));
        const candidate = match?.candidates.find((each) => each.operation === operation);
        expect(candidate).toBeDefined();
        const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        expect(Object.keys(paramsFor(match!, candidate!))).toEqual(names);
      }
    }
  });

  test('prefers literal segments to parameters', () => {
    expect(at('GET', '/shares/detail')!.candidates[0]!.operation!.id).toBe('listSharesDetail');
    expect(at('GET', '/shares/abc')!.candidates[0]!.operation!.id).toBe('getShare');
  });

  test.each([
    ['GET', '/nothing'],
    ['PATCH', '/shares'],
    ['GET', '/shares/'],
    ['GET', '/shares/a/b/c/d'],
  ])('%s %s leads nowhere', (method, path) => expect(at(method, path)).toBeUndefined());
});

describe('projection', () => {
  const viewer = (version: number, admin = false): Viewer => ({
    version,
    links: { self: 'http://s/v2', bookmark: 'http://s' },
    sees: () => admin,
  });
  const share = {
    id: 'x',
    name: 'n',
    share_type: 'type-id',
    share_type_name: 'type-name',
    host: 'h@b#p',
    access_rules_status: 'syncing',
    size: 1,
  };
  const shown = (version: number, admin?: boolean) =>
    (
      JSON.parse(writeAnswer(operations.getShare, { share }, viewer(version, admin))) as {
        share: Record<string, unknown>;
      }
    ).share;

  test('fields come and change with the version', () => {
    expect(shown(5)).toMatchObject({ share_type: 'type-name' });
    expect(shown(5)).not.toHaveProperty('share_type_name');
    expect(shown(6)).toMatchObject({ share_type: 'type-id', share_type_name: 'type-name' });
    expect(shown(8)).toHaveProperty('volume_type', 'type-name');
  });

  test('values are told as the version knows them', () => {
    expect(shown(20)).toHaveProperty('access_rules_status', 'out_of_sync');
    expect(shown(28)).toHaveProperty('access_rules_status', 'syncing');
  });

  test('what is for admins is only for them', () => {
    expect(shown(99)).not.toHaveProperty('host');
    expect(shown(99, true)).toHaveProperty('host', 'h@b#p');
  });

  test('lists, counts and what stands under two keys are written whole', () => {
    const list = writeAnswer(
      operations.listShares,
      { shares: [share, { ...share, id: 'y' }], count: 2 },
      viewer(99),
    );
    expect(JSON.parse(list)).toMatchObject({ shares: [{ id: 'x' }, { id: 'y' }], count: 2 });
    expect(writeAnswer(operations.listShares, { shares: [] }, viewer(99))).toBe('{"shares":[]}');
    const types = JSON.parse(
      writeAnswer(operations.listShareTypes, { share_types: [{ id: 't', name: 'n' }] }, viewer(99)),
    );
    expect(types.volume_types).toEqual(types.share_types);
    expect(writeAnswer(operations.deleteShare, undefined, viewer(99))).toBe('');
  });

  test('links lead to the share', () => {
    expect(shown(99).links).toEqual([
      { rel: 'self', href: 'http://s/v2/shares/x' },
      { rel: 'bookmark', href: 'http://s/shares/x' },
    ]);
  });
});

test('only statuses that are set by hand may be set, of a share and of an instance', () => {
  for (const validate of [
    validators.v_resetShareStatus_body_0,
    validators.v_resetShareInstanceStatus_body_0,
  ]) {
    for (const status of ['error', 'migrating', 'available']) expect(validate({ status })).toBe(true);
    for (const status of ['extending', 'inactive', 'bad', '', 7]) expect(validate({ status })).toBe(false);
  }
});

test('a request is cut to its version', () => {
  const asked = { share_proto: 'NFS', size: 1, mount_point_name: 'm', unknown: 1 };
  expect(narrow('ShareCreate', asked, 83)).toEqual({ share_proto: 'NFS', size: 1 });
  expect(narrow('ShareCreate', asked, 84)).toEqual({ share_proto: 'NFS', size: 1, mount_point_name: 'm' });
});

describe('pages', () => {
  test.each([
    [{}, { limit: null, offset: 0 }],
    [
      { limit: '5', offset: '2' },
      { limit: 5, offset: 2 },
    ],
    [{ limit: '5000' }, { limit: 1000, offset: 0 }],
  ])('%j is %j', (query, page) => expect(readPage(query, 1000)).toEqual(page));

  test.each([{ limit: '-1' }, { limit: 'x' }, { offset: '-1' }, { offset: '1.5' }, { limit: '' }])(
    '%j is refused',
    (query) => {
      expect(() => readPage(query, 1000)).toThrow(Fault);
    },
  );

  test.each([{ sort_key: 'bogus' }, { sort_dir: 'sideways' }])('%j is refused', (query) => {
    expect(() => readOrder(query, ['created_at'])).toThrow(Fault);
  });

  test('the direction is read in either case', () => {
    expect(readOrder({ sort_dir: 'ASC' }, ['created_at'])).toEqual({ key: 'created_at', direction: 'asc' });
  });

  test('a full page tells where the next one is, a short one does not', () => {
    const request = { links: { self: 'http://s/v2/p' }, url: '/v2/p/shares?limit=2&marker=old&name=a%20b' };
    expect(nextLinks(request, 'shares', [{ id: 1 }, { id: 2 }], 1000)).toEqual([
      { rel: 'next', href: 'http://s/v2/p/shares?limit=2&name=a+b&marker=2' },
    ]);
    expect(nextLinks(request, 'shares', [{ id: 1 }], 1000)).toBeUndefined();
    expect(nextLinks({ ...request, url: '/v2/shares?limit=0' }, 'shares', [], 1000)).toBeUndefined();
  });
});

test.each([
  [fault('notFound'), 'itemNotFound', 404],
  [fault('forbidden', { action: 'x' }), 'forbidden', 403],
  [fault('conflict', { reason: 'r' }), 'conflictingRequest', 409],
  [fault('unprocessable', { key: 'share' }), 'computeFault', 422],
  [fault('unacceptableVersion', {}), 'computeFault', 406],
  [fault('shareNotFound', { id: 'x' }, 400), 'badRequest', 400],
])('%s is named %s', (refusal, name, code) => {
  expect(JSON.parse(faultBody(refusal))).toEqual({ [name]: { code, message: refusal.message } });
});

test('a full quota says when to come back', () => {
  const body = JSON.parse(
    faultBody(fault('overQuota', { resource: 'shares', requested: 1, used: 50, limit: 50 })),
  );
  expect(body.overLimit).toMatchObject({ code: 413, retryAfter: '0' });
});
