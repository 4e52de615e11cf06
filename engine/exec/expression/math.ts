// Arithmetic: integers are exact up to 128 bits, everything else is F64. A null argument makes the result
// null. A result that is not finite fails 400 ARITHMETIC.
import { fail } from '../../base/errors.js';
import { compactInteger } from '../../base/integer.js';
import { compareValues } from '../../base/value.js';
import type { Expression } from '../../plan/expression.js';
import type { MathFunction } from '../../plan/function-name.js';
import type { Builder } from '../runtime/build-context.js';
import type { Evaluate } from '../runtime/compiled.js';

type Numeric = number | bigint;
type Apply = (args: readonly Numeric[]) => Numeric;

const integerMin = -(2n ** 127n);
const integerMax = 2n ** 128n - 1n;

export function arithmetic(operation: string, what: string): never {
  fail('ARITHMETIC', { operation, what });
}

/** Returns the integer in its compact form. Fails 400 when it exceeds 128 bits. */
export function checkInteger(operation: string, value: bigint): Numeric {
  if (value < integerMin || value > integerMax) arithmetic(operation, 'integer beyond 128 bits');
  return compactInteger(value);
}

/** Returns the float without negative zero. Fails 400 when it is not finite. */
export function checkFloat(operation: string, value: number): number {
  if (!Number.isFinite(value)) arithmetic(operation, 'the result is not finite');
  return value + 0;
}

/** Folds integers pairwise: in doubles while exact, in big integers beyond. */
function foldIntegers(
  operation: string,
  small: (a: number, b: number) => number,
  big: (a: bigint, b: bigint) => bigint,
): Apply {
  return (args) => {
    let total = args[0]!;
    for (let i = 1; i < args.length; i++) {
      const next = args[i]!;
      if (typeof total === 'number' && typeof next === 'number') {
        const result = small(total, next);
        if (Number.isSafeInteger(result)) {
          total = result + 0;
          continue;
        }
      }
      total = checkInteger(operation, big(BigInt(total), BigInt(next)));
    }
    return total;
  };
}

function foldFloats(operation: string, apply: (a: number, b: number) => number): Apply {
  return (args) => {
    let total = Number(args[0]!);
    for (let i = 1; i < args.length; i++) total = apply(total, Number(args[i]!));
    return checkFloat(operation, total);
  };
}

/** A function of floats, defined where `domain` returns true. */
function float(
  operation: string,
  apply: (...args: number[]) => number,
  domain?: (...args: number[]) => boolean,
): Apply {
  return (args) => {
    const numbers = args.map(Number);
    if (domain && !domain(...numbers)) arithmetic(operation, 'outside its domain');
    return checkFloat(operation, apply(...numbers));
  };
}

function divide(a: number, b: number): number {
  if (b === 0) arithmetic('DIV', 'division by zero');
  return a / b;
}

function modulo(args: readonly Numeric[], integer: boolean): Numeric {
  const [a, b] = args as [Numeric, Numeric];
  if (Number(b) === 0) arithmetic('MOD', 'division by zero');
  if (integer && (typeof a === 'bigint' || typeof b === 'bigint'))
    return compactInteger(BigInt(a) % BigInt(b));
  return checkFloat('MOD', Number(a) % Number(b));
}

function logarithm(x: number, base: number): number {
  if (base === 2) return Math.log2(x);
  return base === 10 ? Math.log10(x) : Math.log(x) / Math.log(base);
}

/** Rounds to the nearest integral value, halves away from zero. */
function round(x: number): number {
  return x < 0 ? -Math.round(-x) : Math.round(x);
}

/** Integers are returned unchanged. */
function integral(operation: string, apply: (x: number) => number): Apply {
  return ([x]) => (typeof x === 'bigint' ? x : checkFloat(operation, apply(x!)));
}

function extreme(sign: number): Apply {
  return (args) => args.reduce((a, b) => (compareValues(b, a) * sign > 0 ? b : a));
}

function absolute([x]: readonly Numeric[]): Numeric {
  if (typeof x === 'bigint') return checkInteger('ABS', x < 0n ? -x : x);
  return Math.abs(x!);
}

const floats: Record<Exclude<MathFunction, 'MOD'>, Apply> = {
  ADD: foldFloats('ADD', (a, b) => a + b),
  SUB: foldFloats('SUB', (a, b) => a - b),
  MUL: foldFloats('MUL', (a, b) => a * b),
  ABS: absolute,
  DIV: float('DIV', divide),
  POW: float(
    'POW',
    (a, b) => a ** b,
    (a, b) => (a !== 0 || b >= 0) && (a >= 0 || Number.isInteger(b)),
  ),
  SQRT: float('SQRT', Math.sqrt, (x) => x >= 0),
  LN: float('LN', Math.log, (x) => x > 0),
  LOG10: float('LOG10', Math.log10, (x) => x > 0),
  LOG: float('LOG', logarithm, (x, base) => x > 0 && base > 0 && base !== 1),
  EXP: float('EXP', Math.exp),
  SIN: float('SIN', Math.sin),
  COS: float('COS', Math.cos),
  TAN: float('TAN', Math.tan),
  ASIN: float('ASIN', Math.asin, (x) => Math.abs(x) <= 1),
  ACOS: float('ACOS', Math.acos, (x) => Math.abs(x) <= 1),
  ATAN: float('ATAN', Math.atan),
  // Adding 0 removes negative zero: ATAN2 is the only function that would distinguish -0 from 0, which are
  // equal.
  ATAN2: float('ATAN2', (y, x) => Math.atan2(y + 0, x + 0)),
  PI: () => Math.PI,
  E: () => Math.E,
  CEIL: integral('CEIL', Math.ceil),
  FLOOR: integral('FLOOR', Math.floor),
  ROUND: integral('ROUND', round),
  MIN: extreme(-1),
  MAX: extreme(1),
};

/** [compat] Rounds towards zero, like integer division in HelixDB. */
function quotient([a, b]: readonly Numeric[]): Numeric {
  if (Number(b) === 0) arithmetic('DIV', 'division by zero');
  if (typeof a === 'number' && typeof b === 'number') return Math.trunc(a / b) + 0;
  return compactInteger(BigInt(a!) / BigInt(b!));
}

const integers: Partial<Record<MathFunction, Apply>> = {
  DIV: quotient,
  ADD: foldIntegers(
    'ADD',
    (a, b) => a + b,
    (a, b) => a + b,
  ),
  SUB: foldIntegers(
    'SUB',
    (a, b) => a - b,
    (a, b) => a - b,
  ),
  MUL: foldIntegers(
    'MUL',
    (a, b) => a * b,
    (a, b) => a * b,
  ),
};

function applyOf(name: MathFunction, integer: boolean): Apply {
  if (name === 'MOD') return (args) => modulo(args, integer);
  return (integer ? integers[name] : undefined) ?? floats[name];
}

export function buildMath(
  builder: Builder,
  expression: Extract<Expression, { kind: 'math' }>,
): Evaluate {
  const apply = applyOf(expression.function, expression.integer);
  const operands = expression.of.map((operand) => builder.value(operand));
  return (frame) => {
    const args: Numeric[] = [];
    for (const operand of operands) {
      const value = operand(frame);
      if (typeof value !== 'number' && typeof value !== 'bigint') return null;
      args.push(value);
    }
    return apply(args);
  };
}
