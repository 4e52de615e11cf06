// Reads what a binding has captured of an element besides its record: its vector, and the values that its
// shape computed.
import type { Frame } from './frame.js';
import { Element, noHit } from './value.js';

/** Returns the vector at the element's binding, otherwise the stored one. */
export function vectorOf(frame: Frame, element: Element): Float64Array | undefined {
  return element.vector ?? frame.view.vector(element.id);
}

/** Copies how a traversal reached the element. */
function copyTraversal({ hops, origin }: Element, copy: Element): void {
  if (hops >= 0) copy.hops = hops;
  if (origin !== 0) copy.origin = origin;
}

/** Returns the element as it is stored now, with the attributes of the search and traversal of the row. */
export function refreshed(row: Element): Element {
  const element = new Element(row.id);
  if (row.hit !== noHit) element.hit = row.hit;
  copyTraversal(row, element);
  return element;
}

/**
 * Returns a copy of the element for other search attributes. It shows the captured values of the original.
 */
export function copyOf(frame: Frame, element: Element): Element {
  const copy = new Element(element.id);
  copy.record = element.record;
  if (element.vector !== undefined) copy.vector = element.vector;
  if (element.fresh) copy.fresh = true;
  copyTraversal(element, copy);
  frame.copyRetained(element, copy);
  return copy;
}
