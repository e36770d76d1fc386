/** The back end's own `filter_function`. One that can't be worked out refuses, and says what is wrong with it. */
import { ExpressionError } from '#domain/expressions/expression.ts';
import { compile, expressionScope, functionOf } from '../expressionScope.ts';
import type { Filter } from './filter.ts';

export const driver: Filter = {
  name: 'DriverFilter',
  detail: 'filterDriver',
  check(pool, request) {
    const source = functionOf(pool, 'filter_function');
    if (source === null) return null;
    const numbers = { filter_function: source };
    try {
      if (compile(source).holds(expressionScope(pool, request))) return null;
      return { reason: 'the filter_function does not hold', numbers };
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      return { reason: `the filter_function is wrong: ${error.message}`, numbers, isMistake: true };
    }
  },
};
