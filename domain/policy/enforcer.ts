/** The rules in force: the contract's defaults with an operator's overrides on top, each compiled once. */
import { type PolicyName, policies } from '#generated/policies.ts';
import { type Check, type Credentials, compileRule, type Target } from './parse.ts';

export interface Enforcer {
  /** Does the rule admit this caller on this target? */
  allows(policy: PolicyName, credentials: Credentials, target: Target): boolean;
  /** `context_is_admin`, asked once per request to know whether the caller is an admin. */
  isAdmin(credentials: Credentials): boolean;
}

/** Rules of an override file: name to text. Names that no rule has are kept, other rules may refer to them. */
export type Overrides = Readonly<Record<string, string>>;

/** Rules that refer to each other in a circle decide nothing. */
export class PolicyLoopError extends Error {}

/**
 * Compiles every rule. Throws PolicySyntaxError on a rule that can't be read, PolicyLoopError on a circle.
 */
export function createEnforcer(overrides: Overrides = {}): Enforcer {
  const texts: Record<string, string> = {};
  for (const [name, rule] of Object.entries(policies)) texts[name] = rule.check;
  Object.assign(texts, overrides);

  for (const name of Object.keys(overrides)) refuseLoop(name, texts, []);
  const compiled = new Map<string, Check>();
  const lookup = (name: string) => compiled.get(name) ?? compiled.get('default');
  for (const [name, text] of Object.entries(texts)) compiled.set(name, compileRule(text, lookup));

  return {
    allows: (policy, credentials, target) => lookup(policy)!(credentials, target),
    isAdmin: (credentials) => compiled.get('context_is_admin')!(credentials, {}),
  };
}

function refuseLoop(name: string, texts: Readonly<Record<string, string>>, path: readonly string[]): void {
  if (path.includes(name)) throw new PolicyLoopError(`rules in a circle: ${[...path, name].join(' -> ')}`);
  for (const [, next] of (texts[name] ?? '').matchAll(/\brule:([\w:.-]+)/g)) {
    if (Object.hasOwn(texts, next!)) refuseLoop(next!, texts, [...path, name]);
  }
}
