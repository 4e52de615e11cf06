// Describes how rows of one type become records: the positions of its properties, computed once.
import type { ScalarName } from '../../../base/schema.js';
import { textProperties } from '../../../storage/record/text-document.js';
import type { Label, StoredProperty } from '../../../storage/table/view-types.js';

/** One property, in slot order. */
export interface FormField {
  property: StoredProperty;
  /** Index of the property in the declaration. */
  index: number;
  scalar: ScalarName | undefined;
  /** True if its values belong to the keyword document. */
  isText: boolean;
}

export interface TypeForm {
  label: Label;
  slots: number;
  /** Fields by slot. Slots of properties that are no longer declared are empty. */
  fields: (FormField | undefined)[];
  /** Indexes of the properties whose texts form the keyword document, in its order. */
  texts: number[];
}

export function formOf(label: Label): TypeForm {
  const fields: (FormField | undefined)[] = [];
  const documented = textProperties(label);
  const texts = documented.map((property) => label.properties.indexOf(property));
  label.properties.forEach((property, index) => {
    const { type } = property;
    const isText = documented.includes(property);
    const scalar = type.kind === 'scalar' ? type.name : undefined;
    fields[property.slot] = { property, index, scalar, isText };
  });
  for (let slot = 0; slot < fields.length; slot++) fields[slot] ??= undefined;
  return { label, slots: fields.length, fields, texts };
}
