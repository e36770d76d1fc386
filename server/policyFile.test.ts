import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadEnforcer, PolicyFileError } from './policyFile.ts';

const directory = mkdtempSync(join(tmpdir(), 'shoal-policy-'));
afterAll(() => rmSync(directory, { recursive: true }));
function file(text: string): string {
  const path = join(directory, `${Math.random()}.yaml`);
  writeFileSync(path, text);
  return path;
}
const member = { userId: 'u', projectId: 'p', roles: ['member'], isAdmin: false };

test('overrides count, the rest stays', () => {
  const enforcer = loadEnforcer(file('# ours\n"share:create": "role:operator"\n'));
  expect(enforcer.allows('share:create', member, { project_id: 'p' })).toBe(false);
  expect(enforcer.allows('share:delete', member, { project_id: 'p' })).toBe(true);
});

test('a file that is named but not there is refused by its name and that of the option', () => {
  expect(() => loadEnforcer(join(directory, 'none'))).toThrow(
    new PolicyFileError(`${directory}/none: does not exist (named by [oslo_policy] policy_file)`),
  );
});

test('names without a colon are rules to refer to; a policy that there is none of is refused with what was meant', () => {
  const enforcer = loadEnforcer(file('operators: "role:operator"\n"share:get": "rule:operators"\n'));
  expect(enforcer.allows('share:get', member, { project_id: 'p' })).toBe(false);
  expect(() => loadEnforcer(file('"share:get": "@"\n"share:gett": "!"\n'))).toThrow(
    /\.yaml:2: there is no policy share:gett; is share:get meant\?$/,
  );
});

test('no file is no override', () => {
  expect(loadEnforcer(null).allows('share:create', member, { project_id: 'p' })).toBe(true);
});

test.each([
  ['a: b\n"share:get": [1]\n', 2],
  ['"share:get": "role:a and"\n', 1],
  ['\n\n"share:get": "rule:nowhere"\n', 3],
  ['"share:get": "role:a\n', 1],
  ['"share:get": "role:a"\n"share:get": "role:b"\n', 2],
  ['- a\n', 1],
])('%j is refused naming line %i', (text, line) => {
  const path = file(text);
  expect(() => loadEnforcer(path)).toThrow(PolicyFileError);
  expect(() => loadEnforcer(path)).toThrow(
    new RegExp(`^${path.replaceAll('.', '\\.')}:(${line}|${line + 1}):`),
  );
});

test('a circle of rules is refused', () => {
  expect(() => loadEnforcer(file('x: "rule:y"\ny: "rule:x"\n'))).toThrow(/circle/);
});
