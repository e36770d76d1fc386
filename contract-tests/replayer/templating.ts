/**
 * Names in recordings: `{{share_1}}` stands for an id that differs from run to run. Filling puts known ids in;
 * matching reads unknown ones off an answer.
 */
import type { Json } from './recordings.ts';

export type Bindings = Map<string, string>;

const NAME = /\{\{(\w+)\}\}/g;

/** What a captured id may look like: it never runs over a path or query separator. */
const ID = '[^/?&=\\s"]+';

/** A recording speaks of an id that nothing has given yet. */
export class UnboundName extends Error {
  readonly names: string[];

  constructor(names: string[]) {
    super(`nothing gave ${names.map((name) => `{{${name}}}`).join(', ')}`);
    this.names = names;
  }
}

/** The names used in a text or anywhere in a JSON value. */
export function namesIn(value: Json | undefined): Set<string> {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return new Set([...text.matchAll(NAME)].map((match) => match[1]!));
}

/** Puts ids in for names. Throws UnboundName when one is unknown. */
export function fillText(text: string, bindings: ReadonlyMap<string, string>): string {
  const missing = [...namesIn(text)].filter((name) => !bindings.has(name));
  if (missing.length > 0) throw new UnboundName(missing);
  return text.replace(NAME, (_, name: string) => bindings.get(name)!);
}

/** Like fillText, in every string and key of a JSON value. */
export function fillJson(value: Json, bindings: ReadonlyMap<string, string>): Json {
  if (typeof value === 'string') return fillText(value, bindings);
  if (Array.isArray(value)) return value.map((item) => fillJson(item, bindings));
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, item]) => [fillText(key, bindings), fillJson(item, bindings)]),
  );
}

/** Known names filled in, unknown ones left as they are: for people to read. */
export function showText(text: string, bindings: ReadonlyMap<string, string>): string {
  return text.replace(NAME, (whole, name: string) => bindings.get(name) ?? whole);
}

/**
 * Whether a text is what a template says. Unknown names match any id and are bound to it, in `bindings`, when the
 * whole text matches.
 */
export function matchText(template: string, text: string, bindings: Bindings): boolean {
  const open = new Set<string>();
  let pattern = '';
  let end = 0;
  for (const match of template.matchAll(NAME)) {
    const name = match[1]!;
    const known = bindings.get(name);
    pattern += escapePattern(template.slice(end, match.index));
    if (known !== undefined) pattern += escapePattern(known);
    else if (open.has(name)) pattern += `\\k<${name}>`;
    else pattern += `(?<${name}>${ID})`;
    if (known === undefined) open.add(name);
    end = match.index + match[0].length;
  }
  pattern += escapePattern(template.slice(end));
  const found = new RegExp(`^${pattern}$`, 's').exec(text);
  if (!found) return false;
  for (const name of open) bindings.set(name, found.groups![name]!);
  return true;
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
