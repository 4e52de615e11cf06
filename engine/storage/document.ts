// The keyword document of an element: its String and [String] values, in declaration order.
import type { PropertyType } from '../base/schema.js';
import { decodeProperty } from './record.js';
import type { Label, WriteView } from './store.js';

/** What the keyword index offers for rebuilding; the text room implements it. */
export interface DocumentIndex {
  add(view: WriteView, label: number, id: number, texts: readonly string[]): void;
  remove(view: WriteView, label: number, id: number, texts: readonly string[]): void;
}

const isText = (type: PropertyType): boolean =>
  type.kind === 'list' ? type.of.kind === 'scalar' && isText(type.of) : type.name === 'String';

/** Texts of a record as its label declares them; edges have no document. */
export function textsOf(label: Label, record: Uint8Array): string[] {
  const texts: string[] = [];
  if (label.kind === 'edge') return texts;
  for (const property of label.properties) {
    if (!isText(property.type)) continue;
    const value = decodeProperty(record, property);
    if (typeof value === 'string') texts.push(value);
    else if (Array.isArray(value)) texts.push(...value.filter((item) => item !== null));
  }
  return texts;
}
