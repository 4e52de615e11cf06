// The keyword document of an element: the texts of its searched properties in the order of their slots. No
// edit of a declaration changes this order, so a truncated document stays the same.
import { isText } from '../../base/schema.js';
import type { SearchOptions } from '../../base/text/search-options.js';
import type { DocumentText } from '../../base/text/document-text.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { decodeProperty } from './record.js';
import type { Label, StoredProperty, WriteView } from '../table/view-types.js';

/** The functions of the keyword index that a rebuild needs; engine/text implements them. */
export interface DocumentIndex {
  add(view: WriteView, label: number, id: number, texts: readonly DocumentText[]): void;
  remove(view: WriteView, label: number, id: number, texts: readonly DocumentText[]): void;
}

const known = new WeakMap<Label, readonly StoredProperty[]>();

/**
 * Returns the properties that form the document: those that bear `SEARCH`, or all texts if none does.
 * Edges have none.
 */
export function textProperties(label: Label): readonly StoredProperty[] {
  let list = known.get(label);
  if (list === undefined) {
    const all = label.properties.filter(({ type }) => label.kind !== 'edge' && isText(type));
    const marked = all.filter(({ search }) => search !== undefined);
    const texts = marked.length > 0 ? marked : all;
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
    addTexts(texts, property, value);
  }
  return texts;
}

/** Adds the value of a property to the texts of a document. */
export function addTexts(
  texts: DocumentText[],
  { search }: StoredProperty,
  value: Scalar | ScalarList | undefined,
): void {
  const list = typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
  for (const item of list) {
    if (typeof item !== 'string') continue;
    texts.push(search === undefined ? item : { text: item, search });
  }
}

/** Returns the options of the properties that bear `SEARCH`; none if all texts are searched. */
export const searchMarks = (label: Label): readonly SearchOptions[] =>
  textProperties(label).flatMap(({ search }) => search ?? []);
