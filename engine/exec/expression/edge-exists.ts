// Compiles `x::Out<L>::ID::EQ(y::ID)` and `x::Out<L>::CONTAINS(y)`: whether an edge leads from one element to
// the other. A single test reads the shorter of the two edge lists. If many items are tested against one
// element, that element's neighbors become a set.
//
// Invariant: the result is that of visiting the neighbors of `x`.
import { IdSet } from '../../base/id-set.js';
import type { Direction, Expression } from '../../plan/expression.js';
import { type Builder, edgeLabels } from '../runtime/build-context.js';
import type { Evaluate } from '../runtime/compiled.js';
import type { Frame } from '../runtime/frame.js';
import { findElement } from '../runtime/resolve.js';
import { Element, isListValue } from '../runtime/value.js';
import { buildIdentity, withoutId } from './identity.js';

type Compare = Extract<Expression, { kind: 'compare' }>;

/** Edges read so far for tests against one element. */
interface EdgeProbe {
  target: number;
  /** Number of edges read. */
  walked: number;
  near: IdSet | undefined;
}

interface Edges {
  labels: readonly number[];
  direction: Direction;
}

/**
 * Returns the comparison as a test for an edge, if it has that form. `plain` is the comparison as written.
 */
export function buildEdgeTest(
  builder: Builder,
  compare: Compare,
  plain: Evaluate,
): Evaluate | undefined {
  const { operator, any, left, right, f32 } = compare;
  if (f32 || (any ? operator !== 'EQ' : operator !== 'CONTAINS')) return undefined;
  const reached = withoutId(left) ?? left;
  if (reached.kind !== 'pipeline' || reached.result !== 'many') return undefined;
  const { source, steps } = reached;
  const [step, more] = steps;
  if (source.kind !== 'value' || source.of.kind !== 'slot') return undefined;
  if (step?.kind !== 'neighbours' || more !== undefined || step.farKind !== undefined) {
    return undefined;
  }
  const { slot } = source.of;
  const { direction } = step;
  const edges = { labels: edgeLabels(builder, step.edges).map(({ id }) => id), direction };
  const other = buildIdentity(builder, right);
  const probes = new WeakMap<Frame, EdgeProbe>();
  return (frame) => {
    const item = frame.slots[slot]!;
    if (!(item instanceof Element) || frame.hasDropped) return plain(frame);
    const value = other(frame);
    if (value === null || isListValue(value)) return plain(frame);
    const target = value instanceof Element ? value.id : findElement(frame, value);
    if (target === 0) return false;
    let about = probes.get(frame);
    if (about?.target !== target) {
      probes.set(frame, (about = { target, walked: 0, near: undefined }));
    }
    return leads(frame, edges, item.id, about);
  };
}

const opposite = { out: 'in', in: 'out' } as const;

function leads(
  frame: Frame,
  { labels, direction }: Edges,
  from: number,
  about: EdgeProbe,
): boolean {
  frame.tick(1);
  if (about.near !== undefined) return about.near.has(from);
  const back = opposite[direction];
  const { target } = about;
  const [fromDegree, targetDegree] = [
    degree(frame, from, labels, direction),
    degree(frame, target, labels, back),
  ];
  // The edges read so far would have paid for the set.
  if (about.walked >= targetDegree) {
    about.near = neighboursOf(frame, target, labels, back);
    return about.near.has(from);
  }
  about.walked += 1 + Math.min(fromDegree, targetDegree);
  return fromDegree <= targetDegree
    ? hasFar(frame, from, labels, direction, target)
    : hasFar(frame, target, labels, back, from);
}

function degree(frame: Frame, id: number, labels: readonly number[], direction: Direction): number {
  return labels.reduce((sum, label) => sum + frame.degree(id, label, direction), 0);
}

function hasFar(
  frame: Frame,
  id: number,
  labels: readonly number[],
  direction: Direction,
  far: number,
): boolean {
  for (const label of labels) {
    const pairs = frame.adjacency(id, label, direction);
    frame.tick(pairs.length >> 1);
    for (let at = 1; at < pairs.length; at += 2) if (pairs[at] === far) return true;
  }
  return false;
}

function neighboursOf(
  frame: Frame,
  id: number,
  labels: readonly number[],
  direction: Direction,
): IdSet {
  const near = new IdSet();
  for (const label of labels) {
    const pairs = frame.adjacency(id, label, direction);
    frame.tick(pairs.length >> 1);
    for (let at = 1; at < pairs.length; at += 2) near.add(pairs[at]!);
  }
  return near;
}
