// Aggregates over one list (helixql.md 3.17): a scalar counts as a list of one, nulls are skipped.
import { compactInteger } from '../../base/integer.js';
import { compareValues } from '../../base/value.js';
import type { AggregateFunction, Expression } from '../../plan/expression.js';
import type { Builder } from '../row/builder.js';
import { checkFloat, checkInteger } from './math.js';
import { rowsOf } from '../row/flow.js';
import { countOf } from '../row/pull.js';
import type { Value } from '../row/value.js';
import type { Evaluate } from '../row/compiled.js';

type Numeric = number | bigint;

function sum(items: readonly Numeric[], integer: boolean, operation: string): Numeric {
  let total = 0;
  let exact = 0n;
  for (const item of items) {
    if (!integer) {
      total += Number(item);
    } else if (typeof item === 'number' && Number.isSafeInteger(total + item)) {
      total += item;
    } else {
      // What no longer fits a double moves over to the exact part.
      exact += BigInt(total) + BigInt(item);
      total = 0;
    }
  }
  if (!integer) return checkFloat(operation, total);
  return exact === 0n ? total : checkInteger(operation, exact + BigInt(total));
}

function extreme(items: readonly Value[], sign: number): Value {
  if (items.length === 0) return null;
  return items.reduce((a, b) => (compareValues(b, a) * sign > 0 ? b : a));
}

function average(items: readonly Numeric[], integer: boolean): Value {
  if (items.length === 0) return null;
  return checkFloat('AVG', Number(sum(items, integer, 'AVG')) / items.length);
}

function aggregate(name: AggregateFunction, items: readonly Value[], integer: boolean): Value {
  switch (name) {
    case 'SUM':
      return sum(items as Numeric[], integer, 'SUM');
    case 'AVG':
      return average(items as Numeric[], integer);
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
    // Ids are never null, so that they need only be counted.
    if (flow.kind === 'ids') return (frame) => countOf(flow, frame);
  }
  const list = builder.value(of);
  return (frame) => {
    const items = rowsOf(list(frame)).filter((item) => item !== null);
    frame.tick(items.length);
    return aggregate(expression.function, items, integer);
  };
}
