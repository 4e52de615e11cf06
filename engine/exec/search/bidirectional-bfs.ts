// Finds a path with the fewest edges, searching from both ends in turn, level by level, from the side with
// the smaller level. In a graph of degree d, it reads about 2 d^(n/2) edges instead of d^n. Among equal
// paths, the one with the earlier edges wins, as in a forward search.
import type { FarEnds } from '../runtime/edge-list.js';
import { IdDistances } from './id-distances.js';

/** Nodes and edges in path order; one node more than edges. */
export interface FoundPath {
  nodes: number[];
  edges: number[];
  weight: number;
}

/** What the search reads of a graph. */
export interface BidirectionalGraph {
  /** The oldest outgoing edge whose other end passes. There is one. */
  oldest: (id: number, passes: (far: number) => boolean) => { edge: number; far: number };
  /** Other ends of the edges in either direction, in any order, valid until the next call. */
  ahead: (id: number) => FarEnds;
  back: (id: number) => FarEnds;
}

/** One side of the search: the visited nodes by distance, and the last level. */
interface Side {
  distances: IdDistances;
  level: number[];
  depth: number;
}

/** Distances from both ends. A search never waits for another one on its thread. */
const [fromStart, fromGoal] = [new IdDistances(), new IdDistances()];

function sideOf(id: number, distances: IdDistances): Side {
  distances.clear();
  distances.add(id, 0);
  return { distances, level: [id], depth: 0 };
}

export function fromBothEnds(
  { oldest, ahead: next, back: before }: BidirectionalGraph,
  start: number,
  goal: number,
): FoundPath | undefined {
  const [ahead, back] = [sideOf(start, fromStart), sideOf(goal, fromGoal)];
  let meeting = start === goal ? [start] : [];
  while (meeting.length === 0) {
    if (ahead.level.length === 0 || back.level.length === 0) return undefined;
    meeting =
      ahead.level.length <= back.level.length
        ? deepen(ahead, next, back.distances)
        : deepen(back, before, ahead.distances);
  }
  const levels = levelsTo(new Set(meeting), ahead, before);
  const length = ahead.depth + back.depth;
  const nodes = [start];
  const edges: number[] = [];
  for (let at = start; edges.length < length; at = nodes[nodes.length - 1]!) {
    const step = edges.length + 1;
    const leads = (far: number): boolean =>
      step <= ahead.depth ? levels[step]!.has(far) : back.distances.get(far) === length - step;
    const { edge, far } = oldest(at, leads);
    edges.push(edge);
    nodes.push(far);
  }
  return { nodes, edges, weight: length };
}

/** Computes the next level. Returns its nodes that the other side has visited too. */
function deepen(side: Side, next: BidirectionalGraph['ahead'], others: IdDistances): number[] {
  const { distances } = side;
  const level: number[] = [];
  const meeting: number[] = [];
  side.depth++;
  for (const from of side.level) {
    const { ids, count } = next(from);
    for (let i = 0; i < count; i++) {
      const far = ids[i]!;
      if (!distances.add(far, side.depth)) continue;
      level.push(far);
      if (others.get(far) >= 0) meeting.push(far);
    }
  }
  side.level = level;
  return meeting;
}

/** Returns, by distance from the start, the nodes on a shortest path to where the sides met. */
function levelsTo(
  meeting: ReadonlySet<number>,
  { distances, depth }: Side,
  back: BidirectionalGraph['back'],
) {
  const levels: ReadonlySet<number>[] = [];
  levels[depth] = meeting;
  for (let at = depth; at > 1; at--) {
    const before = new Set<number>();
    for (const id of levels[at]!) {
      const { ids, count } = back(id);
      for (let i = 0; i < count; i++) if (distances.get(ids[i]!) === at - 1) before.add(ids[i]!);
    }
    levels[at - 1] = before;
  }
  return levels;
}
