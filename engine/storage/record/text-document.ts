// The keyword document of an element: its String and [String] values in the order of their slots,
// which no edit of a declaration changes: a document that is cut short stays the same.
import type { PropertyType } from '../../base/schema.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { decodeProperty } from './record.js';
import type { Label, StoredProperty, WriteView } from '../table/view-types.js';

/** What the keyword index offers for rebuilding; the text room implements it. */
export interface DocumentIndex {
  add(view: WriteView, label: number, id: number, texts: readonly string[]): void;
  remove(view: WriteView, label: number, id: number, texts: readonly string[]): void;
}

const isText = (type: PropertyType): boolean =>
  type.kind === 'list' ? type.of.kind === 'scalar' && isText(type.of) : type.name === 'String';

const known = new WeakMap<Label, readonly StoredProperty[]>();

/** The declared properties that make the document; edges have none. */
export function textProperties(label: Label): readonly StoredProperty[] {
  let list = known.get(label);
  if (list === undefined) {
    const texts = label.properties.filter(({ type }) => label.kind !== 'edge' && isText(type));
    known.set(label, (list = texts.sort((a, b) => a.slot - b.slot)));
  }
  return list;
}

/** Texts of a record as its label declares them; edges have no document. */
export function textsOf(label: Label, record: Uint8Array): string[] {
  return textsAmong(label, (property) => decodeProperty(record, property));
}

/** As `textsOf`, of an element whose values are not a record's. */
export function textsAmong(
  label: Label,
  readValue: (property: StoredProperty) => Scalar | ScalarList | undefined,
): string[] {
  const texts: string[] = [];
  for (const property of textProperties(label)) {
    const value = readValue(property);
    if (typeof value === 'string') texts.push(value);
    else if (Array.isArray(value)) texts.push(...value.filter((item) => item !== null));
  }
  return texts;
}
