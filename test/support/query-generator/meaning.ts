// The meaning of generated queries: items with shapes, their members, comparisons. It uses no part of the
// compiler, so that the tests check how a text is read, not only how its plan runs.
import type { CompareOperator } from '../../../engine/plan/expression.js';
import { equal, ordered } from '../oracle/oracle-compare.js';
import { memberOf, type Run } from '../oracle/oracle-run.js';
import { isList, Item, type Rec, rowsOf, type Value } from '../oracle/oracle-value.js';
import type { Env } from './part.js';

/** An element with the shape that a projection gave it. */
export class Shaped extends Item {
  constructor(
    item: Item,
    readonly shape: Rec,
    readonly hidden: ReadonlyMap<string, Value>,
  ) {
    super(item.element, item.score, item.distance, item.reranked, item.share, item.trail);
    // It shows what it was when it was found, whatever has been changed since.
    const { values, vector, fresh } = item;
    Object.assign(this, { values, vector, fresh });
  }
}

export const withItem = (env: Env, item: Value): Env => ({ ...env, item, strict: false });

export function withVar(env: Env, name: string, value: Value): Env {
  return { ...env, vars: new Map([...env.vars, [name, value]]) };
}

/** A member of an item: of its shape, of the group it is, or of the element. */
export function member(value: Value, name: string): Value {
  if (isList(value)) return value.map((each) => member(each, name));
  if (value instanceof Shaped) {
    if (value.hidden.has(name)) return value.hidden.get(name)!;
    if (value.shape.entries.some(([own]) => own === name)) return value.shape.get(name);
  }
  return memberOf({ compat: false } as Run, value, name);
}

export function compares(operator: CompareOperator, a: Value, b: Value): boolean {
  switch (operator) {
    case 'EQ':
      return equal(a, b);
    case 'NEQ':
      return !equal(a, b);
    case 'GT':
      return ordered(a, b, (order) => order > 0);
    case 'GTE':
      return ordered(a, b, (order) => order >= 0);
    case 'LT':
      return ordered(a, b, (order) => order < 0);
    case 'LTE':
      return ordered(a, b, (order) => order <= 0);
    case 'CONTAINS':
      return typeof a === 'string' && typeof b === 'string' && a.includes(b);
    case 'STARTS_WITH':
      return typeof a === 'string' && typeof b === 'string' && a.startsWith(b);
    case 'ENDS_WITH':
      return typeof a === 'string' && typeof b === 'string' && a.endsWith(b);
    case 'IS_IN':
      return a !== null && rowsOf(b).some((item) => item !== null && equal(a, item));
  }
}

export const isTrue = (value: Value): boolean => value === true;
