// Elements as in responses, and their names for people. Pure.
import { shortened } from './short-text.js';

export interface Item {
  id: string;
  label: string;
  from_node?: string;
  to_node?: string;
  [property: string]: unknown;
}

const idForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const isId = (value: unknown): value is string =>
  typeof value === 'string' && idForm.test(value);

export const isItem = (value: unknown): value is Item =>
  typeof value === 'object' &&
  value !== null &&
  isId((value as Item).id) &&
  typeof (value as Item).label === 'string';

export const isEdge = (item: Item): boolean => isId(item.from_node) && isId(item.to_node);

const implicit = new Set(['id', 'label', 'from_node', 'to_node', 'score', 'distance', 'hops']);
const titleProperties = ['name', 'title', 'label_text', 'text', 'key', 'email', 'slug'];

/** Declared properties, in their order. */
export const propertiesOf = (item: Item): [string, unknown][] =>
  Object.entries(item).filter(([name]) => !implicit.has(name));

const titleMax = 60;

/** Returns the name of an element: its most descriptive string, or the beginning of its id. */
export function titleOf(item: Item): string {
  const texts = propertiesOf(item).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
  );
  const named = titleProperties.map((name) => texts.find(([key]) => key === name)).find(Boolean);
  const text = (named ?? texts[0])?.[1] ?? `${item.label} ${item.id.slice(-6)}`;
  return shortened(text, titleMax);
}

const depthMax = 12;

/** Returns every element and every id inside a value, at most `max` of them. */
export function itemsIn(value: unknown, max: number): Map<string, Item | undefined> {
  const found = new Map<string, Item | undefined>();
  const visit = (inner: unknown, depth: number): void => {
    if (found.size >= max || depth > depthMax) return;
    if (isItem(inner)) found.set(inner.id, inner);
    else if (isId(inner)) {
      if (!found.has(inner)) found.set(inner, undefined);
      return;
    }
    if (typeof inner !== 'object' || inner === null) return;
    for (const next of Object.values(inner)) visit(next, depth + 1);
  };
  visit(value, 0);
  return found;
}
