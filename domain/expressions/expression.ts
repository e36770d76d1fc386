/**
 * The language of `filter_function` and `goodness_function`: arithmetic, comparisons and logic over what a
 * share asks and a pool reports, such as `share.size < 10 and stats.free_capacity_gb > 100`. Compiled by a
 * parser of its own; nothing in an expression can reach anything but the values passed in.
 */
import { evaluate, type Scope, truth } from './evaluate.ts';
import { parse } from './parse.ts';
import { ExpressionError } from './tokens.ts';

export { ExpressionError, type Scope };

export interface Expression {
  /** Whether it holds. Throws ExpressionError. */
  holds(scope: Scope): boolean;
  /** The number it comes to; true and false are none. Throws ExpressionError. */
  number(scope: Scope): number;
}

/** Configuration files often quote the whole of an expression: the quotes are no part of it. */
function unquoted(source: string): string {
  const text = source.trim();
  const quote = text[0] === '"' || text[0] === "'" ? text[0] : null;
  const whole = quote !== null && text.length > 1 && text.indexOf(quote, 1) === text.length - 1;
  return whole ? text.slice(1, -1) : source;
}

/** Parses an expression once, to be worked out for many pools. Throws ExpressionError. */
export function compileExpression(source: string): Expression {
  const node = parse(unquoted(source));
  return {
    holds: (scope) => truth(evaluate(node, scope)),
    number: (scope) => {
      const value = evaluate(node, scope);
      const number = typeof value === 'string' ? Number(value || NaN) : value;
      if (typeof number !== 'number' || Number.isNaN(number)) {
        throw new ExpressionError(`it comes to ${JSON.stringify(value)}, not to a number`, 1);
      }
      return number;
    },
  };
}
