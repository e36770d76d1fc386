/**
 * The grammar of filter and goodness expressions, from what binds least to what binds most:
 * `a ? b : c`, `or |`, `and &`, `not !`, comparisons (which may be chained), `+ -`, `* /`, signs, `^`.
 */
import { ExpressionError, type Token, tokenize } from './tokens.ts';

export type Node =
  | { kind: 'value'; value: number | string | boolean; at: number }
  | { kind: 'name'; path: readonly string[]; at: number }
  | { kind: 'sign'; sign: '+' | '-'; operand: Node; at: number }
  | { kind: 'not'; operand: Node; at: number }
  | { kind: 'maths'; operator: MathsOperator; left: Node; right: Node; at: number }
  | {
      kind: 'comparison';
      first: Node;
      rest: readonly { operator: Comparison; operand: Node; at: number }[];
      at: number;
    }
  | { kind: 'logic'; operator: 'and' | 'or'; left: Node; right: Node; at: number }
  | { kind: 'choice'; test: Node; yes: Node; no: Node; at: number }
  | { kind: 'call'; name: FunctionName; args: readonly Node[]; at: number };

export type MathsOperator = '+' | '-' | '*' | '/' | '^';
export type Comparison = '<' | '<=' | '>' | '>=' | '==' | '!=';
export type FunctionName = 'abs' | 'max' | 'min';

/** The functions, and how many arguments each takes. */
const FUNCTIONS: Readonly<Record<FunctionName, readonly [least: number, most: number]>> = {
  abs: [1, 1],
  max: [2, Infinity],
  min: [2, Infinity],
};
const COMPARISONS: Readonly<Record<string, Comparison>> = {
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  '==': '==',
  '!=': '!=',
  '<>': '!=',
};
const WORDS: Readonly<Record<string, string>> = { and: '&', or: '|', not: '!' };

const MAX_LENGTH = 4000;
const MAX_DEPTH = 100;

class Parser {
  private readonly tokens: readonly Token[];
  private index = 0;
  private depth = 0;

  constructor(source: string) {
    this.tokens = tokenize(source);
  }

  parse(): Node {
    const node = this.choice();
    if (this.next.kind !== 'end') this.fail(`'${this.next.text}' was not expected`);
    return node;
  }

  private get next(): Token {
    return this.tokens[this.index]!;
  }

  private fail(reason: string): never {
    throw new ExpressionError(reason, this.next.at);
  }

  /** Takes the next token if it is one of these signs (or the words for them). */
  private take(...signs: string[]): string | null {
    const token = this.next;
    const sign = token.kind === 'name' && Object.hasOwn(WORDS, token.text) ? WORDS[token.text]! : token.text;
    const isSign = token.kind === 'sign' || (token.kind === 'name' && sign !== token.text);
    if (!isSign || !signs.includes(sign)) return null;
    this.index += 1;
    return sign;
  }

  private expect(sign: string, what: string): void {
    if (this.take(sign) === null) this.fail(`'${sign}' is missing ${what}`);
  }

  /** Runs a rule that may contain itself, and refuses what nests too deeply to be meant. */
  private nested<T>(rule: () => T): T {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) this.fail('the expression nests too deeply');
    const result = rule();
    this.depth -= 1;
    return result;
  }

  private choice(): Node {
    return this.nested(() => {
      const at = this.next.at;
      const test = this.logic('or', '|', () => this.logic('and', '&', () => this.negation()));
      if (this.take('?') === null) return test;
      const yes = this.choice();
      this.expect(':', "after what follows '?'");
      return { kind: 'choice', test, yes, no: this.choice(), at };
    });
  }

  private logic(operator: 'and' | 'or', sign: string, operand: () => Node): Node {
    let left = operand();
    for (let at = this.next.at; this.take(sign) !== null; at = this.next.at) {
      left = { kind: 'logic', operator, left, right: operand(), at };
    }
    return left;
  }

  private negation(): Node {
    const at = this.next.at;
    if (this.take('!') === null) return this.comparison();
    return { kind: 'not', operand: this.nested(() => this.negation()), at };
  }

  private comparison(): Node {
    const first = this.sum();
    const rest: { operator: Comparison; operand: Node; at: number }[] = [];
    for (let at = this.next.at; ; at = this.next.at) {
      const sign = this.take(...Object.keys(COMPARISONS));
      if (sign === null) break;
      rest.push({ operator: COMPARISONS[sign]!, operand: this.sum(), at });
    }
    return rest.length === 0 ? first : { kind: 'comparison', first, rest, at: rest[0]!.at };
  }

  private sum(): Node {
    return this.maths(['+', '-'], () => this.maths(['*', '/'], () => this.signed()));
  }

  private maths(operators: readonly MathsOperator[], operand: () => Node): Node {
    let left = operand();
    for (let at = this.next.at; ; at = this.next.at) {
      const operator = this.take(...operators) as MathsOperator | null;
      if (operator === null) return left;
      left = { kind: 'maths', operator, left, right: operand(), at };
    }
  }

  private signed(): Node {
    const at = this.next.at;
    const sign = this.take('+', '-') as '+' | '-' | null;
    if (sign !== null) return { kind: 'sign', sign, operand: this.nested(() => this.signed()), at };
    const base = this.primary();
    const powerAt = this.next.at;
    if (this.take('^') === null) return base;
    return { kind: 'maths', operator: '^', left: base, right: this.nested(() => this.signed()), at: powerAt };
  }

  private primary(): Node {
    const token = this.next;
    if (this.take('(') !== null) {
      const node = this.choice();
      this.expect(')', 'here');
      return node;
    }
    if (token.kind === 'end') this.fail('the expression ends too early');
    if (token.kind === 'sign' || Object.hasOwn(WORDS, token.text))
      this.fail(`a value is missing before '${token.text}'`);
    this.index += 1;
    if (token.kind === 'number') return { kind: 'value', value: Number(token.text), at: token.at };
    if (token.kind === 'text') return { kind: 'value', value: token.text, at: token.at };
    if (/^(true|false)$/i.test(token.text)) {
      return { kind: 'value', value: token.text.toLowerCase() === 'true', at: token.at };
    }
    return this.take('(') === null
      ? { kind: 'name', path: token.text.split('.'), at: token.at }
      : this.call(token);
  }

  /** A call, its name and opening parenthesis taken. */
  private call(token: Token): Node {
    if (!Object.hasOwn(FUNCTIONS, token.text)) {
      const known = Object.keys(FUNCTIONS).join(', ');
      throw new ExpressionError(`there is no function '${token.text}', only ${known}`, token.at);
    }
    const name = token.text as FunctionName;
    const args = [this.choice()];
    while (this.take(',') !== null) args.push(this.choice());
    this.expect(')', `after the arguments of ${name}`);
    const [least, most] = FUNCTIONS[name];
    if (args.length < least || args.length > most) {
      const number = least === most ? `${least}` : `at least ${least}`;
      throw new ExpressionError(
        `${name} takes ${number} argument${number === '1' ? '' : 's'}, not ${args.length}`,
        token.at,
      );
    }
    return { kind: 'call', name, args, at: token.at };
  }
}

/** The tree of an expression. Throws ExpressionError. */
export function parse(source: string): Node {
  if (source.length > MAX_LENGTH) {
    throw new ExpressionError(`the expression is longer than ${MAX_LENGTH} characters`, MAX_LENGTH + 1);
  }
  return new Parser(source).parse();
}
