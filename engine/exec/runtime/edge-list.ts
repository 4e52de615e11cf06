// Reads the edges of one element under several labels and in either direction, by age of the edge.
import type { Direction } from '../../plan/expression.js';
import type { Frame } from './frame.js';

/**
 * Returns the adjacency pairs [edge, far, …] of one element under several labels, merged by age of the edge.
 */
export function adjacent(
  frame: Frame,
  id: number,
  labels: readonly number[],
  direction: Direction,
): Uint32Array {
  if (labels.length === 1) return frame.adjacency(id, labels[0]!, direction);
  const lists = labels
    .map((label) => frame.adjacency(id, label, direction))
    .filter((pairs) => pairs.length > 0);
  if (lists.length <= 1) return lists[0] ?? new Uint32Array(0);
  const pairs: [edge: number, far: number][] = [];
  for (const list of lists)
    for (let i = 0; i < list.length; i += 2) pairs.push([list[i]!, list[i + 1]!]);
  pairs.sort((a, b) => a[0] - b[0]);
  return Uint32Array.from(pairs.flat());
}

/** Like `adjacent`, in both directions. A self-loop comes once. */
export function incidentEdges(
  frame: Frame,
  id: number,
  labels: readonly number[],
  direction: Direction | 'both',
): Uint32Array {
  if (direction !== 'both') return adjacent(frame, id, labels, direction);
  const [a, b] = [adjacent(frame, id, labels, 'out'), adjacent(frame, id, labels, 'in')];
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  const pairs = new Uint32Array(a.length + b.length);
  let at = 0;
  for (let i = 0, j = 0; i < a.length || j < b.length; at += 2) {
    const isFirst = j >= b.length || (i < a.length && a[i]! <= b[j]!);
    const [from, index] = isFirst ? [a, i] : [b, j];
    pairs[at] = from[index]!;
    pairs[at + 1] = from[index + 1]!;
    if (!isFirst || a[i] === b[j]) j += 2;
    if (isFirst) i += 2;
  }
  return pairs.subarray(0, at);
}
