// Reads the edges of one element from a page's position on. If ids increase with element numbers, the edge
// list is in the order of the page. For several elements, or other ids, all edges are read, and the page
// sorts them.
import type { Direction } from '../../plan/expression.js';
import type { Flow, IdFlow } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { edges, idsOf } from '../operators/neighbour.js';
import { lastUpTo, risenFrom } from './page-ids.js';
import type { Seek } from './page-seek.js';

const firstWindow = 64;
const lastWindow = 4096;

interface Lists {
  labels: readonly number[];
  direction: Direction;
}

export function edgesAfter(input: Flow, lists: Lists, seek: Seek): IdFlow {
  return { kind: 'ids', open: (frame) => edgesFrom(frame, input, lists, seek) };
}

function* edgesFrom(
  frame: Frame,
  input: Flow,
  { labels, direction }: Lists,
  seek: Seek,
): Iterable<Uint32Array> {
  const batches = [...idsOf(input, frame)];
  const [first] = batches;
  const isOne = batches.length === 1 && first!.length === 1;
  const last = isOne ? newestUpTo(frame, first![0]!, { labels, direction }, seek) : undefined;
  seek.ordered = last !== undefined;
  if (last !== undefined) yield* inOrder(frame, first![0]!, { labels, direction }, last);
  else {
    const open = () => batches.map((ids) => Uint32Array.from(ids));
    yield* edges({ kind: 'ids', open }, labels, direction).open(frame);
  }
}

/** Returns the newest edge that is not after the position, or undefined when the lists are not in order. */
function newestUpTo(
  frame: Frame,
  id: number,
  { labels, direction }: Lists,
  { start }: Seek,
): number | undefined {
  const from = risenFrom(frame);
  const isRisen = (label: number): boolean => {
    const [oldest = from] = frame.view.adjacencyAfter(id, label, direction, oldestOnly);
    return oldest >= from;
  };
  if (from === Number.POSITIVE_INFINITY || !labels.every(isRisen)) return undefined;
  return start === undefined ? 0 : lastUpTo(frame, start.id, from);
}

const oldestOnly = { after: 0, max: 1 };

/**
 * Yields edges of all labels by age, in growing windows, so that a consumer that stops early has read little.
 */
function* inOrder(
  frame: Frame,
  id: number,
  { labels, direction }: Lists,
  last: number,
): Iterable<Uint32Array> {
  let after = last;
  for (let max = firstWindow; after !== Number.POSITIVE_INFINITY; ) {
    const lists = labels.map((label) =>
      frame.view.adjacencyAfter(id, label, direction, { after, max }),
    );
    // If a window is full, another window may contain earlier edges after its end.
    const ends = lists.map((list) => (list.length < 2 * max ? Infinity : list.at(-2)!));
    const end = Math.min(...ends);
    const found: number[] = [];
    for (const list of lists) {
      for (let at = 0; at < list.length && list[at]! <= end; at += 2) found.push(list[at]!);
    }
    frame.tick(1 + found.length);
    yield Uint32Array.from(found).sort();
    after = end;
    max = Math.min(4 * max, lastWindow);
  }
}
