/** The back end's own `goodness_function`, from 0 to 100. None, or one that is wrong, weighs 0. */
import { ExpressionError } from '#domain/expressions/expression.ts';
import { compile, expressionScope, functionOf } from '../expressionScope.ts';
import type { Weigher } from './weigher.ts';

export const goodness: Weigher = {
  name: 'GoodnessWeigher',
  weigh(pool, request, _multiplier, warn) {
    const source = functionOf(pool, 'goodness_function');
    if (source === null) return 0;
    try {
      const value = compile(source).number(expressionScope(pool, request));
      if (value >= 0 && value <= 100) return value;
      warn(`the goodness_function comes to ${value}, which is not from 0 to 100`);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      warn(`the goodness_function is wrong: ${error.message}`);
    }
    return 0;
  },
};
