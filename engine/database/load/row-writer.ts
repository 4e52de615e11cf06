// Writes the rows of a batch inside the writer's transaction: ends, unique values and dimensions are
// judged here, ids given out, records completed. A row that is refused leaves nothing behind.
//
// Invariant: accepted rows of a batch get ids without gaps, in their order.
import { type ErrorData, TrellisError, fail } from '../../base/errors.js';
import { printUuid } from '../../base/id.js';
import { type Place, fillEnd } from '../../storage/record/blank-record.js';
import type { LoadView } from '../../storage/view/load-view.js';
import { labelOf, uuidAt } from '../../storage/record/record.js';
import type { Label } from '../../storage/table/store.js';
import { NewPostings, addNewPostings } from '../../text/posting-list.js';
import { changeTotals } from '../../text/text-index-lmdb.js';
import type { NameIds } from './name-ids.js';
import {
  type BatchResult,
  type RowBatch,
  entryWords,
  rowWords,
  termWords,
} from './row/row-batch.js';

/** Places in the lists of a batch that run along with its rows. */
interface Places {
  entry: number;
  vector: number;
  own: number;
}

export class RowWriter {
  /** Ids by row; 0 for refused ones. */
  #ids = new Uint32Array(0);
  readonly #places: Places = { entry: 0, vector: 0, own: 0 };
  /** The record of the row at hand, and the uuid of an end of it. */
  readonly #record: Place;
  readonly #uuid: Place;

  constructor(
    private readonly view: LoadView,
    private readonly batch: RowBatch,
    private readonly names: NameIds,
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
      firstId: view.nextId,
      refused: [],
      rejects: [],
    };
    this.#ids = new Uint32Array(batch.count);
    for (let row = 0; row < batch.count; row++) {
      const head = row * rowWords;
      const label = view.catalog.label(heads[head]!);
      try {
        const id = this.#row(row, head, label);
        this.#ids[row] = id;
        const name = heads[head + 1]!;
        if (name !== 0) names.set(name, id, label.id, batch.bytes, heads[head + 4]! + uuidAt.own);
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
    this.#writeTexts();
    return result;
  }

  #row(row: number, head: number, label: Label): number {
    const { batch, view } = this;
    const { heads } = batch;
    this.#record.start = heads[head + 4]! >>> 0;
    const own = batch.ownRows[this.#places.own] === row ? this.#ownId() : undefined;
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
    for (let at = this.#places.entry; entries[at] === row; at += entryWords) {
      if (label.properties[entries[at + 1]!]!.index === 'unique') continue;
      view.addEntry(bytes.subarray(entries[at + 2]!, entries[at + 3]!), id);
    }
    if (label.kind === 'edge') view.link(label, id, from, to);
    if (vector) view.putVector(label, id, vector);
    return id;
  }

  #ownId(): Uint8Array {
    const at = this.#places.own * 16;
    const uuid = this.batch.ownIds.subarray(at, at + 16);
    if (this.view.idOf(uuid) !== 0) {
      fail('UNIQUE_VIOLATION', { type: printUuid(uuid), property: 'id' });
    }
    return uuid;
  }

  /** Dense id of an end; fills in what the record says of it. */
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
    const at = ~name * 16;
    const id = name > 0 ? names.get(name) : view.idOf(batch.ends.subarray(at, at + 16));
    const found = id === 0 ? undefined : view.recordShared(id);
    if (found === undefined) {
      const what = name > 0 ? 'the row it names is gone' : printUuid(batch.ends, at);
      fail('NO_VALUE_FOUND', { what: `${end}: ${what}` });
    }
    if (labelOf(found) !== edge[end]) this.#wrongEnd(edge, labelOf(found));
    uuid.bytes = found;
    uuid.start = uuidAt.own;
    fillEnd(this.#record, end, id, uuid);
    return id;
  }

  #wrongEnd(edge: Label, got: number): never {
    const { catalog } = this.view;
    const [from, to] = [catalog.label(edge.from!).name, catalog.label(edge.to!).name];
    fail('EDGE_ENDPOINT_TYPE', { edge: edge.name, from, to, got: catalog.label(got).name });
  }

  /** Adds the unique values of the row's element; nothing stays of them on UNIQUE_VIOLATION. */
  #claimValues(row: number, label: Label): void {
    const { entries, bytes } = this.batch;
    const key = (at: number): Uint8Array => bytes.subarray(entries[at + 2]!, entries[at + 3]!);
    const isUnique = (at: number): boolean =>
      label.properties[entries[at + 1]!]!.index === 'unique';
    for (let at = this.#places.entry; entries[at] === row; at += entryWords) {
      if (!isUnique(at) || this.view.claim(key(at))) continue;
      for (let done = this.#places.entry; done < at; done += entryWords) {
        if (isUnique(done)) this.view.disclaim(key(done));
      }
      const property = label.properties[entries[at + 1]!]!;
      fail('UNIQUE_VIOLATION', { type: label.name, property: property.name });
    }
  }

  #vector(): Float64Array {
    const { vectorHeads, vectors, embedded } = this.batch;
    const at = this.#places.vector;
    const start = vectorHeads[at + 1]!;
    return start < 0 ? embedded[~start]! : vectors.subarray(start, start + vectorHeads[at + 2]!);
  }

  /** Moves on to what belongs to the next row. */
  #passRow(row: number): void {
    const { entries, vectorHeads, ownRows } = this.batch;
    const places = this.#places;
    while (entries[places.entry] === row) places.entry += entryWords;
    if (vectorHeads[places.vector] === row) places.vector += 3;
    if (ownRows[places.own] === row) places.own++;
  }

  #writeTexts(): void {
    const { documents, heads } = this.batch;
    const lengths = new Uint32Array(this.batch.count);
    const totals = new Map<number, { documents: number; length: number }>();
    for (let at = 0; at < documents.length; at += 2) {
      const row = documents[at]!;
      if (this.#ids[row] === 0) continue;
      lengths[row] = documents[at + 1]!;
      const label = heads[row * rowWords]!;
      const total = totals.get(label) ?? { documents: 0, length: 0 };
      totals.set(label, total);
      total.documents++;
      total.length += documents[at + 1]!;
    }
    for (const [label, { documents, length }] of totals)
      changeTotals(this.view, label, documents, length);
    this.#writeTerms(lengths);
  }

  #writeTerms(lengths: Uint32Array): void {
    const { heads, names, postings } = this.batch.terms;
    const list = new NewPostings();
    let name = 0;
    let at = 0;
    for (let head = 0; head < heads.length; head += termWords) {
      const nameEnd = heads[head + 1]!;
      const end = heads[head + 2]!;
      list.count = 0;
      for (; at < end; at += 2) {
        const row = postings[at]!;
        if (this.#ids[row] === 0) continue;
        list.add(this.#ids[row]!, postings[at + 1]!, lengths[row]!);
      }
      const term = names.subarray(name, nameEnd);
      name = nameEnd;
      if (list.count > 0) addNewPostings({ view: this.view, label: heads[head]!, term }, list);
    }
  }
}

function plainError({ code, args, hint }: ErrorData): ErrorData {
  return { code, args, ...(hint && { hint }) };
}
