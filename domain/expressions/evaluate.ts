/**
 * Works out a parsed expression over named values. Back ends and extra specs give numbers and booleans as
 * text at times, so text that reads as one counts as one wherever a number or a boolean is compared.
 */
import { parseNumber } from '#domain/extraSpecs.ts';
import type { Comparison, FunctionName, MathsOperator, Node } from './parse.ts';
import { ExpressionError } from './tokens.ts';

/** The values that names stand for, by their first part: `share.size` is `scope.share.size`. */
export type Scope = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

type Evaluate = (node: Node) => unknown;

function shown(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : (JSON.stringify(value) ?? 'nothing');
}

function requireNumber(value: unknown, at: number): number {
  const number = parseNumber(value);
  if (number === null) throw new ExpressionError(`${shown(value)} is not a number`, at);
  return number;
}

/** What counts as true: true, numbers other than 0, texts other than '' and 'false', lists with something in. */
export function truth(value: unknown): boolean {
  if (typeof value === 'string') return value !== '' && value.toLowerCase() !== 'false';
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

function lookUp(path: readonly string[], scope: Scope, at: number): unknown {
  const name = path.join('.');
  if (!Object.hasOwn(scope, path[0]!)) {
    throw new ExpressionError(`'${name}' is unknown: names begin with ${Object.keys(scope).join(', ')}`, at);
  }
  let value: unknown = scope;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) {
      throw new ExpressionError(`'${name}' is not known for this pool and share`, at);
    }
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

function maths(operator: MathsOperator, left: number, right: number, at: number): number {
  if (operator === '+') return left + right;
  if (operator === '-') return left - right;
  if (operator === '*') return left * right;
  if (operator === '^') return left ** right;
  if (right === 0) throw new ExpressionError('a division by zero', at);
  return left / right;
}

function equal(left: unknown, right: unknown): boolean {
  const numbers = [parseNumber(left), parseNumber(right)] as const;
  if (numbers[0] !== null && numbers[1] !== null) return numbers[0] === numbers[1];
  const other = typeof left === 'boolean' ? right : left;
  const flag = typeof left === 'boolean' ? left : right;
  if (typeof flag === 'boolean') return typeof other === 'string' && other.toLowerCase() === String(flag);
  return left === right;
}

function compare(operator: Comparison, left: unknown, right: unknown, at: number): boolean {
  if (operator === '==') return equal(left, right);
  if (operator === '!=') return !equal(left, right);
  const bothText = typeof left === 'string' && typeof right === 'string';
  const asText = bothText && (parseNumber(left) === null || parseNumber(right) === null);
  const [a, b] = asText ? [left, right] : [requireNumber(left, at), requireNumber(right, at)];
  if (operator === '<') return a < b;
  if (operator === '<=') return a <= b;
  return operator === '>' ? a > b : a >= b;
}

const functions: Readonly<Record<FunctionName, (...args: number[]) => number>> = {
  abs: Math.abs,
  max: Math.max,
  min: Math.min,
};

function evaluateComparison(node: Extract<Node, { kind: 'comparison' }>, evaluate: Evaluate): boolean {
  let left = evaluate(node.first);
  for (const { operator, operand, at } of node.rest) {
    const right = evaluate(operand);
    if (!compare(operator, left, right, at)) return false;
    left = right;
  }
  return true;
}

function evaluateLogic(node: Extract<Node, { kind: 'logic' }>, evaluate: Evaluate): boolean {
  const left = truth(evaluate(node.left));
  if (left === (node.operator === 'or')) return left;
  return truth(evaluate(node.right));
}

/** The value of an expression's tree; what isn't needed is not looked at. Throws ExpressionError. */
export function evaluate(node: Node, scope: Scope): unknown {
  const inner: Evaluate = (child) => evaluate(child, scope);
  switch (node.kind) {
    case 'value':
      return node.value;
    case 'name':
      return lookUp(node.path, scope, node.at);
    case 'sign': {
      const operand = requireNumber(inner(node.operand), node.at);
      return node.sign === '-' ? -operand : operand;
    }
    case 'not':
      return !truth(inner(node.operand));
    case 'maths': {
      const left = requireNumber(inner(node.left), node.left.at);
      const result = maths(node.operator, left, requireNumber(inner(node.right), node.right.at), node.at);
      if (Number.isNaN(result)) throw new ExpressionError('the result is not a number', node.at);
      return result;
    }
    case 'comparison':
      return evaluateComparison(node, inner);
    case 'logic':
      return evaluateLogic(node, inner);
    case 'choice':
      return truth(inner(node.test)) ? inner(node.yes) : inner(node.no);
    case 'call':
      return functions[node.name](...node.args.map((arg) => requireNumber(inner(arg), arg.at)));
  }
}
