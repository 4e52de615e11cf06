// The map of a vector type: points, the pairs that the index finds near, and the recall of these pairs. Pure.

export interface VectorMap {
  points: { id: string; x: number; y: number }[];
  /** Pairs of indexes in `points`. */
  edges: [number, number][];
  /** Similarity of each edge. */
  scores: number[];
  recall: number | null;
  dimensions: number;
  /** Number of vectors of the type. */
  of: number;
}

export interface Neighbour {
  id: string;
  score: number;
}

/** Returns the neighbors of each point, nearest first. */
export function neighboursOf({ points, edges, scores }: VectorMap): Map<string, Neighbour[]> {
  const found = new Map<string, Neighbour[]>(points.map(({ id }) => [id, []]));
  for (const [at, [from, to]] of edges.entries()) {
    const [a, b] = [points[from]!.id, points[to]!.id];
    found.get(a)!.push({ id: b, score: scores[at]! });
    found.get(b)!.push({ id: a, score: scores[at]! });
  }
  return found;
}

/** Distance between the farthest points when the layout begins. */
const extent = 600;

/** Returns the initial position of each point, on the principal axes. */
export const initialPositions = ({ points }: VectorMap): Map<string, { x: number; y: number }> =>
  new Map(points.map(({ id, x, y }) => [id, { x: x * extent, y: y * extent }]));
