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

/** Where the list of an element is: its pairs are `words` from `first` on, before `end`. */
const list: { words: Uint32Array; first: number; end: number } = {
  words: new Uint32Array(0),
  first: 0,
  end: 0,
};

/** Finds the list of an element. The result is valid until the next call. */
function pairsOf(frame: Frame, id: number, label: number, direction: Direction): typeof list {
  const lists = frame.edges()?.of(label, direction);
  const word = lists?.find(id) ?? 0;
  list.words = word === 0 ? frame.view.adjacency(id, label, direction) : lists!.words;
  list.first = word === 0 ? 0 : word + 1;
  list.end = word === 0 ? list.words.length : word + 1 + list.words[word]!;
  return list;
}

/**
 * Returns the oldest of the edges that `incidentEdges` returns whose other end passes, and how many words its
 * lists have. There must be one.
 */
export function oldestEdge(
  frame: Frame,
  id: number,
  { labels, direction }: { labels: readonly number[]; direction: Direction | 'both' },
  passes: (far: number) => boolean,
): { edge: number; far: number; words: number } {
  const oldest = { edge: Number.POSITIVE_INFINITY, far: 0, words: 0 };
  for (const label of labels) {
    for (const each of directionsOf[direction]) {
      const { words, first, end } = pairsOf(frame, id, label, each);
      oldest.words += end - first;
      let at = first;
      while (at < end && words[at]! < oldest.edge && !passes(words[at + 1]!)) at += 2;
      if (at >= end || words[at]! >= oldest.edge) continue;
      oldest.edge = words[at]!;
      oldest.far = words[at + 1]!;
    }
  }
  return oldest;
}

const directionsOf = { out: ['out'], in: ['in'], both: ['out', 'in'] } as const;

/** Ids that `farEnds` has found, valid until its next call. */
export interface FarEnds {
  ids: Uint32Array;
  count: number;
}

const found: FarEnds = { ids: new Uint32Array(1024), count: 0 };

/** Returns the other ends of the edges that `incidentEdges` returns, in any order. */
export function farEnds(
  frame: Frame,
  id: number,
  labels: readonly number[],
  direction: Direction | 'both',
): FarEnds {
  found.count = 0;
  for (let i = 0; i < labels.length; i++) {
    if (direction !== 'in') addFarEnds(frame, id, labels[i]!, 'out', 0);
    // Self-loops are among the outgoing edges. No id is 0.
    if (direction !== 'out') addFarEnds(frame, id, labels[i]!, 'in', direction === 'both' ? id : 0);
  }
  return found;
}

function addFarEnds(
  frame: Frame,
  id: number,
  label: number,
  direction: Direction,
  except: number,
): void {
  const { words, first, end } = pairsOf(frame, id, label, direction);
  const needed = found.count + ((end - first) >> 1);
  if (needed > found.ids.length) {
    const grown = new Uint32Array(2 * needed);
    grown.set(found.ids);
    found.ids = grown;
  }
  const { ids } = found;
  let { count } = found;
  for (let at = first + 1; at < end; at += 2) if (words[at] !== except) ids[count++] = words[at]!;
  found.count = count;
}
