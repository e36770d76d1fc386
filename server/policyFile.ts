/** The operator's policy overrides: a YAML file of rule names and texts, checked whole before any is used. */
import { readFileSync } from 'node:fs';
import { isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import { createEnforcer, type Enforcer, PolicyLoopError } from '#domain/policy/enforcer.ts';
import { compileRule, PolicySyntaxError } from '#domain/policy/parse.ts';
import { policies } from '#generated/policies.ts';
import { nearest } from './config/spelling.ts';

export class PolicyFileError extends Error {
  override readonly name = 'PolicyFileError';
}

/** The rules in force. Throws PolicyFileError naming file and line of what can't be used. */
export function loadEnforcer(file: string | null): Enforcer {
  try {
    return createEnforcer(file === null ? {} : readOverrides(file));
  } catch (error) {
    if (error instanceof PolicyLoopError) throw new PolicyFileError(`${file}: ${error.message}`);
    throw error;
  }
}

/** Reads an override file. One that isn't there is refused: rules that were meant to restrict would be missing. */
export function readOverrides(file: string): Record<string, string> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'does not exist' : `can't be read (${code ?? 'unknown reason'})`;
    throw new PolicyFileError(`${file}: ${reason} (named by [oslo_policy] policy_file)`);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const at = (offset: number | undefined) => `${file}:${lines.linePos(offset ?? 0).line}`;
  const [broken] = document.errors;
  if (broken) throw new PolicyFileError(`${at(broken.pos[0])}: ${broken.message}`);
  if (document.contents === null) return {};
  if (!isMap(document.contents)) throw new PolicyFileError(`${at(0)}: expected a map of rule names to rules`);

  const overrides: Record<string, string> = {};
  const where: Record<string, string> = {};
  for (const { key, value } of document.contents.items) {
    if (!isScalar(key)) throw new PolicyFileError(`${at(0)}: a rule's name must be a text`);
    const place = at(key.range?.[0]);
    const name = String(key.value);
    if (!isScalar(value) || typeof value.value !== 'string')
      throw new PolicyFileError(`${place}: the rule ${name} must be a text`);
    if (name.includes(':') && !Object.hasOwn(policies, name)) throw unknownPolicy(name, place);
    overrides[name] = value.value;
    where[name] = place;
  }
  for (const [name, rule] of Object.entries(overrides)) check(name, rule, overrides, where[name]!);
  return overrides;
}

/** Names without a colon are rules for others to refer to; one with a colon that isn't known restricts nothing. */
function unknownPolicy(name: string, place: string): PolicyFileError {
  const near = nearest(name, Object.keys(policies));
  return new PolicyFileError(`${place}: there is no policy ${name}${near ? `; is ${near} meant?` : ''}`);
}

function check(name: string, rule: string, overrides: Record<string, string>, place: string): void {
  try {
    compileRule(rule, () => undefined);
  } catch (error) {
    if (error instanceof PolicySyntaxError) throw new PolicyFileError(`${place}: ${name}: ${error.message}`);
    throw error;
  }
  for (const [, other] of rule.matchAll(/\brule:([\w:.-]+)/g)) {
    if (!Object.hasOwn(policies, other!) && !Object.hasOwn(overrides, other!)) {
      throw new PolicyFileError(`${place}: ${name} refers to the rule ${other}, which there is none of`);
    }
  }
}
