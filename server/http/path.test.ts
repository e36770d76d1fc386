import { segmentsOf, splitUrl } from './path.ts';

test.each([
  ['/v2/shares', ['/v2/shares']],
  ['/v2/shares?a=b?c', ['/v2/shares', 'a=b?c']],
  ['/v2/http://x/y', ['/v2/http://x/y']],
  ['http://127.0.0.1:8786/v2/shares?a=b', ['/v2/shares', 'a=b']],
  ['HTTPS://manila.example?a=b', ['', 'a=b']],
])('%s is %j', (url, parts) => expect(splitUrl(url)).toEqual(parts));

test.each([
  ['/v2', ['v2']],
  ['/v2/', ['v2', '']],
  ['//v2//shares///detail', ['v2', 'shares', 'detail']],
  ['/v2//', ['v2', '']],
  ['/v2/shares/', ['v2', 'shares', '']],
  ['/v2/a%2Fb/%20', ['v2', 'a/b', ' ']],
  ['/v2/a%2F%2Fb', ['v2', 'a//b']],
  ['/v2/%zz', undefined],
  ['/v2/%ff', undefined],
])('%s has the segments %j', (path, segments) => expect(segmentsOf(path)).toEqual(segments));
