// ShortestPath steps: resolve the endpoints, follow outgoing edges, and yield {path, edges, total_weight,
// hop_count} per start.
import { fail } from '../../base/errors.js';
import { arithmetic, checkFloat } from '../expression/math.js';
import { uuidOf } from '../runtime/element.js';
import { resolveElement } from '../runtime/resolve.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { type Flow, openRows, type RowFlow } from '../runtime/flow.js';
import { type Frame, rowBytes } from '../runtime/frame.js';
import type { MemberReader } from '../runtime/member.js';
import { breadthFirst, cheapest, type PathGraph } from './path-search.js';
import type { BidirectionalGraph, FoundPath } from './bidirectional-bfs.js';
import { Element, RecordValue, type Value } from '../runtime/value.js';
import type { Evaluate } from '../runtime/compiled.js';
import { farEnds, incidentEdges, oldestEdge } from '../runtime/edge-list.js';

export interface PathStep {
  algorithm: 'bfs' | 'dijkstra' | 'astar';
  /** Edge labels to follow. */
  labels: readonly number[];
  direction: 'out' | 'both';
  /** Condition on the edges that may be followed. */
  condition: { slot: number; value: Evaluate } | undefined;
  /** True if the path runs from the target to the row. */
  reverse: boolean;
  target: Evaluate;
  weight: { slot: number; value: Evaluate } | undefined;
  heuristic: MemberReader | undefined;
  /** True if a row without a path is an error. */
  one: boolean;
}

const names = ['path', 'edges', 'total_weight', 'hop_count'];

const operation = {
  bfs: 'ShortestPath',
  dijkstra: 'ShortestPathDijkstras',
  astar: 'ShortestPathAStar',
} as const;

export function shortestPath(input: Flow, step: PathStep): RowFlow {
  return { kind: 'rows', open: (frame) => shortestPathRows(frame, input, step) };
}

function* shortestPathRows(frame: Frame, input: Flow, step: PathStep): Iterable<readonly Value[]> {
  const graph = graphOf(frame, step);
  for (const batch of openRows(input, frame)) {
    const records: Value[] = [];
    const target = batch.length > 0 ? resolveElement(frame, step.target(frame)) : 0;
    for (const row of batch) {
      const here = resolveElement(frame, row);
      const [start, goal] = step.reverse ? [target, here] : [here, target];
      const found = search(step, graph, start, goal);
      if (found) records.push(recordOfPath(frame, found));
      else if (step.one) noPath(frame, start, goal);
    }
    if (records.length > 0) yield records;
  }
}

function noPath(frame: Frame, start: number, goal: number): never {
  const [from, to] = [start, goal].map((id) => uuidOf(frame, new Element(id)).text);
  fail('NO_PATH', { from: from!, to: to! });
}

/** A sum that is not finite is worse than any other. If only such sums reach the goal, there is no path. */
function search(step: PathStep, graph: PathGraph, start: number, goal: number) {
  if (step.algorithm === 'bfs') return breadthFirst(graph, start, goal);
  const found = cheapest(graph, start, goal);
  if (found !== undefined) checkFloat(operation[step.algorithm], found.weight);
  return found;
}

/** Returns an edge as it is followed from one of its endpoints. */
function edgeFrom(edge: number, from: number): Element {
  const element = new Element(edge);
  element.origin = from;
  return element;
}

function graphOf(frame: Frame, step: PathStep): PathGraph {
  const { algorithm, labels, direction, condition, weight, heuristic } = step;
  const follows = (edge: number, from: number): boolean => {
    frame.tick(1);
    frame.slots[condition!.slot] = edgeFrom(edge, from);
    return condition!.value(frame) === true;
  };
  const charge = (edges: number): void => {
    frame.tick(1 + edges);
    frame.reserveMemory(edges * rowBytes);
  };
  const oldest: BidirectionalGraph['oldest'] = (id, passes) => {
    const found = oldestEdge(frame, id, step, passes);
    charge(found.words >> 1);
    return found;
  };
  const endsIn = (side: 'out' | 'in' | 'both') => (id: number) => {
    const ends = farEnds(frame, id, labels, side);
    charge(ends.count);
    return ends;
  };
  return {
    // A condition needs the edge as it is followed from the start, so it excludes the backward search.
    ends:
      condition === undefined
        ? { oldest, ahead: endsIn(direction), back: endsIn(direction === 'both' ? 'both' : 'in') }
        : undefined,
    out(id) {
      const pairs = incidentEdges(frame, id, labels, direction);
      charge(pairs.length >> 1);
      if (condition === undefined) return pairs;
      const followed = new IdBuffer();
      for (let at = 0; at < pairs.length; at += 2) {
        if (follows(pairs[at]!, id)) followed.append(pairs.subarray(at, at + 2));
      }
      return followed.take();
    },
    weight(edge, from) {
      if (weight === undefined) return 1;
      frame.slots[weight.slot] = edgeFrom(edge, from);
      return weightOf(weight.value(frame), operation[algorithm]);
    },
    estimate(id) {
      if (algorithm !== 'astar' || heuristic === undefined) return 0;
      return Number(heuristic(frame, new Element(id)) ?? 0);
    },
  };
}

function weightOf(value: Value, path: string): number {
  if (value === null) arithmetic(path, 'a weight is null');
  const number = Number(value);
  if (!Number.isFinite(number)) arithmetic(path, 'a weight is not finite');
  if (number < 0) arithmetic(path, 'a weight is negative');
  return number;
}

function recordOfPath(frame: Frame, { nodes, edges, weight }: FoundPath): RecordValue {
  frame.reserveMemory((nodes.length + edges.length) * rowBytes);
  const path = nodes.map((id) => new Element(id));
  return new RecordValue(names, [path, edges.map((id) => new Element(id)), weight, edges.length]);
}
