// Source over the items of a session: bare ids for graph steps, otherwise elements with their scores and
// hops.
import { isDeclared } from '../runtime/element.js';
import type { IdFlow, RowFlow } from '../runtime/flow.js';
import type { ItemList } from '../runtime/execute.js';
import type { Frame } from '../runtime/frame.js';
import { Element, type Value, searchHit } from '../runtime/value.js';

const noItems: ItemList = { ids: new Uint32Array(0) };

/** Items at start <= i < end. A negative end means the last item. */
function windowOf(frame: Frame, start: number, end: number): { from: number; to: number } {
  const length = frame.context.items?.ids.length ?? 0;
  return { from: start, to: end < 0 ? length : Math.min(end, length) };
}

/** Yields items as bare ids, including deleted ones: the next steps find no edges of those. */
export function itemIds(start: number, end: number): IdFlow {
  return { kind: 'ids', open: (frame) => itemIdsIds(frame, start, end) };
}

function* itemIdsIds(frame: Frame, start: number, end: number): Iterable<Uint32Array> {
  const { from, to } = windowOf(frame, start, end);
  if (from < to) yield frame.context.items!.ids.subarray(from, to);
}

/** Yields items as elements with their scores and hops. Deleted ones are skipped. */
export function itemRows(start: number, end: number): RowFlow {
  return { kind: 'rows', open: (frame) => itemRowsRows(frame, start, end) };
}

function* itemRowsRows(frame: Frame, start: number, end: number): Iterable<readonly Value[]> {
  const { from, to } = windowOf(frame, start, end);
  const { ids, scores, hops } = frame.context.items ?? noItems;
  for (let at = from, size = 4; at < to; size = Math.min(size * 4, 1024)) {
    const rows: Value[] = [];
    for (const stop = Math.min(at + size, to); at < stop; at++) {
      const element = new Element(ids[at]!);
      element.record = frame.readRecord(element.id);
      if (element.record === undefined || !isDeclared(frame, element.record)) continue;
      if (scores !== undefined) {
        element.hit = searchHit(scores[2 * at]!, scores[2 * at + 1]!);
      }
      if (hops !== undefined) element.hops = hops[at]!;
      rows.push(element);
    }
    frame.tick(size);
    if (rows.length > 0) yield rows;
  }
}
