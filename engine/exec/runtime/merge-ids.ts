// Merges several ascending lists of ids into one, each id once.
// Invariant: no more of a list is read than the next batch needs, so that a consumer that stops early has
// read little.
import { IdBuffer } from './id-buffer.js';

const none = new Uint32Array(0);

/** Yields batch by batch: up to the smallest of the last ids read, all ids are known. */
export function* mergedIds(lists: readonly Iterable<Uint32Array>[]): Iterable<Uint32Array> {
  if (lists.length === 1) {
    yield* lists[0]!;
    return;
  }
  const open = lists.map((list) => list[Symbol.iterator]());
  try {
    let heads = open.map((each) => next(each));
    for (;;) {
      heads = heads.filter(({ ids }) => ids.length > 0);
      if (heads.length === 0) return;
      let bound = Number.POSITIVE_INFINITY;
      for (const { ids } of heads) bound = Math.min(bound, ids[ids.length - 1]!);
      const out = new IdBuffer();
      for (const head of heads) {
        const cut = upperBound(head.ids, bound);
        out.append(head.ids.subarray(0, cut));
        head.ids = head.ids.subarray(cut);
        if (head.ids.length === 0) head.ids = next(head.from).ids;
      }
      yield distinct(out.take().sort());
    }
  } finally {
    for (const each of open) each.return?.();
  }
}

interface Head {
  ids: Uint32Array;
  from: Iterator<Uint32Array>;
}

/** Returns the next ids of a list; empty at its end. */
function next(from: Iterator<Uint32Array>): Head {
  for (;;) {
    const { value, done } = from.next();
    if (done) return { ids: none, from };
    if (value.length > 0) return { ids: value, from };
  }
}

/** Returns how many of ascending ids are not greater than the bound. */
function upperBound(ids: Uint32Array, bound: number): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ids[middle]! > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}

function distinct(ids: Uint32Array): Uint32Array {
  if (ids.length < 2) return ids;
  let count = 1;
  for (let i = 1; i < ids.length; i++) if (ids[i] !== ids[i - 1]) ids[count++] = ids[i]!;
  return ids.subarray(0, count);
}
