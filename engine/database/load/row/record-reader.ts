// Converts the properties of one row into a record, its index prefixes and its keyword document. Strings,
// booleans and short integers whose text equals the stored form are copied. Everything else is decoded and
// printed.
import type { DocumentText } from '../../../base/text/document-text.js';
import type { LanguageName } from '../../../base/text/language-name.js';
import { fail } from '../../../base/errors.js';
import { integerFits } from '../../../base/integer.js';
import type { Limits } from '../../../base/limits.js';
import { defaultAt } from '../../../base/schema.js';
import type { Instant, Scalar, ScalarList } from '../../../base/value.js';
import { decodeValue } from '../../../json/decode.js';
import type { Decoding } from '../../../json/validation-error.js';
import type { JsonView } from '../../../json/view.js';
import { beginRecord } from '../../../storage/record/record-template.js';
import { addTexts } from '../../../storage/record/text-document.js';
import { printValue } from '../../../storage/record/fragment.js';
import { valueSize } from '../../../storage/index/index-entry.js';
import { prefixOf } from '../../../storage/index/index-key.js';
import type { StoredProperty } from '../../../storage/table/view-types.js';
import { putWord } from '../../../storage/table/little-endian.js';
import { countTerms } from '../../../text/analysis/analyzer.js';
import type { BatchBuilder } from './batch-builder.js';
import type { FormField, TypeForm } from './row-schema.js';

/** Integers of up to this many characters are exact as numbers. */
const shortDigits = 15;

export interface RecordReaderOptions {
  limits: Limits;
  textEnabled: boolean;
  textLanguage: LanguageName;
}

export class RecordReader {
  /** The value of `NOW`. */
  now!: Instant;
  /** True for rows of a dump: properties that are left out stay unset, without defaults. */
  exact = false;
  /** Values of the row that are needed beyond their text, by property index. */
  #values: (Scalar | ScalarList)[] = [];

  constructor(
    private readonly batch: BatchBuilder,
    private readonly options: RecordReaderOptions,
  ) {}

  /**
   * `bytes` are the bytes to which the fields (by slot) refer. Errors of values are recorded in `decoding`.
   */
  read(
    bytes: Uint8Array,
    form: TypeForm,
    fields: readonly (JsonView | undefined)[],
    decoding: Decoding,
  ): void {
    const { batch } = this;
    const { writer } = batch;
    const table = beginRecord(writer, form.label, form.slots);
    this.#values.length = 0;
    for (let slot = 0; slot < form.slots; slot++) {
      const field = form.fields[slot];
      if (field !== undefined) {
        const view = fields[slot];
        if (view === undefined || view.kind === 'null') this.#default(field);
        else this.#value(bytes, view, field, decoding);
      }
      putWord(writer.bytes, table + 4 * slot, writer.length - batch.recordStart);
    }
    if (decoding.errors.length > 0) return;
    const size = writer.length - batch.recordStart;
    const max = this.options.limits.element_bytes;
    if (size > max) fail('VALUE_TOO_LARGE', { param: 'element', size, max });
    batch.endRecord();
    this.#index(form);
    if (form.texts.length > 0 && this.options.textEnabled) this.#document(form);
  }

  #default({ property, index, isText }: FormField): void {
    const defaultValue = property.default;
    if (defaultValue === undefined || this.exact) return;
    const value = defaultAt(defaultValue, property.type, this.now);
    if (value === null) return;
    this.#print(property, value);
    if (property.indexId !== 0 || isText) this.#values[index] = value;
  }

  #value(bytes: Uint8Array, view: JsonView, field: FormField, decoding: Decoding): void {
    const { property, index, isText } = field;
    const needed = property.indexId !== 0 || isText;
    if (this.#copy(bytes, view, field)) {
      if (needed) this.#values[index] = scalarOf(view);
      return;
    }
    const value = decodeValue(view, property.type, decoding) as Scalar | ScalarList;
    if (value === null) return;
    const exact = typeof value === 'number' ? value + 0 : value;
    this.#print(property, exact);
    if (needed) this.#values[index] = exact;
  }

  /** Copies a token whose text equals the stored form. Returns false when it must be decoded. */
  #copy(bytes: Uint8Array, view: JsonView, { scalar }: FormField): boolean {
    const { writer } = this.batch;
    switch (scalar) {
      case undefined:
      case 'Date':
      case 'ID':
      case 'F32':
      case 'F64':
      case 'Json':
        return false;
      case 'String': {
        if (!view.verbatim || view.size > this.options.limits.value_bytes) return false;
        writer.append(bytes, view.start - 1, view.start + view.size + 1);
        return true;
      }
      case 'Boolean':
        if (view.kind !== 'boolean') return false;
        writer.ascii(view.boolean() ? 'true' : 'false');
        return true;
      default: {
        if (!view.integral || view.size > shortDigits) return false;
        const value = view.float();
        if (Object.is(value, -0) || !integerFits(value, scalar)) return false;
        writer.append(bytes, view.start, view.start + view.size);
        return true;
      }
    }
  }

  #print(property: StoredProperty, value: Scalar | ScalarList): void {
    const { writer } = this.batch;
    const start = writer.length;
    printValue(writer, value, property.type);
    const max = this.options.limits.value_bytes;
    const size = writer.length - start;
    if (size <= max) return;
    const own = typeof value === 'string' ? Buffer.byteLength(value) : size;
    if (own > max) fail('VALUE_TOO_LARGE', { param: property.name, size: own, max });
  }

  #index({ fields }: TypeForm): void {
    const max = this.options.limits.index_key_bytes;
    for (const field of fields) {
      if (field === undefined || field.property.indexId === 0) continue;
      const value = this.#values[field.index];
      if (value === undefined) continue;
      const prefix = prefixOf(field.property, value);
      const size = valueSize(prefix.length, field.property);
      if (size > max) {
        fail('INDEX_KEY_TOO_LONG', { property: field.property.name, max, size });
      }
      this.batch.entry(field.index, prefix);
    }
  }

  #document({ label, texts }: TypeForm): void {
    const list: DocumentText[] = [];
    for (const index of texts) addTexts(list, label.properties[index]!, this.#values[index]);
    const { frequencies, length } = countTerms(list, {
      documentTerms: this.options.limits.document_terms,
      language: this.options.textLanguage,
    });
    this.batch.document(frequencies, length);
  }
}

function scalarOf(view: JsonView): Scalar {
  if (view.kind === 'string') return view.text();
  return view.kind === 'boolean' ? view.boolean() : view.float();
}
