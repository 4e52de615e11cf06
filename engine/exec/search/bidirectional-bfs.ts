// Finds a path with the fewest edges, searching from both ends in turn, level by level, from the side with
// the smaller level. In a graph of degree d, it reads about 2 d^(n/2) edges instead of d^n. Among equal
// paths, the one with the earlier edges wins, as in a forward search.

/** Nodes and edges in path order; one node more than edges. */
export interface FoundPath {
  nodes: number[];
  edges: number[];
  weight: number;
}

/** Adjacency [edge, far, …], oldest edge first. */
type Pairs = (id: number) => Uint32Array;

/** One side of the search: the visited nodes by distance, and the last level. */
interface Side {
  distances: Map<number, number>;
  level: number[];
  depth: number;
}

const sideOf = (id: number): Side => ({ distances: new Map([[id, 0]]), level: [id], depth: 0 });

export function fromBothEnds(
  { out, into }: { out: Pairs; into: Pairs },
  start: number,
  goal: number,
): FoundPath | undefined {
  const [ahead, back] = [sideOf(start), sideOf(goal)];
  let meeting = start === goal ? [start] : [];
  while (meeting.length === 0) {
    if (ahead.level.length === 0 || back.level.length === 0) return undefined;
    meeting =
      ahead.level.length <= back.level.length
        ? deepen(ahead, out, back.distances)
        : deepen(back, into, ahead.distances);
  }
  const levels = levelsTo(new Set(meeting), ahead, into);
  const length = ahead.depth + back.depth;
  const nodes = [start];
  const edges: number[] = [];
  for (let at = start; edges.length < length; at = nodes[nodes.length - 1]!) {
    const step = edges.length + 1;
    const leads = (far: number): boolean =>
      step <= ahead.depth ? levels[step]!.has(far) : back.distances.get(far) === length - step;
    const pairs = out(at);
    let i = 0;
    while (!leads(pairs[i + 1]!)) i += 2;
    edges.push(pairs[i]!);
    nodes.push(pairs[i + 1]!);
  }
  return { nodes, edges, weight: length };
}

/** Computes the next level. Returns its nodes that the other side has visited too. */
function deepen(side: Side, next: Pairs, others: ReadonlyMap<number, number>): number[] {
  const { distances } = side;
  const level: number[] = [];
  const meeting: number[] = [];
  side.depth++;
  for (const from of side.level) {
    const pairs = next(from);
    for (let i = 1; i < pairs.length; i += 2) {
      const far = pairs[i]!;
      if (distances.has(far)) continue;
      distances.set(far, side.depth);
      level.push(far);
      if (others.has(far)) meeting.push(far);
    }
  }
  side.level = level;
  return meeting;
}

/** Returns, by distance from the start, the nodes on a shortest path to where the sides met. */
function levelsTo(meeting: ReadonlySet<number>, { distances, depth }: Side, into: Pairs) {
  const levels: ReadonlySet<number>[] = [];
  levels[depth] = meeting;
  for (let at = depth; at > 1; at--) {
    const before = new Set<number>();
    for (const id of levels[at]!) {
      const pairs = into(id);
      for (let i = 1; i < pairs.length; i += 2) {
        if (distances.get(pairs[i]!) === at - 1) before.add(pairs[i]!);
      }
    }
    levels[at - 1] = before;
  }
  return levels;
}
