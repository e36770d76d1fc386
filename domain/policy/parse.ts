/**
 * The policy language: `role:`, `rule:`, `is_admin:True`, `project_id:%(project_id)s` and other attribute
 * checks, `@`, `!`, `and`, `or`, `not`, parentheses. A rule text is compiled once into a function.
 */

export interface Credentials {
  userId: string;
  projectId: string | null;
  roles: readonly string[];
  isAdmin: boolean;
  domainId?: string | null;
  systemScope?: string | null;
}

/** What a rule is asked about: a row with its project_id, user_id and the like. */
export type Target = object;
export type Check = (credentials: Credentials, target: Target) => boolean;
/** How `rule:x` finds x; asked when the check runs, so that rules may be in any order. */
export type Lookup = (rule: string) => Check | undefined;

export class PolicySyntaxError extends Error {}

const TOKEN = /\s*(\(|\)|[^\s()]*%\([^)]*\)s[^\s()]*|'[^']*':[^\s()]+|"[^"]*":[^\s()]+|[^\s()]+)/y;

function tokens(text: string): string[] {
  const found: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const match = TOKEN.exec(text);
    if (!match) throw new PolicySyntaxError(`can't read the rule ${JSON.stringify(text)}`);
    found.push(match[1]!);
  }
  return found;
}

/** Compiles a rule's text; throws PolicySyntaxError naming what it could not read. An empty rule admits all. */
export function compileRule(text: string, lookup: Lookup): Check {
  const list = tokens(text);
  if (list.length === 0) return () => true;
  let at = 0;

  function either(): Check {
    const parts = [both()];
    while (word('or')) parts.push(both());
    return parts.length === 1 ? parts[0]! : (c, t) => parts.some((part) => part(c, t));
  }
  function both(): Check {
    const parts = [one()];
    while (word('and')) parts.push(one());
    return parts.length === 1 ? parts[0]! : (c, t) => parts.every((part) => part(c, t));
  }
  function one(): Check {
    if (word('not')) {
      const inner = one();
      return (c, t) => !inner(c, t);
    }
    const token = list[at++];
    if (token === undefined) throw new PolicySyntaxError(`the rule ${JSON.stringify(text)} ends too early`);
    if (token !== '(') return leaf(token, lookup, text);
    const inner = either();
    if (list[at++] !== ')')
      throw new PolicySyntaxError(`the rule ${JSON.stringify(text)} lacks a closing parenthesis`);
    return inner;
  }
  function word(expected: string): boolean {
    if (list[at]?.toLowerCase() !== expected) return false;
    at++;
    return true;
  }

  const check = either();
  if (at < list.length)
    throw new PolicySyntaxError(
      `the rule ${JSON.stringify(text)} has ${JSON.stringify(list[at])} where none belongs`,
    );
  return check;
}

function leaf(token: string, lookup: Lookup, text: string): Check {
  if (token === '@') return () => true;
  if (token === '!') return () => false;
  const colon =
    token.startsWith("'") || token.startsWith('"')
      ? token.indexOf(':', token.indexOf(token[0]!, 1))
      : token.indexOf(':');
  if (colon <= 0)
    throw new PolicySyntaxError(
      `${JSON.stringify(token)} in the rule ${JSON.stringify(text)} is not kind:match`,
    );
  const kind = token.slice(0, colon);
  const match = token.slice(colon + 1);
  if (kind === 'rule') {
    return (c, t) => lookup(match)?.(c, t) ?? false;
  }
  const filled = filler(match);
  if (kind === 'role') {
    const role = match.toLowerCase();
    if (!match.includes('%(')) return (c) => c.roles.includes(role);
    return (c, t) => c.roles.includes(filled(t)?.toLowerCase() ?? '');
  }
  if (kind === 'http' || kind === 'https')
    throw new PolicySyntaxError(`remote checks (${JSON.stringify(token)}) are not supported`);
  const literal = /^(['"])(.*)\1$/.exec(kind);
  if (literal) return (_, t) => filled(t) === literal[2];
  if (/^(None|True|False|\d+)$/.test(kind)) return (_, t) => filled(t) === kind;
  return (c, t) => {
    const actual = attribute(c, kind);
    return actual !== undefined && filled(t) === actual;
  };
}

/** Fills `%(key)s` from a target; undefined when the target has no such key, and then nothing matches. */
function filler(match: string): (target: Target) => string | undefined {
  const targetValue = (target: Target, key: string): unknown => {
    const values = target as Readonly<Record<string, unknown>>;
    return values[key] ?? values[key.replace(/^target\.\w+\./, '')];
  };
  const whole = /^%\(([^)]+)\)s$/.exec(match)?.[1];
  if (whole !== undefined) {
    return (target) => {
      const value = targetValue(target, whole);
      return value === undefined ? undefined : python(value);
    };
  }
  return (target) => {
    let missing = false;
    const text = match.replace(/%\(([^)]+)\)s/g, (_, key: string) => {
      const value = targetValue(target, key);
      if (value === undefined) missing = true;
      return python(value);
    });
    return missing ? undefined : text;
  };
}

function python(value: unknown): string {
  if (value === true) return 'True';
  if (value === false) return 'False';
  return value === null || value === undefined ? 'None' : String(value);
}

function attribute(c: Credentials, kind: string): string | undefined {
  switch (kind) {
    case 'user_id':
    case 'user':
      return c.userId;
    case 'project_id':
    case 'tenant':
    case 'tenant_id':
      return python(c.projectId);
    case 'is_admin':
      return python(c.isAdmin);
    case 'domain_id':
      return python(c.domainId ?? null);
    case 'system_scope':
      return python(c.systemScope ?? null);
    default:
      return undefined;
  }
}
