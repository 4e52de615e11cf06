// Chooses the access path of a scan. Looks for conditions that an index, an id or the edges of a
// known element decide, and for an order that an index already has.
//
// A condition may be replaced by a path only if no condition before it can fail, because those would have
// tested the rows that the path skips. The operand of the comparison may fail. In that case the executor
// abandons the path, and the first tested item fails, if there is one.
//
// If several conditions have a list of ids, the executor takes the shortest one at run time
// (exec/access/shortest-list.ts).
import type { Property, TypeRef } from '../../base/schema.js';
import type {
  Access,
  AccessPath,
  CompareOperator,
  Expression,
  Pipeline,
  ItemExpression,
  Step,
} from '../expression.js';
import { cannotThrow } from '../can-throw.js';
import { splitConjuncts, failsOnFirstRow, joinConditions } from './conjuncts.js';
import { indexPath, isBound, partPath } from './index-path.js';
import type { Planning } from './planner-context.js';
import { reachedPath } from './reverse-traversal.js';
import { freeSlots } from './free-slots.js';
import { type Alternatives, findAlternatives } from './disjunction.js';

/** A path with the conditions that it decides, as positions among the conjuncts. */
interface Candidate {
  path: AccessPath;
  decides: number[];
}

/** Returns the access of a scan of several types: a condition for which each type has a path. */
export function chooseEach(
  planning: Planning,
  types: readonly TypeRef[],
  [step]: readonly Step[],
): Access | undefined {
  if (step?.kind !== 'where' || types.length === 0) return undefined;
  const of: { type: TypeRef; path: AccessPath }[] = [];
  let decides: number[] | undefined;
  for (const type of types) {
    const best = bestPath(planning, type, step.condition);
    if (best === undefined) return undefined;
    of.push({ type, path: best.path });
    decides = decides?.filter((at) => best.decides.includes(at)) ?? best.decides;
  }
  return buildAccess({ path: { kind: 'each', of }, decides: decides! }, step.condition, 1);
}

/**
 * Returns the access of a scan of one type followed by these steps, or undefined for a full scan.
 */
export function chooseAccess(
  planning: Planning,
  type: TypeRef,
  steps: readonly Step[],
): Access | undefined {
  const [step, next, after] = steps;
  if (step?.kind === 'order') return orderedAccess(planning, type, step, undefined, next);
  if (step?.kind !== 'where') return undefined;
  const { condition } = step;
  const best = bestPath(planning, type, condition);
  // A path that reads another type is no better than reading in order and testing each row.
  const short = best && readsAnother(best.path) ? undefined : best;
  if (next?.kind === 'order' && (short === undefined || short.path.kind === 'between')) {
    const ordered = orderedAccess(planning, type, next, { condition, best: short }, after);
    if (ordered !== undefined) return ordered;
  }
  return best && buildAccess(best, condition, 1);
}

function buildAccess({ path, decides }: Candidate, { slot, value }: ItemExpression, covers: 1 | 2) {
  const left = splitConjuncts(value).filter((_, i) => !decides.includes(i));
  if (left.length === 0) return { path, covers };
  const rest = joinConditions('and', left);
  return { path, rest: { kind: 'where', condition: { slot, value: rest } }, covers } as const;
}

/** Returns the index of the order's key if reading it is cheaper than sorting. */
function orderedAccess(
  planning: Planning,
  type: TypeRef,
  order: Extract<Step, { kind: 'order' }>,
  filter: { condition: ItemExpression; best: Candidate | undefined } | undefined,
  next: Step | undefined,
): Access | undefined {
  const [key, more] = order.keys;
  const property = key!.nullsFirst
    ? undefined
    : ownProperty(planning, type, key!.value, order.slot);
  if (property === undefined || property.type.kind !== 'scalar') return undefined;
  const { descending } = key!;
  const walk = { kind: 'ordered', property: property.name, descending } as const;
  if (more !== undefined) return tiedAccess(planning, walk, order, filter, next);
  if (filter === undefined) return { path: walk, covers: 1 };
  const { condition, best } = filter;
  if (!failsOnFirstRow(condition.value, condition.slot, planning.parameters)) return undefined;
  if (best === undefined) {
    return isLimit(next) ? buildAccess({ path: walk, decides: [] }, condition, 2) : undefined;
  }
  const { path } = best;
  if (path.kind !== 'between' || path.property !== property.name) return undefined;
  const bounds = { ...(path.low && { low: path.low }), ...(path.high && { high: path.high }) };
  return buildAccess({ path: { ...walk, ...bounds }, decides: best.decides }, condition, 2);
}

const isLimit = (step: Step | undefined): boolean =>
  step?.kind === 'first' || (step?.kind === 'range' && step.end !== null);

/**
 * Returns the index of the first of several keys, for the first rows; rows with equal keys are
 * sorted.
 */
function tiedAccess(
  { parameters }: Planning,
  path: AccessPath,
  { keys }: Extract<Step, { kind: 'order' }>,
  filter: { condition: ItemExpression; best: Candidate | undefined } | undefined,
  next: Step | undefined,
): Access | undefined {
  if (!isLimit(next) || filter?.best !== undefined) return undefined;
  const { value, slot } = filter?.condition ?? {};
  if (value !== undefined && !failsOnFirstRow(value, slot!, parameters)) return undefined;
  return keys.every(({ value }) => cannotThrow(value, parameters))
    ? { path, covers: 0 }
    : undefined;
}

/** A lower rank is better. The earlier condition in the query wins a tie. */
const rank = ({ path }: Candidate): number => computeRank(path);

function computeRank(path: AccessPath): number {
  switch (path.kind) {
    case 'id':
      return path.list ? 3 : 0;
    case 'equal':
      if (path.unique) return !path.list ? 1 : isShort(path.value) ? 1.5 : 3;
      return path.list ? 5 : 2;
    case 'incident':
      return path.list ? 5 : 4;
    case 'reverse':
      return path.reads ? 6.5 : isFromOne(path) ? 4 : 5.7;
    case 'shortest':
      return Math.min(...path.of.map(computeRank));
    case 'each':
      return Math.max(...path.of.map((each) => computeRank(each.path)));
    case 'conditional':
      return path.of ? computeRank(path.of) : 0;
    case 'any':
      return Math.max(5, ...path.of.map(computeRank)) + 0.5;
    default:
      return path.low && path.high ? 6 : 7;
  }
}

/** Returns true for literal values that each lead to at most one row. */
const isShort = (list: Expression): boolean =>
  (list.kind === 'list' && list.items.length <= shortList) ||
  (list.kind === 'literal' && Array.isArray(list.value) && list.value.length <= shortList);

const shortList = 64;

/** Returns true for one step from a row of a unique index or from one element. */
function isFromOne({ back, value, list }: Extract<AccessPath, { kind: 'reverse' }>): boolean {
  if (back.length > 1 || !list) return back.length === 1;
  if (value.kind !== 'pipeline' || value.source.kind !== 'scan') return false;
  const { access } = value.source;
  return access !== undefined && computeRank(access.path) < rankOfLists.from;
}

function bestPath(
  planning: Planning,
  type: TypeRef,
  { slot, value }: ItemExpression,
): Candidate | undefined {
  const candidates: Candidate[] = [];
  const conjuncts = splitConjuncts(value);
  for (const [at, condition] of conjuncts.entries()) {
    const either = findAlternatives(turned(condition, slot));
    const found = either && cannotThrow(condition, planning.parameters);
    if (found) {
      const any = alternatives(planning, type, slot, either);
      if (any) candidates.push({ path: any.path, decides: any.whole ? [at] : [] });
    }
    const path = findPath(planning, type, slot, condition);
    if (path?.kind === 'between') addBounds(candidates, path, at);
    else if (path !== undefined) candidates.push({ path, decides: [at] });
    if (!cannotThrow(condition, planning.parameters)) break;
  }
  candidates.sort((a, b) => rank(a) - rank(b));
  return shortestOf(candidates) ?? smallestRead(candidates) ?? candidates[0];
}

/**
 * Several paths that each read another type completely: the executor finds out which type is the
 * smallest.
 */
function smallestRead(candidates: readonly Candidate[]): Candidate | undefined {
  const lists = candidates.filter(({ path }) => readsAnother(path));
  if (lists.length < 2 || lists[0] !== candidates[0]) return undefined;
  return { path: { kind: 'shortest', of: lists.map(({ path }) => path) }, decides: [] };
}

const readsAnother = (path: AccessPath): boolean =>
  path.kind === 'shortest' ? path.of.every(readsAnother) : path.kind === 'reverse' && !!path.reads;

/** Several conditions that each have a list: any of the lists may be the shortest. */
function shortestOf(candidates: readonly Candidate[]): Candidate | undefined {
  if (candidates[0] && rank(candidates[0]) < rankOfLists.from) return undefined;
  const lists = candidates.filter((each) => rank(each) <= rankOfLists.to);
  if (lists.length < 2) return undefined;
  return { path: { kind: 'shortest', of: lists.map(({ path }) => path) }, decides: [] };
}

/**
 * Ranks of equality with an indexed value, of edges at a known element, and of a traversal from
 * either.
 */
const rankOfLists = { from: 2, to: 5.7 };

/**
 * Returns a path for each of several alternatives that cannot fail. `whole`: the paths decide the
 * condition completely, so it need not be tested again. An alternative that does not read the item
 * leads to everything or to nothing.
 */
function alternatives(
  planning: Planning,
  type: TypeRef,
  slot: number,
  { of: values, exact }: Alternatives,
): { path: AccessPath; whole: boolean } | undefined {
  const of: AccessPath[] = [];
  let whole = exact;
  let leads = false;
  for (const value of values) {
    const independent = splitConjuncts(value).filter((each) => !freeSlots(each).includes(slot));
    const best = bestPath(planning, type, { slot, value });
    if (best === undefined && independent.length === 0) return undefined;
    leads ||= best !== undefined;
    const path = best && { of: best.path };
    of.push(
      independent.length === 0
        ? best!.path
        : { kind: 'conditional', condition: joinConditions('and', independent), ...path },
    );
    const decided = independent.length + (best?.decides.length ?? 0);
    whole &&= best === undefined || decided === splitConjuncts(value).length;
  }
  if (!leads) return undefined;
  return { path: of.length === 1 ? of[0]! : { kind: 'any', of }, whole };
}

/**
 * Joins a lower and an upper bound of one property; a second bound of the same side stays a
 * condition.
 */
function addBounds(candidates: Candidate[], path: AccessPath & { kind: 'between' }, at: number) {
  const joined = candidates.find(({ path: other }) => {
    if (other.kind !== 'between' || other.property !== path.property) return false;
    return !(path.low && other.low) && !(path.high && other.high);
  });
  if (joined === undefined) candidates.push({ path, decides: [at] });
  else {
    joined.path = { ...(joined.path as typeof path), ...path };
    joined.decides.push(at);
  }
}

const turnedOperators: Partial<Record<CompareOperator, CompareOperator>> = {
  EQ: 'EQ',
  GT: 'LT',
  GTE: 'LTE',
  LT: 'GT',
  LTE: 'GTE',
};

/** Rewrites `2::LT(_::{n})` as `_::{n}::GT(2)`, because the rules expect the item on the left. */
function turned(condition: Expression, slot: number): Expression {
  if (condition.kind !== 'compare' || condition.any) return condition;
  const { operator, left, right } = condition;
  const other = turnedOperators[operator];
  if (other === undefined || freeSlots(left).includes(slot)) return condition;
  return freeSlots(right).includes(slot)
    ? { ...condition, operator: other, left: right, right: left }
    : condition;
}

/** Returns the path that decides one condition, or undefined. */
function findPath(
  planning: Planning,
  type: TypeRef,
  slot: number,
  written: Expression,
): AccessPath | undefined {
  const condition = turned(written.kind === 'semiJoin' ? written.of : written, slot);
  const choose = (far: TypeRef, steps: readonly Step[]) => chooseAccess(planning, far, steps);
  if (condition.kind === 'exists') return reachedPath(planning, type, slot, condition, choose);
  if (condition.kind !== 'compare') return undefined;
  const { operator, left, right, any } = condition;
  if (freeSlots(right).includes(slot)) return undefined;
  const reached = reachedPath(planning, type, slot, condition, choose);
  if (reached !== undefined) return reached;
  if (any || left.kind === 'pipeline') {
    const names = any ? operator === 'EQ' || operator === 'IS_IN' : operator === 'CONTAINS';
    const known = { value: right, list: operator === 'IS_IN' };
    return names || operator === 'EQ' ? touchingPath(planning, type, slot, left, known) : undefined;
  }
  const part = partPath(condition, (of) => ownProperty(planning, type, of, slot));
  if (part !== undefined) return part;
  if (operator !== 'EQ' && operator !== 'IS_IN' && !isBound(operator)) return undefined;
  if (left.kind !== 'property') return undefined;
  if (left.of.kind === 'pipeline' && left.name === 'id' && operator === 'EQ') {
    return touchingPath(planning, type, slot, left.of, { value: right, list: false });
  }
  const property = ownProperty(planning, type, left, slot);
  if (property !== undefined) return indexPath(property, condition, operator);
  return isOwn(left, slot) ? implicitPath(type, left.name, operator, right) : undefined;
}

function implicitPath(
  type: TypeRef,
  name: string,
  operator: CompareOperator,
  value: Expression,
): AccessPath | undefined {
  if (name === 'id' && (operator === 'EQ' || operator === 'IS_IN')) {
    return { kind: 'id', value, list: operator === 'IS_IN' };
  }
  const isEnd = name === 'from_node' || name === 'to_node';
  if (type.kind !== 'edge' || !isEnd || (operator !== 'EQ' && operator !== 'IS_IN')) {
    return undefined;
  }
  const list = operator === 'IS_IN';
  const direction = name === 'from_node' ? 'out' : 'in';
  return { kind: 'incident', edge: type.name, direction, take: 'edge', value, list };
}

const isOwn = (left: Expression, slot: number): boolean =>
  left.kind === 'property' && left.of.kind === 'slot' && left.of.slot === slot;

/** Returns the indexed property of the item that the expression reads, or undefined. */
function ownProperty(
  { declarations }: Planning,
  type: TypeRef,
  expression: Expression,
  slot: number,
): Property | undefined {
  if (expression.kind !== 'property' || !isOwn(expression, slot)) return undefined;
  const property = declarations.property(type, expression.name);
  return property?.index === 'none' ? undefined : property;
}

/** Returns the path of one step from the item to a known element or to its id. */
function touchingPath(
  { declarations }: Planning,
  type: TypeRef,
  slot: number,
  reached: Expression,
  known: { value: Expression; list: boolean },
): AccessPath | undefined {
  if (reached.kind !== 'pipeline') return undefined;
  const { source, steps }: Pipeline = reached;
  if (source.kind !== 'value' || source.of.kind !== 'slot' || source.of.slot !== slot)
    return undefined;
  const [step, naming, more] = steps;
  if (step === undefined || more !== undefined) return undefined;
  if (naming !== undefined) {
    if (naming.kind !== 'map' || naming.value.value.kind !== 'property') return undefined;
    if (naming.value.value.name !== 'id' || !isOwn(naming.value.value, naming.value.slot)) {
      return undefined;
    }
  }
  if (step.kind === 'end' && type.kind === 'edge' && step.edge === undefined) {
    const direction = step.end === 'from' ? 'out' : 'in';
    return { kind: 'incident', edge: type.name, direction, take: 'edge', ...known };
  }
  if (step.kind !== 'neighbours' || step.farKind !== undefined || step.edges.length !== 1) {
    return undefined;
  }
  const edge = declarations.find('edge', step.edges[0]!);
  if (edge?.kind !== 'edge') return undefined;
  const near = step.direction === 'out' ? edge.from : edge.to;
  if (near.kind !== type.kind || near.name !== type.name) return undefined;
  const direction = step.direction === 'out' ? 'in' : 'out';
  return { kind: 'incident', edge: edge.name, direction, take: 'far', ...known };
}
