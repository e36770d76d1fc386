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

/**
 * Compiles every rule. Throws PolicySyntaxError on a rule that can't be read or refers to one that isn't there.
 */
export function createEnforcer(overrides: Overrides = {}): Enforcer {
  const texts: Record<string, string> = {};
  for (const [name, rule] of Object.entries(policies)) texts[name] = rule.check;
  Object.assign(texts, overrides);

  const compiled = new Map<string, Check>();
  const lookup = (name: string) => compiled.get(name) ?? compiled.get('default');
  for (const [name, text] of Object.entries(texts)) compiled.set(name, compileRule(text, lookup));

  return {
    allows: (policy, credentials, target) => lookup(policy)!(credentials, target),
    isAdmin: (credentials) => compiled.get('context_is_admin')!(credentials, {}),
  };
}
