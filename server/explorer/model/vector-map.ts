// The map of a vector type as the server draws it: points, the pairs that the index calls near, and how much
// of the truth that is. Pure.

export interface VectorMap {
  points: { id: string; x: number; y: number }[];
  /** Places in `points`. */
  edges: [number, number][];
  /** Similarity of each edge. */
  scores: number[];
  recall: number | null;
  dimensions: number;
  /** Vectors of the type. */
  of: number;
}

export interface Neighbour {
  id: string;
  score: number;
}

/** What is near each point, best first. */
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
const reach = 600;

/** Where each point begins: on the principal axes. */
export const placesOf = ({ points }: VectorMap): Map<string, { x: number; y: number }> =>
  new Map(points.map(({ id, x, y }) => [id, { x: x * reach, y: y * reach }]));
