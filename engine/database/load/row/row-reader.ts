// Reads NDJSON lines into rows of a bulk load. Everything that does not need the store is done here, on the
// loading thread: JSON, types, defaults, fragments, index prefixes, keyword counts, temporary names.
//
// Invariant: a row that is passed on would also be accepted as a single call with the same values, except for
// checks that need the store: unique values, endpoints, dimensions. An edge whose endpoint has not arrived
// yet is deferred, and read again after the last row.
import type { LanguageName } from '../../../base/text/language-name.js';
import { type ErrorData, TrellisError, excerpt, fail } from '../../../base/errors.js';
import type { Limits } from '../../../base/limits.js';
import { type ElementKind, printType } from '../../../base/schema.js';
import type { Instant, Scalar } from '../../../base/value.js';
import { type Decoding, throwErrors } from '../../../json/validation-error.js';
import { decodeValue, decodeVector } from '../../../json/decode.js';
import { scanJson } from '../../../json/scan.js';
import type { JsonView } from '../../../json/view.js';
import { prefixOf } from '../../../storage/index/index-key.js';
import type { Catalog, Label, StoredProperty } from '../../../storage/table/view-types.js';
import { vectorOfBase64 } from './base64.js';
import { BatchBuilder } from './batch-builder.js';
import { RowTemplate, type RowParts } from './row-template.js';
import { NameTable } from './name-table.js';
import { RecordReader } from './record-reader.js';
import type { RetriedRow, RowBatch } from './row-batch.js';
import { type RowKeys, RowSettings } from './row-settings.js';
import { textOf, utf8Of, uuidOf } from './row-text.js';
import { type TypeForm, formOf } from './row-schema.js';

/** Maximum number of row templates. */
const patternsMax = 16;
const freeLessons = 64;

/** Maximum bytes of deferred rows. In a file, edges should follow their nodes. */
const deferredMax = 64 * 1024 * 1024;

/** Thrown by a row that must be read again later. */
const endpointPending = new TrellisError({ code: 'NO_VALUE_FOUND', args: { what: 'an end' } });

const kinds = ['node', 'edge', 'vector'] as const satisfies readonly ElementKind[];

export interface RowReaderOptions {
  limits: Limits;
  textEnabled: boolean;
  textLanguage: LanguageName;
  /** True for rows of a dump, which state everything: id, endpoint ids, vector. */
  isDump?: boolean;
}

export class RowReader {
  /** Ordinals of temporary names, assigned in the order of rows. */
  readonly #names = new NameTable();
  /** Most recently used first. */
  #patterns: RowTemplate[] = [];
  #learned = 0;
  #fits = 0;
  readonly #forms = new Map<string, TypeForm>();
  readonly #records: RecordReader;
  readonly #settings = new RowSettings();
  /** Keys by label, as far as they were needed. */
  #keys: (RowKeys | undefined)[] = [];
  #deferred: RetriedRow[] = [];
  #deferredBytes = 0;
  /** True if the current line is a settings line. */
  #isSetting = false;
  /** Dumps only: true after the first line. */
  #hasHead = false;
  /** True while rows may be deferred. */
  #isOpen = true;

  constructor(
    private catalog: Catalog,
    private readonly options: RowReaderOptions,
    private readonly batch = new BatchBuilder(),
  ) {
    this.#records = new RecordReader(batch, options);
  }

  /** Switches to another schema from the next row on. */
  setCatalog(catalog: Catalog): void {
    this.catalog = catalog;
    this.#forms.clear();
    this.#patterns = [];
    this.#keys = [];
  }

  /**
   * Reads rows of whole lines; `line` is the number of the first. `isLast` means that no more lines follow,
   * so the deferred rows are read again. Fails for settings that cannot be applied.
   */
  read(bytes: Uint8Array, line: number, now: Instant, isLast = true): RowBatch {
    const { batch } = this;
    batch.begin();
    this.#records.now = now;
    this.#isOpen = true;
    this.#lines(bytes, line);
    if (isLast) this.#retry();
    return batch.take();
  }

  /** Reads the deferred rows again. */
  #retry(): void {
    const { batch } = this;
    this.#isOpen = false;
    batch.retried = this.#deferred;
    this.#deferred = [];
    this.#deferredBytes = 0;
    for (const { line, text } of batch.retried) this.#lines(text, line);
  }

  #lines(bytes: Uint8Array, first: number): void {
    const { batch } = this;
    let line = first;
    // A Buffer finds a byte eight times as fast as a plain array, which matters for vectors.
    const searched = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let start = 0; start < bytes.length; line++) {
      const pattern = this.#patternOf(bytes, start);
      const end = pattern ? pattern.end : endOfLine(searched, start);
      try {
        if (pattern) this.#store(bytes, pattern.parts, line);
        else if (!isBlank(bytes, start, end)) this.#row(bytes.subarray(start, end), line);
      } catch (error) {
        batch.abandonRow();
        if (error === endpointPending) this.#defer(bytes.slice(start, end), line);
        else if (!(error instanceof TrellisError) || this.#isSetting) throw error;
        else this.#refuse(error, searched, start, end, line);
      }
      start = end + 1;
    }
  }

  #defer(text: Uint8Array, line: number): void {
    this.#deferred.push({ line, text });
    this.#deferredBytes += text.length;
  }

  #refuse({ code, data }: TrellisError, bytes: Buffer, start: number, end: number, line: number) {
    const hint = code === 'BAD_JSON' ? lineHint(bytes, start, end) : {};
    this.batch.rejects.push({ line, error: { ...rowError(data), ...hint } });
  }

  #patternOf(bytes: Uint8Array, start: number): RowTemplate | undefined {
    const patterns = this.#patterns;
    for (let i = 0; i < patterns.length; i++) {
      const pattern = patterns[i]!;
      if (!pattern.fits(bytes, start)) continue;
      this.#fits++;
      if (i > 0) {
        patterns.splice(i, 1);
        patterns.unshift(pattern);
      }
      return pattern;
    }
    return undefined;
  }

  /** Stores a row whose values are known and whose members belong to its type. */
  #store(bytes: Uint8Array, parts: RowParts, line: number): void {
    const { label } = parts.form;
    const decoding = this.#decodingOf(label);
    const { batch } = this;
    batch.openRow(label.id, line);
    const ordinal = parts.name ? this.#nameRow(parts.name, bytes, label) : 0;
    if (label.kind === 'edge') {
      const from = this.#end(parts.from, bytes, 'from', label, decoding);
      batch.ends(from, this.#end(parts.to, bytes, 'to', label, decoding));
    }
    this.#close(bytes, parts, decoding, ordinal);
  }

  #decodingOf({ name }: Label): Decoding {
    return { owner: name, limits: this.options.limits, strict: true, prefix: '', errors: [] };
  }

  /** Writes the properties and commits the row to the batch. */
  #close(bytes: Uint8Array, parts: RowParts, decoding: Decoding, ordinal: number): void {
    const { form } = parts;
    this.#records.read(bytes, form, parts.fields, decoding);
    throwErrors(decoding.errors);
    const { upsert } = this.#keysOf(form.label);
    if (upsert) this.#upsert(upsert, parts);
    this.batch.closeRow(ordinal);
    if (ordinal === 0) return;
    const { bytes: own, start, end } = utf8Of(parts.name!, bytes);
    this.#names.add(form.label.id, own, start, end);
  }

  /** Records how to find the element that the row changes. */
  #upsert(by: StoredProperty, { form, fields }: RowParts): void {
    const present: number[] = [];
    form.fields.forEach((field, slot) => {
      if (field && fields[slot] !== undefined) present.push(field.index);
    });
    const isMissing = fields[by.slot] === undefined || fields[by.slot]!.kind === 'null';
    if (isMissing) {
      fail('PARAM_MISSING', { owner: form.label.name, param: by.name, type: printType(by.type) });
    }
    this.batch.upsert(form.label.properties.indexOf(by), present);
  }

  #keysOf(label: Label): RowKeys {
    return (this.#keys[label.id] ??= this.#settings.keysOf(label, this.catalog));
  }

  #row(bytes: Uint8Array, line: number): void {
    const { limits } = this.options;
    const root = scanJson(bytes, limits);
    if (root.kind !== 'object')
      fail('PARAM_TYPE', { param: 'row', type: 'object', got: root.kind });
    const form = this.#formOf(root);
    if (form === undefined) return;
    const { label } = form;
    const decoding = this.#decodingOf(label);
    const { batch } = this;
    batch.openRow(label.id, line);
    let known = 1;
    const name = root.member('id');
    let ordinal = 0;
    if (this.options.isDump) requireAll(root, label);
    if (name !== undefined) {
      known++;
      ordinal = this.#nameRow(name, bytes, label);
    }
    const from = label.kind === 'edge' ? root.member('from') : undefined;
    const to = label.kind === 'edge' ? root.member('to') : undefined;
    if (label.kind === 'edge') {
      const fromEnd = this.#end(from, bytes, 'from', label, decoding);
      batch.ends(fromEnd, this.#end(to, bytes, 'to', label, decoding));
      known += 2;
    } else if (label.kind === 'vector') {
      this.#vector(root, label, decoding);
      known++;
    }
    const properties = root.member('properties');
    if (properties !== undefined) {
      known++;
      if (properties.kind !== 'object') {
        fail('PARAM_TYPE', { param: 'properties', type: 'object', got: properties.kind });
      }
    }
    if (root.length !== known) this.#refuseOthers(root, label);
    const fields = form.fields.map((field) => field && properties?.member(field.property.name));
    const parts: RowParts = { form, name, from, to, fields };
    const found = fields.filter((view) => view !== undefined).length;
    if (properties !== undefined && found < properties.length) refuseProperty(properties, label);
    this.#close(bytes, parts, decoding, ordinal);
    if (label.kind !== 'vector') this.#learn(bytes, parts);
  }

  /** Rows that rarely repeat a form are not worth a template. */
  #learn(bytes: Uint8Array, parts: RowParts): void {
    if (this.#learned > freeLessons + this.#fits / 8) return;
    const pattern = RowTemplate.of(bytes, parts);
    if (pattern === undefined) return;
    this.#learned++;
    if (this.#patterns.length === patternsMax) this.#patterns.pop();
    this.#patterns.unshift(pattern);
  }

  /** Returns undefined for settings, and for the first and last line of a dump. */
  #formOf(root: JsonView): TypeForm | undefined {
    for (const kind of kinds) {
      const view = root.member(kind);
      if (view === undefined) continue;
      const name = textOf(view, kind);
      const key = `${kind} ${name}`;
      const known = this.#forms.get(key);
      if (known) return known;
      const label = this.catalog.find(kind, name);
      if (label === undefined) fail('UNKNOWN_TYPE', { kind, name: excerpt(name) });
      const form = formOf(label);
      this.#forms.set(key, form);
      return form;
    }
    if (this.options.isDump) return this.#formInDump(root);
    const settings = root.member('settings');
    if (settings !== undefined) {
      this.#isSetting = true;
      this.#settings.read(settings, this.catalog);
      this.#isSetting = false;
      this.#keys = [];
      return undefined;
    }
    const refused = root.member('refused');
    if (refused?.kind === 'object') refuse(refused);
    if (root.member('trellis_dump') !== undefined) {
      this.#records.exact = true;
      return undefined;
    }
    if (root.member('trellis_dump_end') !== undefined) return undefined;
    return fail('PARAM_MISSING', { owner: 'A row', param: 'node, edge or vector', type: 'String' });
  }

  /** Handles a line of a dump that is no element. Only the first line and the last line are allowed. */
  #formInDump(root: JsonView): undefined {
    if (root.member('trellis_dump') === undefined || this.#hasHead) {
      fail('PARAM_MISSING', { owner: 'A row', param: 'node, edge or vector', type: 'String' });
    }
    this.#hasHead = true;
    this.#records.exact = true;
    return undefined;
  }

  /** Records the row's name or, when it is a UUID, its own id. Returns the ordinal of the name. */
  #nameRow(view: JsonView, bytes: Uint8Array, label: Label): number {
    const uuid = uuidOf(view, 'id');
    if (uuid !== undefined) {
      this.batch.ownId(uuid);
      return 0;
    }
    if (this.options.isDump) refuseName('id', view);
    const own = utf8Of(view, bytes);
    if (this.#names.find(label.id, own.bytes, own.start, own.end) !== 0) {
      fail('UNIQUE_VIOLATION', { type: label.name, property: 'id' });
    }
    return this.#names.size + 1;
  }

  /** Returns an endpoint of an edge as rows name it; see row-batch.ts. */
  #end(
    view: JsonView | undefined,
    bytes: Uint8Array,
    end: 'from' | 'to',
    label: Label,
    decoding: Decoding,
  ): number {
    if (view === undefined) {
      return fail('PARAM_MISSING', { owner: label.name, param: end, type: 'ID' });
    }
    const key = this.#keysOf(label)[end];
    if (key !== undefined) {
      const value = decodeValue(view, key.type, decoding) as Scalar | null;
      throwErrors(decoding.errors);
      if (value !== null) return this.batch.endByKey(prefixOf(key, value));
      return fail('PARAM_MISSING', { owner: label.name, param: end, type: printType(key.type) });
    }
    const uuid = uuidOf(view, end);
    if (uuid === undefined && this.options.isDump) refuseName(end, view);
    const own = utf8Of(view, bytes);
    const ordinal = this.#names.find(label[end]!, own.bytes, own.start, own.end);
    if (ordinal !== 0) return ordinal;
    if (uuid !== undefined) return this.batch.end(uuid);
    return this.#unknownEnd(view, own, end);
  }

  /**
   * Handles an endpoint that no earlier row of its type has. A name of another type is passed on, and the
   * writer refuses it.
   */
  #unknownEnd(view: JsonView, own: ReturnType<typeof utf8Of>, end: 'from' | 'to'): number {
    if (this.#isOpen && this.#deferredBytes < deferredMax) throw endpointPending;
    for (const { id } of this.catalog.labels()) {
      const ordinal = this.#names.find(id, own.bytes, own.start, own.end);
      if (ordinal !== 0) return ordinal;
    }
    const what = `${end} "${view.text().slice(0, 64)}" is no row`;
    if (!this.#isOpen) return fail('NO_VALUE_FOUND', { what });
    const hint = 'Too many rows wait for theirs: put nodes before edges.';
    return fail('NO_VALUE_FOUND', { what: `${what} before it` }, { hint });
  }

  #vector(root: JsonView, label: Label, decoding: Decoding): void {
    const { batch } = this;
    const values = root.member('values');
    if (values !== undefined) {
      const vector = decodeVector(values, decoding);
      throwErrors(decoding.errors);
      batch.vector(vector!);
      return;
    }
    const text = root.member('embed');
    if (text !== undefined) {
      batch.text(label.name, textOf(text, 'embed'));
      return;
    }
    for (const width of ['f64', 'f32'] as const) {
      const packed = root.member(width);
      if (packed === undefined) continue;
      batch.vector(vectorOfBase64(textOf(packed, width), width, this.options.limits));
      return;
    }
    fail('PARAM_MISSING', { owner: label.name, param: 'values or embed', type: '[F64]' });
  }

  #refuseOthers(root: JsonView, label: Label): never {
    const known: readonly string[] = [label.kind, 'id', 'properties', ...ownMembers[label.kind]];
    const member = root.names().find((name) => !known.includes(name)) ?? 'values';
    const hint = 'Properties go into `properties`.';
    const args = { owner: `A ${label.kind} row`, member: excerpt(member) };
    return fail('UNKNOWN_MEMBER', args, { hint });
  }
}

function refuseProperty(properties: JsonView, { name: owner, properties: known }: Label): never {
  const names = new Set(known.map(({ name }) => name));
  const member = properties.names().find((name) => !names.has(name))!;
  return fail('UNKNOWN_MEMBER', { owner, member: excerpt(member) });
}

/** Fails unless an element of a dump has its own id and vector. */
function requireAll(root: JsonView, { name, kind }: Label): void {
  if (root.member('id') === undefined) {
    fail('PARAM_MISSING', { owner: name, param: 'id', type: 'ID' });
  }
  if (root.member('embed') === undefined) return;
  fail('UNKNOWN_MEMBER', { owner: `A ${kind} of a dump`, member: 'embed' });
}

const refuseName = (param: string, view: JsonView): never =>
  fail('PARAM_TYPE', { param, type: 'ID', got: excerpt(view.text()) });

const ownMembers: Record<ElementKind, readonly string[]> = {
  node: [],
  edge: ['from', 'to'],
  vector: ['values', 'embed', 'f64', 'f32'],
};

/** Fails for a record of another format, which the program that made the row could not read. */
function refuse(reason: JsonView): never {
  const part = (name: string): string => {
    const view = reason.member(name);
    return view === undefined ? '' : excerpt(textOf(view, name));
  };
  return fail('PARAM_VALUE', {
    param: part('param'),
    allowed: part('allowed'),
    got: part('got'),
  });
}

const carriage = 0x0d;

function endOfLine(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(10, start);
  return end < 0 ? bytes.length : end;
}

/** Returns true if a line contains only JSON white space. Other control characters are errors. */
function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    if (byte !== 0x20 && byte !== 0x09 && byte !== carriage) return false;
  }
  return true;
}

/** Returns a hint if a line is no JSON because the file uses other line ends. */
function lineHint(bytes: Buffer, start: number, end: number): { hint?: string } {
  const at = bytes.indexOf(carriage, start);
  if (at < 0 || at >= end - 1) return {};
  return { hint: 'Rows end with a line feed; here a carriage return stands alone.' };
}

/** The first error is enough to explain why a row was refused. */
function rowError({ code, args, path, hint }: ErrorData): ErrorData {
  return { code, args, ...(path && { path }), ...(hint && { hint }) };
}
