import fc from 'fast-check';
import { policies } from '#generated/policies.ts';
import { createEnforcer, PolicyLoopError } from './enforcer.ts';
import { type Credentials, compileRule, PolicySyntaxError } from './parse.ts';

const caller = (roles: string[], over: Partial<Credentials> = {}): Credentials => ({
  userId: 'u1',
  projectId: 'p1',
  roles,
  isAdmin: roles.includes('admin'),
  ...over,
});
const holds = (rule: string, credentials: Credentials, target: Record<string, unknown> = {}) =>
  compileRule(rule, () => undefined)(credentials, target);

test.each([
  ['@', [], {}, true],
  ['', [], {}, true],
  ['!', ['admin'], {}, false],
  ['role:admin', ['admin'], {}, true],
  ['role:ADMIN', ['admin'], {}, true],
  ['role:admin', ['member'], {}, false],
  ['not role:admin', ['member'], {}, true],
  ['role:a or role:b and role:c', ['a'], {}, true],
  ['(role:a or role:b) and role:c', ['a'], {}, false],
  ['role:a and not (role:b or role:c)', ['a'], {}, true],
  ['project_id:%(project_id)s', [], { project_id: 'p1' }, true],
  ['project_id:%(project_id)s', [], { project_id: 'p2' }, false],
  ['project_id:%(project_id)s', [], {}, false],
  ['user_id:%(user_id)s and project_id:%(project_id)s', [], { user_id: 'u1', project_id: 'p1' }, true],
  ['is_admin:True', ['admin'], {}, true],
  ['is_admin:True', ['member'], {}, false],
  ["'true':%(flag)s", [], { flag: 'true' }, true],
  ['True:%(is_public)s', [], { is_public: true }, true],
  ['None:%(group)s', [], { group: null }, true],
  ['domain_id:%(domain_id)s', [], { domain_id: 'd' }, false],
])('%s for roles %j on %j is %s', (rule, roles, target, expected) => {
  expect(holds(rule, caller(roles as string[]), target)).toBe(expected);
});

test.each(['role', 'role:a and', '(role:a', 'role:a)', 'role:a role:b', 'or', 'http://elsewhere/check'])(
  'the rule %j is refused with its text',
  (rule) => {
    expect(() => compileRule(rule, () => undefined)).toThrow(PolicySyntaxError);
    expect(() => compileRule(rule, () => undefined)).toThrow(JSON.stringify(rule).slice(1, -1).split(' ')[0]);
  },
);

test('and binds tighter than or, whatever the nesting', () => {
  const role = fc.constantFrom('a', 'b', 'c');
  fc.assert(
    fc.property(role, role, role, fc.subarray(['a', 'b', 'c']), (x, y, z, roles) => {
      const has = (r: string) => roles.includes(r as never);
      expect(holds(`role:${x} or role:${y} and role:${z}`, caller(roles))).toBe(has(x) || (has(y) && has(z)));
      expect(holds(`(role:${x} or role:${y}) and role:${z}`, caller(roles))).toBe(
        (has(x) || has(y)) && has(z),
      );
    }),
  );
});

describe('the rules in force', () => {
  const enforcer = createEnforcer();
  const own = { project_id: 'p1' };
  const other = { project_id: 'p2' };

  test('every default compiles and refers to rules that are there', () => {
    for (const { check } of Object.values(policies)) {
      for (const [, name] of check.matchAll(/rule:([\w:.-]+)/g))
        expect(Object.keys(policies)).toContain(name);
    }
  });

  test.each([
    ['share:create', ['member'], own, true],
    ['share:create', ['reader'], own, false],
    ['share:get', ['reader'], own, true],
    ['share:get', ['reader'], other, false],
    ['share:get', ['admin'], other, true],
    ['share:force_delete', ['member'], own, false],
    ['share:force_delete', ['admin'], own, true],
    ['context_is_host_admin', ['admin'], other, false],
  ] as const)('%s for %j on %j is %s', (policy, roles, target, expected) => {
    expect(enforcer.allows(policy, caller([...roles]), target)).toBe(expected);
  });

  test('an override replaces the default and may refer to others', () => {
    const strict = createEnforcer({ 'share:create': 'rule:operators', operators: 'role:operator' });
    expect(strict.allows('share:create', caller(['member']), own)).toBe(false);
    expect(strict.allows('share:create', caller(['operator']), own)).toBe(true);
  });

  test('context_is_admin decides who is an admin', () => {
    expect(createEnforcer({ context_is_admin: 'role:root' }).isAdmin(caller(['root']))).toBe(true);
    expect(enforcer.isAdmin(caller(['member']))).toBe(false);
  });

  test('rules that lead back to themselves are refused', () => {
    expect(() => createEnforcer({ 'share:create': 'rule:x', x: 'rule:y', y: 'rule:x' })).toThrow(
      PolicyLoopError,
    );
  });
});
