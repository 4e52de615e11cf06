// Aggregates over one list: a scalar counts as a list of one, nulls are skipped.
import { compactInteger } from '../../base/integer.js';
import { compareValues } from '../../base/value.js';
import type { AggregateFunction, Expression } from '../../plan/expression.js';
import type { Builder } from '../runtime/build-context.js';
import { checkFloat, checkInteger } from './math.js';
import { rowsOf } from '../runtime/flow.js';
import { countOf } from '../runtime/collect.js';
import type { Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';

type Numeric = number | bigint;

/** A running sum. */
export class Sum {
  #total = 0;
  #exact = 0n;

  constructor(private readonly integer: boolean) {}

  add(item: Numeric): void {
    if (!this.integer) {
      this.#total += Number(item);
    } else if (typeof item === 'number' && Number.isSafeInteger(this.#total + item)) {
      this.#total += item;
    } else {
      // When the total is no longer exact in a double, move it to the exact part.
      this.#exact += BigInt(this.#total) + BigInt(item);
      this.#total = 0;
    }
  }

  /** The sum, without limit on its size. */
  get value(): Numeric {
    return this.#exact === 0n ? this.#total : this.#exact + BigInt(this.#total);
  }

  checked(operation: string): Numeric {
    const { value } = this;
    if (typeof value === 'bigint') return checkInteger(operation, value);
    return this.integer ? value : checkFloat(operation, value);
  }
}

function sum(items: readonly Numeric[], integer: boolean, operation: string): Numeric {
  const total = new Sum(integer);
  for (const item of items) total.add(item);
  return total.checked(operation);
}

/**
 * Returns the greater of two values, with a negative sign the lesser. If they are equal, returns the first.
 */
export const better = (a: Value, b: Value, sign: number): Value =>
  compareValues(b, a) * sign > 0 ? b : a;

function extreme(items: readonly Value[], sign: number): Value {
  if (items.length === 0) return null;
  return items.reduce((a, b) => better(a, b, sign));
}

function average(items: readonly Numeric[], integer: boolean, count: number): Value {
  if (count === 0) return null;
  return checkFloat('AVG', Number(sum(items, integer, 'AVG')) / count);
}

function aggregate(name: AggregateFunction, items: readonly Value[], integer: boolean): Value {
  switch (name) {
    case 'SUM':
      return sum(items as Numeric[], integer, 'SUM');
    case 'AVG':
      return average(items as Numeric[], integer, items.length);
    case 'MIN':
      return extreme(items, -1);
    case 'MAX':
      return extreme(items, 1);
    case 'COUNT':
      return compactInteger(BigInt(items.length));
  }
}

export function buildAggregate(
  builder: Builder,
  expression: Extract<Expression, { kind: 'aggregate' }>,
): Evaluate {
  const { integer, of } = expression;
  if (expression.function === 'COUNT' && of.kind === 'pipeline' && of.result === 'many') {
    const flow = builder.flow(of);
    // Ids are never null, so counting them is enough.
    if (flow.kind === 'ids') return (frame) => countOf(flow, frame);
  }
  const list = builder.value(of);
  if (expression.count !== undefined) {
    const count = builder.value(expression.count);
    return (frame) => average([list(frame) as Numeric], integer, count(frame) as number);
  }
  return (frame) => {
    const items = rowsOf(list(frame)).filter((item) => item !== null);
    frame.tick(items.length);
    return aggregate(expression.function, items, integer);
  };
}
