/** Regular expressions that clients send: matched from the start of a text, and given up when they cost too much. */
import { createContext, Script } from 'node:vm';
import { fault } from '#domain/faults.ts';

const PLAIN = /^[\w@#:-]*$/;
const MOST_MS = 50;
const context = createContext({ pattern: null, texts: null });
const script = new Script('texts.map((text) => pattern.test(text))');

/** Which of the texts begin with a match. Throws 400 for what is no regular expression, or one that runs away. */
export function startsWithMatch(source: string, texts: readonly string[], where: string): boolean[] {
  if (PLAIN.test(source)) return texts.map((text) => text.startsWith(source));
  try {
    new RegExp(source);
    Object.assign(context, { pattern: new RegExp(`^(?:${source})`), texts });
    return script.runInContext(context, { timeout: MOST_MS }) as boolean[];
  } catch (error) {
    const isSlow = (error as { code?: string }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
    throw fault('invalidQuery', {
      where,
      reason: isSlow ? 'the regular expression takes too long' : 'must be a regular expression',
    });
  }
}
