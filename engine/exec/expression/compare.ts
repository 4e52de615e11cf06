// Compares values: null rules, numbers of any width exactly, elements by id, lists item by item. A comparison
// over a stream is true when any of its items satisfies it.
import { Json, readJson } from '../../base/text/json.js';
import { compareValues, kindRank, Uuid } from '../../base/value.js';
import type { CompareOperator, Expression } from '../../plan/expression.js';
import type { Builder, SomeOf } from '../runtime/build-context.js';
import { uuidOf } from '../runtime/element.js';
import { asRows } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { keyOf } from '../runtime/key.js';
import { buildIdentity, identityReader, withoutId } from './identity.js';
import { elementIds, isInList, isShort } from './membership.js';
import { buildEdgeTest } from './edge-exists.js';
import { traversalFrom } from './traverse.js';
import { Element, isListValue, type Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';

type Compare = (frame: Frame, a: Value, b: Value) => boolean;

/** Returns true if two values are equal. Null equals only null. */
export function equal(frame: Frame, a: Value, b: Value): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  if (typeof a === 'object' || typeof b === 'object') return equalObjects(frame, a, b);
  return kindRank(a) === kindRank(b) && compareValues(a, b) === 0;
}

function equalObjects(frame: Frame, a: Value, b: Value): boolean {
  if (a instanceof Json || b instanceof Json) return equal(frame, plain(a), plain(b));
  if (a instanceof Element && b instanceof Element) return a.id === b.id;
  if (a instanceof Element) return b instanceof Uuid && uuidOf(frame, a).text === b.text;
  if (b instanceof Element) return equalObjects(frame, b, a);
  if (isListValue(a) && isListValue(b)) {
    if (a.length !== b.length) return false;
    frame.tick(a.length);
    for (let i = 0; i < a.length; i++) if (!equal(frame, a[i]!, b[i]!)) return false;
    return true;
  }
  const rank = kindRank(a);
  if (rank !== kindRank(b)) return false;
  return rank < 6 ? compareValues(a, b, frame) === 0 : keyOf(frame, a) === keyOf(frame, b);
}

/** Returns a negative number, zero or a positive number; NaN when the values have no order. */
function order(frame: Frame, a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a < b ? -1 : a > b ? 1 : 0;
  if (a === null || b === null) return Number.NaN;
  const x = a instanceof Element ? uuidOf(frame, a) : plain(a);
  const y = b instanceof Element ? uuidOf(frame, b) : plain(b);
  const rank = kindRank(x);
  return rank === kindRank(y) && rank < 6 ? compareValues(x, y, frame) : Number.NaN;
}

/** Returns a Json as the value that it is, so that it compares by its JSON type. */
const plain = (value: Value): Value => (value instanceof Json ? readJson(value) : value);

function contains(frame: Frame, a: Value, b: Value): boolean {
  if (a instanceof Json) return contains(frame, readJson(a), plain(b));
  if (a === null || b === null) return false;
  if (typeof a === 'string') return typeof b === 'string' && a.includes(b);
  if (!isListValue(a)) return false;
  for (let i = 0; i < a.length; i++) if (equal(frame, a[i]!, b)) return true;
  return false;
}

function isIn(frame: Frame, a: Value, b: Value): boolean {
  if (a instanceof Json || b instanceof Json) return isIn(frame, plain(a), plain(b));
  if (a === null || b === null) return false;
  if (!isListValue(b)) return equal(frame, a, b);
  return isShort(b) ? contains(frame, b, a) : isInList(frame, a, b);
}

function affix(test: (a: string, b: string) => boolean): Compare {
  return (_, left, right) => {
    const [a, b] = [plain(left), plain(right)];
    return typeof a === 'string' && typeof b === 'string' && test(a, b);
  };
}

const compares: Record<CompareOperator, Compare> = {
  EQ: equal,
  NEQ: (frame, a, b) => !equal(frame, a, b),
  GT: (frame, a, b) => order(frame, a, b) > 0,
  GTE: (frame, a, b) => order(frame, a, b) >= 0,
  LT: (frame, a, b) => order(frame, a, b) < 0,
  LTE: (frame, a, b) => order(frame, a, b) <= 0,
  CONTAINS: contains,
  IS_IN: isIn,
  STARTS_WITH: affix((a, b) => a.startsWith(b)),
  ENDS_WITH: affix((a, b) => a.endsWith(b)),
};

/** Rounds numbers to 32-bit floats, also inside lists. */
export function roundF32(frame: Frame, value: Value): Value {
  if (typeof value === 'number') return Math.fround(value);
  if (typeof value === 'bigint') return Math.fround(Number(value));
  if (!isListValue(value)) return value;
  frame.tick(value.length);
  return Array.from(value as readonly Value[], (item) => roundF32(frame, item));
}

/** Returns how to visit the items of an expression without materializing a stream. */
function someOf(builder: Builder, expression: Expression, sameness: boolean): SomeOf {
  const elements = sameness ? withoutId(expression) : undefined;
  if (elements !== undefined) {
    const items = someOf(builder, elements, false);
    const identity = identityReader(builder);
    return (frame, visit) => items(frame, (item) => visit(identity(frame, item)));
  }
  if (expression.kind === 'property' && expression.of.kind === 'pipeline') {
    const items = someOf(builder, expression.of, false);
    const read =
      sameness && expression.name === 'id'
        ? identityReader(builder)
        : builder.member(expression.name);
    return (frame, visit) => items(frame, (item) => visit(read(frame, item)));
  }
  if (expression.kind === 'pipeline' && expression.result === 'many') {
    const flow = asRows(builder.flow(expression));
    return (frame, visit) => {
      for (const batch of flow.open(frame)) {
        frame.tick(batch.length);
        for (let i = 0; i < batch.length; i++) if (visit(batch[i]!)) return true;
      }
      return false;
    };
  }
  const evaluate = builder.value(expression);
  return (frame, visit) => {
    const value = evaluate(frame);
    if (value === null) return false;
    if (!isListValue(value)) return visit(value);
    for (let i = 0; i < value.length; i++) if (visit(value[i]!)) return true;
    return false;
  };
}

/** Operators that depend only on equality. */
const samenesses = new Set<CompareOperator>(['EQ', 'NEQ', 'CONTAINS', 'IS_IN']);

type CompareExpression = Extract<Expression, { kind: 'compare' }>;

export function buildCompare(builder: Builder, expression: CompareExpression): Evaluate {
  const plain = buildPlain(builder, expression);
  return buildEdgeTest(builder, expression, plain) ?? plain;
}

function buildPlain(builder: Builder, expression: CompareExpression): Evaluate {
  const { operator, any, f32 } = expression;
  const sameness = samenesses.has(operator) && !f32;
  const value = (of: Expression) => (sameness ? buildIdentity(builder, of) : builder.value(of));
  const right = value(expression.right);
  const plainTest = compares[operator];
  const compare: Compare = f32
    ? (frame, a, b) => plainTest(frame, roundF32(frame, a), b)
    : plainTest;
  const operand: Evaluate = f32 ? (frame) => roundF32(frame, right(frame)) : right;
  if (any) {
    const items = someOf(builder, expression.left, sameness);
    const some: Evaluate = (frame) => {
      const b = operand(frame);
      return items(frame, (a) => compare(frame, a, b));
    };
    return buildTraversalTest(builder, expression, operand, some) ?? some;
  }
  const left = value(expression.left);
  const plainly: Evaluate = (frame) => compare(frame, left(frame), operand(frame));
  return buildTraversalTest(builder, expression, operand, plainly) ?? plainly;
}

/**
 * Compiles the test whether steps from an item reach any element. It creates no elements for intermediate
 * ids.
 */
function buildTraversalTest(
  builder: Builder,
  { operator, any, left, f32 }: CompareExpression,
  right: Evaluate,
  plain: Evaluate,
): Evaluate | undefined {
  const asks = any ? operator === 'IS_IN' || operator === 'EQ' : operator === 'CONTAINS';
  const found = asks && !f32 ? traversalFrom(builder, withoutId(left) ?? left) : undefined;
  if (found === undefined || (left.kind === 'pipeline' && left.result !== 'many')) return undefined;
  const { slot, traverse } = found;
  return (frame) => {
    const item = frame.slots[slot]!;
    if (!(item instanceof Element) || frame.hasDropped) return plain(frame);
    const wanted = right(frame);
    if (wanted instanceof Element) return traverse(frame, item.id, (id) => id === wanted.id);
    const ids = operator === 'IS_IN' && Array.isArray(wanted) && elementIds(frame, wanted);
    return ids ? traverse(frame, item.id, (id) => ids.has(id)) : plain(frame);
  };
}
