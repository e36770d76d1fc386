import { fillTemplate } from './mount.ts';

const template = 'mount -vt %(proto)s %(options)s %(export)s %(path)s';

test.each([
  ['', ['mount', '-vt', 'nfs', 'host:/a b', '/tmp/x']],
  ['-o vers=4.2', ['mount', '-vt', 'nfs', '-o', 'vers=4.2', 'host:/a b', '/tmp/x']],
])('options %j are words of their own, or none', (options, words) => {
  expect(fillTemplate(template, { proto: 'nfs', options, export: 'host:/a b', path: '/tmp/x' })).toEqual(
    words,
  );
});
