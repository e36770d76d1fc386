import { statesAfterPromotion } from './shareReplicas.ts';

const replicas = [
  { id: 'a', replicaState: 'active' },
  { id: 'b', replicaState: 'in_sync' },
  { id: 'c', replicaState: 'error' },
];

test.each([
  [
    'all are told of',
    { a: 'in_sync', b: 'active', c: 'out_of_sync' },
    'readable',
    ['in_sync', 'active', 'out_of_sync'],
  ],
  ['nothing is told', {}, 'readable', ['out_of_sync', 'active', 'error']],
  ['nothing is told, and all are written to', {}, 'writable', ['active', 'active', 'error']],
])('states after a promotion when %s', (_, told, type, states) => {
  const after = statesAfterPromotion(replicas, 'b', new Map(Object.entries(told)), type);
  expect([...after.values()]).toEqual(states);
});
