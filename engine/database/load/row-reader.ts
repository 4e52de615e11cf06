// Reads NDJSON lines into rows of a bulk load (the format is README's "Bulk load"). Everything that
// does not need the store is done here, on the loading thread: JSON, types, defaults, fragments,
// index prefixes, keyword counts, temporary names.
//
// Invariant: a row that is passed on would be accepted by the single call of the same values, but
// for what only the store can tell: unique values, ends, dimensions.
import { type ErrorData, TrellisError, fail } from '../../base/errors.js';
import type { Limits } from '../../base/limits.js';
import type { ElementKind } from '../../base/schema.js';
import type { Instant } from '../../base/value.js';
import { parseUuid } from '../../base/id.js';
import type { Decoding } from '../../json/fault.js';
import { throwFaults } from '../../json/fault.js';
import { decodeVector } from '../../json/decode.js';
import { scanJson } from '../../json/scan.js';
import type { JsonView } from '../../json/view.js';
import type { Catalog, Label } from '../../storage/store.js';
import { vectorOfBase64 } from './base64.js';
import { BatchBuilder } from './batch-builder.js';
import { RecordReader } from './record-reader.js';
import type { RowBatch } from './row-batch.js';
import { type TypeForm, formOf } from './type-form.js';

const kinds = ['node', 'edge', 'vector'] as const satisfies readonly ElementKind[];

export interface RowReaderOptions {
  limits: Limits;
  textEnabled: boolean;
}

export class RowReader {
  /** Ordinals of temporary names, given out in the order of rows. */
  readonly #names = new Map<string, number>();
  readonly #forms = new Map<string, TypeForm>();
  readonly #records: RecordReader;

  constructor(
    private catalog: Catalog,
    private readonly options: RowReaderOptions,
    private readonly batch = new BatchBuilder(),
  ) {
    this.#records = new RecordReader(batch, options);
  }

  /** Another schema holds from the next row on. */
  adopt(catalog: Catalog): void {
    this.catalog = catalog;
    this.#forms.clear();
  }

  /** Rows of whole lines; `line` is the number of the first. */
  read(bytes: Uint8Array, line: number, now: Instant): RowBatch {
    const { batch } = this;
    batch.begin();
    this.#records.now = now;
    for (let start = 0; start < bytes.length; line++) {
      let end = bytes.indexOf(10, start);
      if (end < 0) end = bytes.length;
      if (!isBlank(bytes, start, end)) {
        try {
          this.#row(bytes.subarray(start, end), line);
        } catch (error) {
          if (!(error instanceof TrellisError)) throw error;
          batch.abandonRow();
          batch.rejects.push({ line, error: rowError(error.data) });
        }
      }
      start = end + 1;
    }
    return batch.take();
  }

  #row(bytes: Uint8Array, line: number): void {
    const { limits } = this.options;
    const root = scanJson(bytes, limits);
    if (root.kind !== 'object')
      fail('PARAM_TYPE', { param: 'row', type: 'object', got: root.kind });
    const form = this.#formOf(root);
    if (form === undefined) return;
    const { label } = form;
    const decoding: Decoding = { owner: label.name, limits, strict: true, prefix: '', faults: [] };
    const { batch } = this;
    batch.openRow(label.id, line);
    let known = 1;
    const name = root.member('id');
    let ordinal = 0;
    if (name !== undefined) {
      known++;
      ordinal = this.#nameRow(textOf(name, 'id'), label);
    }
    if (label.kind === 'edge') {
      batch.ends(this.#end(root, 'from', label), this.#end(root, 'to', label));
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
    this.#records.read(bytes, form, properties, decoding);
    throwFaults(decoding.faults);
    batch.closeRow(ordinal);
    if (ordinal > 0) this.#names.set(name!.text(), ordinal);
  }

  /** Undefined for the first and last line of a dump. */
  #formOf(root: JsonView): TypeForm | undefined {
    for (const kind of kinds) {
      const view = root.member(kind);
      if (view === undefined) continue;
      const name = textOf(view, kind);
      const key = `${kind} ${name}`;
      const known = this.#forms.get(key);
      if (known) return known;
      const label = this.catalog.find(kind, name);
      if (label === undefined) fail('UNKNOWN_TYPE', { kind, name });
      const form = formOf(label);
      this.#forms.set(key, form);
      return form;
    }
    if (root.member('trellis_dump') !== undefined) {
      this.#records.exact = true;
      return undefined;
    }
    if (root.member('trellis_dump_end') !== undefined) return undefined;
    return fail('PARAM_MISSING', { owner: 'A row', param: 'node, edge or vector', type: 'String' });
  }

  /** Notes the row's name or, when it is a UUID, its own id. Gives the ordinal of the name. */
  #nameRow(name: string, label: Label): number {
    const uuid = parseUuid(name);
    if (uuid !== undefined) {
      this.batch.ownId(uuid);
      return 0;
    }
    if (this.#names.has(name)) {
      fail('UNIQUE_VIOLATION', { type: label.name, property: 'id' });
    }
    return this.#names.size + 1;
  }

  /** An end of an edge as rows name it; see row-batch.ts. */
  #end(root: JsonView, end: 'from' | 'to', label: Label): number {
    const view = root.member(end);
    if (view === undefined) {
      return fail('PARAM_MISSING', { owner: label.name, param: end, type: 'ID' });
    }
    const name = textOf(view, end);
    const ordinal = this.#names.get(name);
    if (ordinal !== undefined) return ordinal;
    const uuid = parseUuid(name);
    if (uuid !== undefined) return this.batch.end(uuid);
    return fail('NO_VALUE_FOUND', { what: `${end} "${name.slice(0, 64)}" is no earlier row` });
  }

  #vector(root: JsonView, label: Label, decoding: Decoding): void {
    const { batch } = this;
    const values = root.member('values');
    if (values !== undefined) {
      const vector = decodeVector(values, decoding);
      throwFaults(decoding.faults);
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
    return fail('UNKNOWN_MEMBER', { owner: `A ${label.kind} row`, member }, { hint });
  }
}

const ownMembers: Record<ElementKind, readonly string[]> = {
  node: [],
  edge: ['from', 'to'],
  vector: ['values', 'embed', 'f64', 'f32'],
};

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at]! > 32) return false;
  return true;
}

function textOf(view: JsonView, param: string): string {
  if (view.kind !== 'string') fail('PARAM_TYPE', { param, type: 'String', got: view.kind });
  return view.text();
}

/** The first fault is enough to tell why a row was refused. */
function rowError({ code, args, path, hint }: ErrorData): ErrorData {
  return { code, args, ...(path && { path }), ...(hint && { hint }) };
}
