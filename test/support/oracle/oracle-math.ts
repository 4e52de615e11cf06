// Arithmetic and aggregates of the oracle (helixql.md 3.17): big integers for integers, Math for
// floats, and an error for everything that is not finite.
import { fail } from '../../../engine/base/errors.js';
import type { AggregateFunction } from '../../../engine/plan/expression.js';
import type { MathFunction } from '../../../engine/plan/function-name.js';
import { compare } from './oracle-compare.js';
import { isNumber, type Value, whole } from './oracle-value.js';

type Numeric = number | bigint;

const refuse = (operation: string): never => fail('ARITHMETIC', { operation, what: 'undefined' });

function exact(operation: string, value: bigint): Numeric {
  return value < -(2n ** 127n) || value >= 2n ** 128n ? refuse(operation) : whole(value);
}

function finite(operation: string, value: number): number {
  return Number.isFinite(value) ? value + 0 : refuse(operation);
}

const wholeFunctions: Partial<Record<MathFunction, (a: bigint, b: bigint) => bigint>> = {
  ADD: (a, b) => a + b,
  SUB: (a, b) => a - b,
  MUL: (a, b) => a * b,
  MOD: (a, b) => a % b,
  DIV: (a, b) => a / b,
};

const floatFunctions: Partial<Record<MathFunction, (...args: number[]) => number>> = {
  ADD: (...args) => args.reduce((a, b) => a + b),
  SUB: (...args) => args.reduce((a, b) => a - b),
  MUL: (...args) => args.reduce((a, b) => a * b),
  MOD: (a, b) => a! % b!,
  DIV: (a, b) => a! / b!,
  POW: (a, b) => a! ** b!,
  SQRT: Math.sqrt,
  LN: Math.log,
  LOG10: Math.log10,
  EXP: Math.exp,
  SIN: Math.sin,
  COS: Math.cos,
  TAN: Math.tan,
  ASIN: Math.asin,
  ACOS: Math.acos,
  ATAN: Math.atan,
  ATAN2: Math.atan2,
  PI: () => Math.PI,
  E: () => Math.E,
};

const rounding: Partial<Record<MathFunction, (x: number) => number>> = {
  CEIL: Math.ceil,
  FLOOR: Math.floor,
  ROUND: (x) => Math.sign(x) * Math.round(Math.abs(x)),
};

export function calculate(name: MathFunction, integer: boolean, args: readonly Value[]): Value {
  if (!args.every(isNumber)) return null;
  const [first, second] = args as [Numeric, Numeric];
  if (name === 'MIN' || name === 'MAX') return extreme(args, name === 'MAX');
  if ((name === 'DIV' || name === 'MOD') && Number(second) === 0) refuse(name);
  const round = rounding[name];
  if (round) return typeof first === 'bigint' ? first : finite(name, round(first));
  if (name === 'ABS') return typeof first === 'bigint' ? magnitude(first) : Math.abs(first);
  const fold = integer ? wholeFunctions[name] : undefined;
  if (fold) return args.reduce((a, b) => exact(name, fold(BigInt(a), BigInt(b))));
  if (name === 'LOG') {
    const [x, base] = [Number(first), Number(second)];
    if (!(x > 0 && base > 0 && base !== 1)) refuse(name);
    return finite(name, Math.log(x) / Math.log(base));
  }
  return finite(name, floatFunctions[name]!(...args.map(Number)));
}

const magnitude = (value: bigint): Numeric => exact('ABS', value < 0n ? -value : value);

function extreme(items: readonly Value[], largest: boolean): Value {
  if (items.length === 0) return null;
  return items.reduce((a, b) => ((largest ? compare(b, a) : compare(a, b)) > 0 ? b : a));
}

/** Over the items of one list that are not null. */
export function aggregate(
  name: AggregateFunction,
  integer: boolean,
  list: readonly Value[],
): Value {
  const items = list.filter((item) => item !== null);
  switch (name) {
    case 'COUNT':
      return items.length;
    case 'MIN':
    case 'MAX':
      return extreme(items, name === 'MAX');
    case 'SUM':
      return sum(name, integer, items as Numeric[]);
    case 'AVG': {
      if (items.length === 0) return null;
      return finite(name, Number(sum(name, integer, items as Numeric[])) / items.length);
    }
  }
}

function sum(operation: string, integer: boolean, items: readonly Numeric[]): Numeric {
  if (integer)
    return exact(
      operation,
      items.reduce<bigint>((total, item) => total + BigInt(item), 0n),
    );
  return finite(
    operation,
    items.reduce<number>((total, item) => total + Number(item), 0),
  );
}
