// The keyword document of an element: its String and [String] values in the order of their slots. No edit of
// a declaration changes this order, so a truncated document stays the same.
import type { PropertyType } from '../../base/schema.js';
import type { DocumentText } from '../../base/text/document-text.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { decodeProperty } from './record.js';
import type { Label, StoredProperty, WriteView } from '../table/view-types.js';

/** The functions of the keyword index that a rebuild needs; engine/text implements them. */
export interface DocumentIndex {
  add(view: WriteView, label: number, id: number, texts: readonly DocumentText[]): void;
  remove(view: WriteView, label: number, id: number, texts: readonly DocumentText[]): void;
}

const isText = (type: PropertyType): boolean =>
  type.kind === 'list' ? type.of.kind === 'scalar' && isText(type.of) : type.name === 'String';

const known = new WeakMap<Label, readonly StoredProperty[]>();

/** Returns the declared properties that form the document; edges have none. */
export function textProperties(label: Label): readonly StoredProperty[] {
  let list = known.get(label);
  if (list === undefined) {
    const texts = label.properties.filter(({ type }) => label.kind !== 'edge' && isText(type));
    known.set(label, (list = texts.sort((a, b) => a.slot - b.slot)));
  }
  return list;
}

/** Returns the texts of a record as its label declares them; edges have no document. */
export function textsOf(label: Label, record: Uint8Array): DocumentText[] {
  return collectTexts(label, (property) => decodeProperty(record, property));
}

/** Like `textsOf`, for an element whose values are not in a record. */
export function collectTexts(
  label: Label,
  readValue: (property: StoredProperty) => Scalar | ScalarList | undefined,
): DocumentText[] {
  const texts: DocumentText[] = [];
  for (const property of textProperties(label)) {
    const value = readValue(property);
    if (typeof value === 'string') texts.push(value);
    else if (Array.isArray(value)) texts.push(...value.filter((item) => item !== null));
  }
  return texts;
}
