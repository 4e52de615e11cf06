// Finds shortest paths over dense ids: breadth first (Moore 1959), and best first with an estimate (Hart,
// Nilsson, Raphael 1968), which is Dijkstra's algorithm (1959) when the estimate is 0. The graph is passed as
// functions. Among equal paths, the one with the earlier edges wins, compared edge by edge from the start.
// Without weights and conditions, the search runs from both ends (bidirectional-bfs.ts).
import { type BidirectionalGraph, type FoundPath, fromBothEnds } from './bidirectional-bfs.js';

export interface PathGraph {
  /** Outgoing adjacency [edge, far, …], oldest edge first. */
  out: (id: number) => Uint32Array;
  /** For searches from both ends. Without it, searches only go forwards. */
  ends?: BidirectionalGraph | undefined;
  /** Weight of an edge, finite and not negative. `from` is the endpoint from which the edge is followed. */
  weight: (edge: number, from: number) => number;
  /** Estimate of the remaining cost. */
  estimate: (id: number) => number;
}

interface Arrival {
  edge: number;
  from: number;
}

/**
 * Returns the path with the fewest edges. A first-in first-out queue visits nodes in the order of their
 * paths, so the first arrival is the earliest path.
 */
export function breadthFirst(graph: PathGraph, start: number, goal: number): FoundPath | undefined {
  const { ends } = graph;
  return ends === undefined ? forwards(graph, start, goal) : fromBothEnds(ends, start, goal);
}

function forwards(graph: PathGraph, start: number, goal: number): FoundPath | undefined {
  const arrivals = new Map<number, Arrival>([[start, { edge: 0, from: 0 }]]);
  let layer = [start];
  while (layer.length > 0 && !arrivals.has(goal)) {
    const next: number[] = [];
    for (const from of layer) {
      const pairs = graph.out(from);
      for (let i = 0; i < pairs.length; i += 2) {
        const far = pairs[i + 1]!;
        if (arrivals.has(far)) continue;
        arrivals.set(far, { edge: pairs[i]!, from });
        next.push(far);
      }
    }
    layer = next;
  }
  if (!arrivals.has(goal)) return undefined;
  const nodes = [goal];
  const edges: number[] = [];
  for (let at = goal; at !== start; ) {
    const { edge, from } = arrivals.get(at)!;
    edges.push(edge);
    nodes.push(from);
    at = from;
  }
  return { nodes: nodes.reverse(), edges: edges.reverse(), weight: edges.length };
}

interface Open {
  id: number;
  cost: number;
  /** Cost so far plus estimate. */
  total: number;
}

/** A binary min-heap by total cost. */
class OpenHeap {
  readonly #heap: Open[] = [];

  push(entry: Open): void {
    const heap = this.#heap;
    let at = heap.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.total <= entry.total) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = entry;
  }

  pop(): Open | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined || heap.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.total < heap[child]!.total) child++;
      if (heap[child]!.total >= last.total) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
    return top;
  }
}

interface Reached {
  cost: number;
  /** All edges through which this cost was reached, with their sources. */
  arrivals: Map<number, number>;
}

/**
 * Returns the path of least weight. Nodes are reopened when reached at a lower cost, so the estimate need not
 * be consistent.
 */
export function cheapest(graph: PathGraph, start: number, goal: number): FoundPath | undefined {
  const reached = new Map<number, Reached>([[start, { cost: 0, arrivals: new Map() }]]);
  const heap = new OpenHeap();
  heap.push({ id: start, cost: 0, total: graph.estimate(start) });
  for (let open = heap.pop(); open !== undefined; open = heap.pop()) {
    const best = reached.get(goal);
    // Entries that tie with the best path may still lead to an earlier edge.
    if (best !== undefined && open.total > best.cost) break;
    if (open.cost > reached.get(open.id)!.cost || open.id === goal) continue;
    const pairs = graph.out(open.id);
    for (let i = 0; i < pairs.length; i += 2) {
      const edge = pairs[i]!;
      const far = pairs[i + 1]!;
      const cost = open.cost + graph.weight(edge, open.id);
      const known = reached.get(far);
      if (known !== undefined && known.cost < cost) continue;
      if (known !== undefined && known.cost === cost) {
        known.arrivals.set(edge, open.id);
        continue;
      }
      reached.set(far, { cost, arrivals: new Map([[edge, open.id]]) });
      heap.push({ id: far, cost, total: cost + graph.estimate(far) });
    }
  }
  const end = reached.get(goal);
  if (end === undefined) return undefined;
  const { nodes, edges } = earliest(reached, start, goal);
  return { nodes, edges, weight: end.cost };
}

/**
 * Returns the edges of equally cheap paths, forwards: for every node of such a path, its next edges, oldest
 * first.
 */
function forwardEdges(reached: Map<number, Reached>, start: number, goal: number) {
  const next = new Map<number, { edge: number; far: number }[]>();
  const seen = new Set([goal]);
  const pending = [goal];
  for (let far = pending.pop(); far !== undefined; far = pending.pop()) {
    if (far === start) continue;
    for (const [edge, from] of reached.get(far)!.arrivals) {
      const edges = next.get(from);
      if (edges) edges.push({ edge, far });
      else next.set(from, [{ edge, far }]);
      if (seen.has(from)) continue;
      seen.add(from);
      pending.push(from);
    }
  }
  for (const edges of next.values()) edges.sort((a, b) => a.edge - b.edge);
  return next;
}

/**
 * Searches depth first, oldest edge first. Edges of weight 0 may form cycles, so visited nodes are recorded.
 */
function earliest(
  reached: Map<number, Reached>,
  start: number,
  goal: number,
): { nodes: number[]; edges: number[] } {
  const next = forwardEdges(reached, start, goal);
  const nodes = [start];
  const edges: number[] = [];
  const met = new Set([start]);
  const positions = [0];
  while (nodes.at(-1) !== goal) {
    const choices = next.get(nodes.at(-1)!) ?? [];
    const position = positions.at(-1)!;
    if (position === choices.length) {
      nodes.pop();
      positions.pop();
      edges.pop();
      continue;
    }
    positions[positions.length - 1] = position + 1;
    const { edge, far } = choices[position]!;
    if (met.has(far)) continue;
    met.add(far);
    nodes.push(far);
    edges.push(edge);
    positions.push(0);
  }
  return { nodes, edges };
}
