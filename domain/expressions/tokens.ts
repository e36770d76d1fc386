/** Cuts a filter or goodness expression into tokens, each knowing where it stands. */

/** What is wrong with an expression, and where: `position` counts characters from 1. */
export class ExpressionError extends Error {
  readonly position: number;
  constructor(reason: string, position: number) {
    super(`${reason} (at character ${position})`);
    this.name = 'ExpressionError';
    this.position = position;
  }
}

export interface Token {
  kind: 'number' | 'text' | 'name' | 'sign' | 'end';
  text: string;
  /** counted from 1 */
  at: number;
}

const SPACE = /\s+/y;
const NUMBER = /(\d+\.?\d*|\.\d+)(e[+-]?\d+)?/iy;
const NAME = /[A-Za-z_]\w*(\.\w+)*/y;
const TEXT = /'([^']*)'|"([^"]*)"/y;
const SIGN = /<=|>=|==|<>|!=|[-+*/^()?:,<>&|!]/y;

function match(pattern: RegExp, source: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(source);
}

function tokenAt(source: string, index: number): { token: Token; length: number } {
  const at = index + 1;
  const number = match(NUMBER, source, index);
  if (number) return { token: { kind: 'number', text: number[0], at }, length: number[0].length };
  const name = match(NAME, source, index);
  if (name) return { token: { kind: 'name', text: name[0], at }, length: name[0].length };
  const text = match(TEXT, source, index);
  if (text) return { token: { kind: 'text', text: text[1] ?? text[2] ?? '', at }, length: text[0].length };
  const sign = match(SIGN, source, index);
  if (sign) return { token: { kind: 'sign', text: sign[0], at }, length: sign[0].length };
  const odd = source.slice(index, index + 1);
  throw new ExpressionError(/['"]/.test(odd) ? 'a text is not closed' : `'${odd}' means nothing here`, at);
}

/** All tokens of an expression, then one of kind `end`. Throws ExpressionError. */
export function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  let index = 0;
  for (;;) {
    index += match(SPACE, source, index)?.[0].length ?? 0;
    if (index >= source.length) break;
    const { token, length } = tokenAt(source, index);
    tokens.push(token);
    index += length;
  }
  return [...tokens, { kind: 'end', text: 'the end', at: source.length + 1 }];
}
