// Creates elements: AddN, AddV, BatchAddV, AddE and UpsertE as expressions, and AddE as a step with one edge
// per row.
import type { End, Expression } from '../../plan/expression.js';
import type { Label } from '../../storage/table/view-types.js';
import { readVector, vectorOf } from '../runtime/step-argument.js';
import { type Builder, declared } from '../runtime/build-context.js';
import { batchesOf, type Flow, openRows, type RowFlow, rowsOf } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import {
  type Assign,
  buildAssignments,
  createEdge,
  createNode,
  createVector,
  resolveEnd,
  updateElements,
} from './element-writer.js';
import { Element, isListValue, type Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';

type Kind<K extends Expression['kind']> = Extract<Expression, { kind: K }>;

export function buildAddNode(builder: Builder, expression: Kind<'addNode'>): Evaluate {
  const label = declared(builder, 'node', expression.type);
  const set = buildAssignments(builder, expression.set);
  return (frame) => createNode(frame, label, set);
}

export function buildAddVector(builder: Builder, expression: Kind<'addVector'>): Evaluate {
  const label = declared(builder, 'vector', expression.type);
  const set = buildAssignments(builder, expression.set);
  const vector = builder.value(expression.vector);
  return (frame) => createVector(frame, label, readVector(frame, vector, 'AddV'), set);
}

export function buildAddVectors(builder: Builder, expression: Kind<'addVectors'>): Evaluate {
  const label = declared(builder, 'vector', expression.type);
  const vectors = builder.value(expression.vectors);
  return (frame) =>
    rowsOf(vectors(frame)).map((item) => {
      const list = isListValue(item) ? item : [item];
      const vector = vectorOf(list, frame.context.limits.vector_dimensions);
      return createVector(frame, label, vector, []);
    });
}

interface EndIds {
  evaluate: Evaluate;
  many: boolean;
}

function buildEnd(builder: Builder, end: End): EndIds {
  return { evaluate: builder.value(end.value), many: end.many };
}

function endIds(frame: Frame, edge: Label, which: 'from' | 'to', end: EndIds): number[] {
  const value = end.evaluate(frame);
  if (!end.many) return [resolveEnd(frame, edge, which, value)];
  return rowsOf(value).map((item) => resolveEnd(frame, edge, which, item));
}

export function buildAddEdge(builder: Builder, expression: Kind<'addEdge'>): Evaluate {
  const label = declared(builder, 'edge', expression.type);
  const set = buildAssignments(builder, expression.set);
  const from = buildEnd(builder, expression.from);
  const to = buildEnd(builder, expression.to);
  if (!from.many && !to.many) {
    return (frame) => {
      const source = resolveEnd(frame, label, 'from', from.evaluate(frame));
      const target = resolveEnd(frame, label, 'to', to.evaluate(frame));
      return createEdge(frame, label, source, target, set);
    };
  }
  return (frame) => {
    const sources = endIds(frame, label, 'from', from);
    const targets = endIds(frame, label, 'to', to);
    const made: Element[] = [];
    for (const source of sources)
      for (const target of targets) made.push(createEdge(frame, label, source, target, set));
    return made;
  };
}

/**
 * Returns the oldest edge of a label between two elements, or 0 when there is none. It reads the shorter of
 * the two edge lists.
 */
function edgeBetween(frame: Frame, label: number, from: number, to: number): number {
  const { view } = frame;
  const outward = view.degree(from, label, 'out') <= view.degree(to, label, 'in');
  const pairs = outward ? view.adjacency(from, label, 'out') : view.adjacency(to, label, 'in');
  const wanted = outward ? to : from;
  for (let i = 0; i < pairs.length; i += 2) if (pairs[i + 1] === wanted) return pairs[i]!;
  return 0;
}

export function buildUpsertEdge(builder: Builder, expression: Kind<'upsertEdge'>): Evaluate {
  const { slot } = expression;
  const label = declared(builder, 'edge', expression.type);
  const set = buildAssignments(builder, expression.set);
  const from = buildEnd(builder, expression.from);
  const to = buildEnd(builder, expression.to);
  const upsert = (frame: Frame, source: number, target: number): Element => {
    const found = edgeBetween(frame, label.id, source, target);
    if (found !== 0) {
      const edge = new Element(found);
      updateElements(frame, [edge], slot, set);
      return edge;
    }
    frame.slots[slot] = null;
    return createEdge(frame, label, source, target, set);
  };
  return (frame) => {
    const sources = endIds(frame, label, 'from', from);
    const targets = endIds(frame, label, 'to', to);
    const made: Element[] = [];
    for (const source of sources)
      for (const target of targets) made.push(upsert(frame, source, target));
    return from.many || to.many ? made : made[0]!;
  };
}

export interface EdgeStep {
  label: Label;
  set: readonly Assign[];
  slot: number;
  /** An absent endpoint is the row itself. */
  from: Evaluate | undefined;
  to: Evaluate | undefined;
}

/** Creates one edge per row. All rows are read before the first edge is created. */
export function addEdges(input: Flow, step: EdgeStep): RowFlow {
  return { kind: 'rows', open: (frame) => addEdgesRows(frame, input, step) };
}

function* addEdgesRows(
  frame: Frame,
  input: Flow,
  { label, set, slot, from, to }: EdgeStep,
): Iterable<readonly Value[]> {
  const rows: Value[] = [];
  for (const batch of openRows(input, frame)) rows.push(...batch);
  const made: Value[] = [];
  for (const row of rows) {
    frame.slots[slot] = row;
    const source = resolveEnd(frame, label, 'from', from ? from(frame) : row);
    const target = resolveEnd(frame, label, 'to', to ? to(frame) : row);
    frame.slots[slot] = row;
    made.push(createEdge(frame, label, source, target, set));
  }
  yield* batchesOf(made);
}
