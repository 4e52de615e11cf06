// Groups hits by the elements that they lead to, their parents: the best parents, each with its best hit.
// Invariant: parents come in the order of their best hits; parents of one hit come by age.
import { copyOf } from '../runtime/bound-element.js';
import type { Evaluate } from '../runtime/compiled.js';
import { rowsOf } from '../runtime/flow.js';
import type { Frame } from '../runtime/frame.js';
import { rowBytes } from '../runtime/frame.js';
import { Element } from '../runtime/value.js';

/** How a hit leads to its parents: `value` with the hit in `slot`. */
export interface ToParents {
  slot: number;
  value: Evaluate;
}

/** Hits to request first, as a multiple of the wanted parents. Each further request is as much wider. */
const growth = 4;

/** Returns the parents of one hit, each once. */
function parentsOf(frame: Frame, { slot, value }: ToParents, hit: Element): Element[] {
  frame.tick(1);
  frame.slots[slot] = hit;
  const parents = new Map<number, Element>();
  for (const row of rowsOf(value(frame)))
    if (row instanceof Element && !parents.has(row.id)) parents.set(row.id, row);
  return [...parents.values()].sort((a, b) => a.id - b.id);
}

/** Returns a parent as a row that has the score of its best hit. */
function withHit(frame: Frame, parent: Element, found: Element): Element {
  const copy = copyOf(frame, parent);
  copy.hit = { ...found.hit, found };
  return copy;
}

/**
 * Returns the first `k` parents of hits that come best first. `memo` has the parents of hits that were seen
 * before, by the id of the hit.
 */
export function firstParents(
  frame: Frame,
  by: ToParents,
  hits: readonly Element[],
  k: number,
  memo: Map<number, Element[]> = new Map(),
): Element[] {
  const best = new Map<number, Element>();
  for (const hit of hits) {
    let parents = memo.get(hit.id);
    if (parents === undefined) {
      parents = parentsOf(frame, by, hit);
      frame.reserveMemory((1 + parents.length) * rowBytes);
      memo.set(hit.id, parents);
    }
    for (const parent of parents) {
      if (best.has(parent.id)) continue;
      best.set(parent.id, withHit(frame, parent, hit));
      if (best.size === k) return [...best.values()];
    }
  }
  return [...best.values()];
}

/**
 * Returns the best `k` parents. `ranked` returns the best hits, up to a count, and fewer only if there are no
 * more. Requests more hits until they lead to k parents; undefined if that takes more than `max` hits.
 */
export function widenedParents(
  frame: Frame,
  by: ToParents,
  k: number,
  ranked: (count: number) => readonly Element[],
  max: number,
): Element[] | undefined {
  const memo = new Map<number, Element[]>();
  for (let count = growth * k; ; count *= growth) {
    const wanted = Math.min(count, max);
    const hits = ranked(wanted);
    const parents = firstParents(frame, by, hits, k, memo);
    if (parents.length === k || hits.length < wanted) return parents;
    if (wanted === max) return undefined;
  }
}

/**
 * Returns the best `k` parents of all hits in any order. Keeps one hit for each parent, so that the number of
 * hits does not matter. `compare` returns a negative number when its first hit is better.
 */
export function bestParents(
  frame: Frame,
  by: ToParents,
  k: number,
  hits: Iterable<Element>,
  compare: (a: Element, b: Element) => number,
): Element[] {
  const best = new Map<number, { parent: Element; hit: Element }>();
  for (const hit of hits) {
    for (const parent of parentsOf(frame, by, hit)) {
      const known = best.get(parent.id);
      if (known === undefined) {
        frame.reserveMemory(3 * rowBytes);
        best.set(parent.id, { parent, hit });
      } else if (compare(hit, known.hit) < 0) known.hit = hit;
    }
  }
  return [...best.values()]
    .sort((a, b) => compare(a.hit, b.hit) || a.parent.id - b.parent.id)
    .slice(0, k)
    .map(({ parent, hit }) => withHit(frame, parent, hit));
}
