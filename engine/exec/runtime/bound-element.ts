// What a binding keeps of an element beside its record: its embedding, and what its shape computed
// (helixql.md 6.3).
import type { Frame } from './frame.js';
import { Element } from './value.js';

/** The embedding as of the element's binding, else as it is stored. */
export function vectorOf(frame: Frame, element: Element): Float64Array | undefined {
  return element.vector ?? frame.view.vector(element.id);
}

/** Lets a copy show how a walk came to the element. */
function copyTraversal({ hops, origin }: Element, copy: Element): void {
  if (hops >= 0) copy.hops = hops;
  if (origin !== 0) copy.origin = origin;
}

/** The element as it is stored now, with what the search and the walk of the row have left on it. */
export function refreshed(row: Element): Element {
  const element = new Element(row.id);
  if (!Number.isNaN(row.score)) element.score = row.score;
  if (!Number.isNaN(row.distance)) element.distance = row.distance;
  if (!Number.isNaN(row.share)) element.share = row.share;
  if (row.reranked) element.reranked = true;
  copyTraversal(row, element);
  return element;
}

/** The same element for other search attributes: it shows what its binding has kept. */
export function copyOf(frame: Frame, element: Element): Element {
  const copy = new Element(element.id);
  copy.record = element.record;
  if (element.vector !== undefined) copy.vector = element.vector;
  if (element.fresh) copy.fresh = true;
  copyTraversal(element, copy);
  frame.copyRetained(element, copy);
  return copy;
}
