// Writes the rows of a batch inside the writer's transaction: it checks endpoints, unique values and
// dimensions, assigns ids and completes records. A refused row leaves nothing behind.
//
// Invariant: accepted rows of a batch get consecutive ids, in their order.
import { type ErrorData, TrellisError, fail } from '../../base/errors.js';
import type { DocumentText } from '../../base/text/document-text.js';
import { printUuid } from '../../base/id.js';
import { checkIntegrity } from '../../base/integrity.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { type BytesAt, fillEnd } from '../../storage/record/record-template.js';
import { textsOf } from '../../storage/record/text-document.js';
import type { LoadView } from '../../storage/view/load-view.js';
import { decodeProperty, labelOf, uuidAt } from '../../storage/record/record.js';
import type { Label } from '../../storage/table/view-types.js';
import type { FormerElement } from './load-rollback.js';
import type { TextIndex } from '../../text/text-index-types.js';
import { TextIndexWriter } from '../../text/text-index-writer.js';
import type { NameIds } from './name-ids.js';
import { type BatchResult, type RowBatch, entryWords, keyBase, rowWords } from './row/row-batch.js';

/** Indexes into the lists of a batch that advance with its rows. */
interface Offsets {
  entry: number;
  vector: number;
  own: number;
  upsert: number;
}

/** The new keyword document of an element that a row changed. */
interface NewDocument {
  label: number;
  id: number;
  before: DocumentText[];
  after: DocumentText[];
}

export class RowWriter {
  /** Ids by row; 0 for refused rows. */
  #ids = new Uint32Array(0);
  readonly #offsets: Offsets = { entry: 0, vector: 0, own: 0, upsert: 0 };
  readonly #documents: NewDocument[] = [];
  /** Elements before a row changed them, if the load needs them for a rollback. */
  readonly former: FormerElement[] = [];
  /** The record of the current row, and the uuid of one of its endpoints. */
  readonly #record: BytesAt;
  readonly #uuid: BytesAt;

  constructor(
    private readonly view: LoadView,
    private readonly batch: RowBatch,
    private readonly names: NameIds,
    private readonly text?: TextIndex,
    private readonly keepsFormer = false,
  ) {
    this.#record = { bytes: batch.bytes, start: 0 };
    this.#uuid = { bytes: batch.bytes, start: 0 };
  }

  write(): BatchResult {
    const { batch, view, names } = this;
    const { heads } = batch;
    const result: BatchResult = {
      nodes: 0,
      edges: 0,
      vectors: 0,
      updated: 0,
      firstId: view.nextId,
      refused: [],
      held: [],
      rejects: [],
    };
    this.#ids = new Uint32Array(batch.count);
    for (let row = 0; row < batch.count; row++) {
      const head = row * rowWords;
      const label = view.catalog.label(heads[head]!);
      try {
        const name = heads[head + 1]!;
        const former = batch.upserts[this.#offsets.upsert] === row ? this.#holder() : 0;
        if (former === 0) {
          const id = this.#row(row, head, label);
          this.#ids[row] = id;
          if (name !== 0) names.set(name, id, label.id, batch.bytes, heads[head + 4]! + uuidAt.own);
        } else {
          const record = this.#change(row, head, label, former);
          if (name !== 0) {
            names.set(name, former, label.id, record, uuidAt.own);
            result.held.push(name, former);
          }
          result.updated++;
          result.refused.push(row);
        }
        if (label.kind === 'node') result.nodes++;
        else if (label.kind === 'edge') result.edges++;
        else result.vectors++;
      } catch (error) {
        if (!(error instanceof TrellisError)) throw error;
        result.refused.push(row);
        result.rejects.push({ line: heads[head + 6]!, error: plainError(error.data) });
      }
      this.#passRow(row);
    }
    const labelOf = (row: number): number => heads[row * rowWords]!;
    const { terms, documents } = batch;
    TextIndexWriter.addBatch(view, { terms, documents, ids: this.#ids, labelOf });
    for (const { label, id, before, after } of this.#documents) {
      this.text!.replace(view, label, id, before, after);
    }
    return result;
  }

  /**
   * Returns the id of the element with the value by which the current row is matched, or 0 when there is
   * none.
   */
  #holder(): number {
    const { upserts, entries, bytes } = this.batch;
    const row = upserts[this.#offsets.upsert]!;
    const index = upserts[this.#offsets.upsert + 1]!;
    for (let at = this.#offsets.entry; entries[at] === row; at += entryWords) {
      if (entries[at + 1] !== index) continue;
      return this.view.holder(bytes.subarray(entries[at + 2]!, entries[at + 3]!));
    }
    return 0;
  }

  /** Sets the values of the row on an element. Returns its former record. */
  #change(row: number, head: number, label: Label, id: number): Uint8Array {
    const { view, batch } = this;
    const { heads, upserts, entries, bytes, ownRows } = batch;
    const own = ownRows[this.#offsets.own] === row ? this.#uuidOfRow() : undefined;
    if (own && view.idOf(own) !== id) {
      fail('UNIQUE_VIOLATION', { type: label.name, property: 'id' });
    }
    for (let at = this.#offsets.entry; entries[at] === row; at += entryWords) {
      const property = label.properties[entries[at + 1]!]!;
      if (property.index !== 'unique') continue;
      const holder = view.holder(bytes.subarray(entries[at + 2]!, entries[at + 3]!));
      if (holder !== 0 && holder !== id) {
        fail('UNIQUE_VIOLATION', { type: label.name, property: property.name });
      }
    }
    const vector = label.kind === 'vector' ? this.#vector() : undefined;
    if (vector) view.checkDimension(label, vector.length);
    const former = view.record(id);
    checkIntegrity(former, 'the element of a unique value is gone');
    if (this.keepsFormer) {
      const own = vector && view.vector(id);
      this.former.push({ id, record: former.slice(), vector: own });
    }
    const next = bytes.subarray(heads[head + 4]!, heads[head + 5]!);
    const start = this.#offsets.upsert + 3;
    const updated = new Set(upserts.subarray(start, start + upserts[start - 1]!));
    const values = new Map(
      label.properties.map((property, index) => [
        property.name,
        decodeProperty(updated.has(index) ? next : former, property) as Scalar | ScalarList,
      ]),
    );
    view.change(id, values);
    if (vector) view.replaceVector(id, vector);
    if (this.text && label.kind !== 'edge') {
      const after = textsOf(label, view.record(id)!);
      this.#documents.push({ label: label.id, id, before: textsOf(label, former), after });
    }
    return former;
  }

  #row(row: number, head: number, label: Label): number {
    const { batch, view } = this;
    const { heads } = batch;
    this.#record.start = heads[head + 4]! >>> 0;
    const own = batch.ownRows[this.#offsets.own] === row ? this.#ownId() : undefined;
    let from = 0;
    let to = 0;
    if (label.kind === 'edge') {
      from = this.#end('from', heads[head + 2]!, label);
      to = this.#end('to', heads[head + 3]!, label);
      if (label.type.kind === 'edge' && label.type.unique && view.hasPair(label.id, from, to)) {
        fail('UNIQUE_VIOLATION', { type: label.name, property: 'From, To' });
      }
    }
    const vector = label.kind === 'vector' ? this.#vector() : undefined;
    if (vector) view.checkDimension(label, vector.length);
    this.#claimValues(row, label);
    const id = view.create(label, this.#record, heads[head + 5]! >>> 0, own);
    const { entries, bytes } = batch;
    for (let at = this.#offsets.entry; entries[at] === row; at += entryWords) {
      if (label.properties[entries[at + 1]!]!.index === 'unique') continue;
      view.addEntry(bytes.subarray(entries[at + 2]!, entries[at + 3]!), id);
    }
    if (label.kind === 'edge') view.link(label, id, from, to);
    if (vector) view.putVector(label, id, vector);
    return id;
  }

  #uuidOfRow(): Uint8Array {
    const at = this.#offsets.own * 16;
    return this.batch.ownIds.subarray(at, at + 16);
  }

  #ownId(): Uint8Array {
    const uuid = this.#uuidOfRow();
    if (this.view.idOf(uuid) !== 0) {
      fail('UNIQUE_VIOLATION', { type: printUuid(uuid), property: 'id' });
    }
    return uuid;
  }

  /** Returns the dense id of an endpoint and fills in its part of the record. */
  #end(end: 'from' | 'to', name: number, edge: Label): number {
    const { view, batch, names } = this;
    const uuid = this.#uuid;
    if (name > 0 && names.isTrusted) {
      const id = names.get(name);
      if (id === 0) fail('NO_VALUE_FOUND', { what: `${end}: the row it names was refused` });
      if (names.label(name) !== edge[end]) this.#wrongEnd(edge, names.label(name));
      uuid.bytes = names.bytes;
      uuid.start = names.uuidAt(name);
      fillEnd(this.#record, end, id, uuid);
      return id;
    }
    const id = name > 0 ? names.get(name) : this.#upsertEnd(name);
    const found = id === 0 ? undefined : view.recordShared(id);
    if (found === undefined) {
      const what = name > 0 ? 'the row it names is gone' : printEnd(batch, name);
      fail('NO_VALUE_FOUND', { what: `${end}: ${what}` });
    }
    if (labelOf(found) !== edge[end]) this.#wrongEnd(edge, labelOf(found));
    uuid.bytes = found;
    uuid.start = uuidAt.own;
    fillEnd(this.#record, end, id, uuid);
    return id;
  }

  /** Returns the dense id of an endpoint that is named by its own id or by a value. */
  #upsertEnd(name: number): number {
    const { batch, view } = this;
    if (name > -keyBase) return view.idOf(batch.ends.subarray(~name * 16, ~name * 16 + 16));
    const key = -keyBase - name;
    const start = key === 0 ? 0 : batch.keyEnds[key - 1]!;
    return view.holder(batch.keys.subarray(start, batch.keyEnds[key]!));
  }

  #wrongEnd(edge: Label, got: number): never {
    const { catalog } = this.view;
    const [from, to] = [catalog.label(edge.from!).name, catalog.label(edge.to!).name];
    fail('EDGE_ENDPOINT_TYPE', { edge: edge.name, from, to, got: catalog.label(got).name });
  }

  /** Adds the unique values of the row's element. Adds none on UNIQUE_VIOLATION. */
  #claimValues(row: number, label: Label): void {
    const { entries, bytes } = this.batch;
    const key = (at: number): Uint8Array => bytes.subarray(entries[at + 2]!, entries[at + 3]!);
    const isUnique = (at: number): boolean =>
      label.properties[entries[at + 1]!]!.index === 'unique';
    for (let at = this.#offsets.entry; entries[at] === row; at += entryWords) {
      if (!isUnique(at) || this.view.claim(key(at))) continue;
      for (let done = this.#offsets.entry; done < at; done += entryWords) {
        if (isUnique(done)) this.view.disclaim(key(done));
      }
      const property = label.properties[entries[at + 1]!]!;
      fail('UNIQUE_VIOLATION', { type: label.name, property: property.name });
    }
  }

  #vector(): Float64Array {
    const { vectorHeads, vectors, embedded } = this.batch;
    const at = this.#offsets.vector;
    const start = vectorHeads[at + 1]!;
    if (start >= 0) return vectors.subarray(start, start + vectorHeads[at + 2]!);
    const made = embedded[~start]!;
    if (made instanceof Float64Array) return made;
    throw new TrellisError(made);
  }

  /** Advances the indexes to the next row. */
  #passRow(row: number): void {
    const { entries, vectorHeads, ownRows, upserts } = this.batch;
    const offsets = this.#offsets;
    while (entries[offsets.entry] === row) offsets.entry += entryWords;
    if (vectorHeads[offsets.vector] === row) offsets.vector += 3;
    if (ownRows[offsets.own] === row) offsets.own++;
    if (upserts[offsets.upsert] === row) offsets.upsert += 3 + upserts[offsets.upsert + 2]!;
  }
}

const printEnd = (batch: RowBatch, name: number): string =>
  name > -keyBase ? printUuid(batch.ends, ~name * 16) : 'no element has this key';

function plainError({ code, args, hint }: ErrorData): ErrorData {
  return { code, args, ...(hint && { hint }) };
}
