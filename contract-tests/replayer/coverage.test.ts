import { type Coverage, isOperation, leftOut } from './coverage.ts';
import type { Exchange, RecordedRequest } from './recordings.ts';

function exchange(
  n: number,
  request: RecordedRequest,
  captures: Record<string, string> | null = null,
): Exchange {
  return { n, request, response: { status: 200, captures, body: null, headers: {} } };
}

test('an operation is recognised with project, query, action and names in its path', () => {
  const show = { method: 'GET', path: '/share-networks/{id}' };
  expect(isOperation(show, { method: 'GET', path: '/v2/share-networks/{{share_network_1}}?a=b' })).toBe(true);
  expect(isOperation(show, { method: 'GET', path: '/v2/{{project_demo}}/share-networks/x' })).toBe(true);
  expect(isOperation(show, { method: 'GET', path: '/v2/share-networks' })).toBe(false);
  expect(isOperation(show, { method: 'DELETE', path: '/v2/share-networks/x' })).toBe(false);
  const start = { method: 'POST', path: '/shares/{id}/action', action: 'migration_start' };
  const path = '/v2/shares/x/action';
  expect(isOperation(start, { method: 'POST', path, body: { migration_start: {} } })).toBe(true);
  expect(isOperation(start, { method: 'POST', path, body: { extend: {} } })).toBe(false);
  expect(isOperation(start, { method: 'POST', path })).toBe(false);
});

test('what hangs on an operation that is not covered is left out too', () => {
  const coverage: Coverage = {
    notCovered: [{ method: 'POST', path: '/resource-locks' }],
    hidden: { locks: [{ n: [3], on: [2], reason: 'the share is locked' }] },
  };
  const share = '/v2/shares/{{share_1}}';
  const exchanges = [
    exchange(1, { method: 'POST', path: '/v2/shares' }, { share_1: 'share.id' }),
    exchange(2, { method: 'POST', path: '/v2/resource-locks' }, { lock_1: 'resource_lock.id' }),
    exchange(3, { method: 'DELETE', path: share }),
    exchange(4, { method: 'GET', path: '/v2/resource-locks/{{lock_1}}' }),
    exchange(5, { method: 'DELETE', path: share }),
  ];
  const reasons = leftOut({ name: 'locks', exchanges }, coverage);
  expect([...reasons.keys()]).toEqual([2, 3, 4]);
  expect(reasons.get(3)).toContain('the share is locked');
  expect(leftOut({ name: 'locks', exchanges }, { ...coverage, notCovered: [] }).size).toBe(0);
});
