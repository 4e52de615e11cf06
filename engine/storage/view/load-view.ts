// The write transaction of a bulk load. It is undone completely or not at all, so it records no undo steps.
// Label lists and adjacency are collected in memory and written once, in key order, at the end of the
// transaction; records and uuids at the latest before they are read.
//
// Invariant: after `finish` the store is as single requests would have left it, except for deferred adjacency
// lists (deferred-adjacency.ts). Until then, label lists and adjacency in LMDB lack the collected entries.
import { assert } from '../../base/assert.js';
import { fail } from '../../base/errors.js';
import type { FullCatalog } from '../catalog/catalog.js';
import { readAdjacency, readDegree } from '../graph/adjacency.js';
import type { BytesAt } from '../record/record-template.js';
import { addAllToList } from '../graph/label-bitmap.js';
import { addNewEntry, claimValue, disclaimValue } from '../index/bulk-index-entry.js';
import { AdjacencyBuffer } from '../graph/adjacency-buffer.js';
import { RecordBuffer } from '../record/new-records.js';
import { LmdbView } from './read-view.js';
import { uuidAt } from '../record/record.js';
import type { Label, PropertyValues, VectorChange } from '../table/view-types.js';
import { idsUnder } from '../index/property-index.js';
import { noteDeferred } from './deferred-adjacency.js';
import { appendVector, encodeVector, storedVector } from '../record/vector-record.js';
import { logChange } from '../record/vector-log.js';
import type { WriteContext } from './write-context.js';
import { LmdbWriteView } from './write-view.js';

const lastId = 0xffff_fffe;

export class LoadView extends LmdbView {
  /** Vector changes so far, in sequence order. */
  readonly changes: VectorChange[] = [];
  readonly #lists = new Map<number, number[]>();
  readonly #edges = new AdjacencyBuffer();
  /** Edges that the caller defers; absent if none are deferred. */
  readonly deferred: AdjacencyBuffer | undefined;
  readonly #records: RecordBuffer;
  #requests: LmdbWriteView | undefined;
  /** Position of the last generated uuid. */
  #last: BytesAt | undefined;

  constructor(
    private readonly context: WriteContext,
    private readonly full: FullCatalog,
    private readonly nowMs: number,
    isAlone = false,
  ) {
    super(context.env, full);
    if (isAlone) this.deferred = new AdjacencyBuffer();
    this.#records = new RecordBuffer(context.env);
  }

  /** Id of the next element. */
  get nextId(): number {
    return this.context.totals.state.nextId;
  }

  override idOf(uuid: Uint8Array): number {
    this.#records.flush();
    return super.idOf(uuid);
  }

  override record(id: number): Uint8Array | undefined {
    if (this.#records.has(id)) this.#records.flush();
    return super.record(id);
  }

  override recordShared(id: number): Uint8Array | undefined {
    if (this.#records.has(id)) this.#records.flush();
    return super.recordShared(id);
  }

  /**
   * Claims a unique value for the next element, by the key of the value's list. Returns false if an element
   * has it.
   */
  claim(key: Uint8Array): boolean {
    return claimValue(this.env.index, key, this.nextId);
  }

  /** Releases a claimed value, because its element is not created. */
  disclaim(key: Uint8Array): void {
    disclaimValue(this.env.index, key, this.nextId);
  }

  /** Returns the id of the element that has the unique value whose list is under `key`; 0 if none has it. */
  holder(key: Uint8Array): number {
    return idsUnder(this.env.index, key.slice(0, -4))[0] ?? 0;
  }

  /** Replaces the properties of an element by `values`. */
  change(id: number, values: PropertyValues): void {
    this.#records.flush();
    this.#changing.update([{ id, values }]);
    this.#changing.finish();
  }

  /** Returns all edges at an element. */
  incident(id: number): Uint32Array {
    this.#records.flush();
    return this.#changing.incident(id);
  }

  /** Removes existing elements, ascending. The edges of nodes and vectors must be among them. */
  removeAll(ids: Uint32Array): void {
    this.#records.flush();
    const view = this.#changing;
    view.removeAll(ids, () => undefined);
    this.changes.push(...view.pending.splice(0));
  }

  replaceVector(id: number, vector: Float64Array): void {
    const view = this.#changing;
    view.replaceVector(id, vector);
    this.changes.push(...view.pending.splice(0));
  }

  /** Changes existing elements as requests do. */
  get #changing(): LmdbWriteView {
    return (this.#requests ??= new LmdbWriteView(this.context, this.full, this.nowMs));
  }

  /** Whether an edge of the label leads from one element to the other. */
  hasPair(label: number, from: number, to: number): boolean {
    if (this.#edges.hasPair(label, from, to)) return true;
    const { out, in: into } = this.env;
    const isOut = readDegree(out, from, label) <= readDegree(into, to, label);
    const pairs = isOut ? readAdjacency(out, from, label) : readAdjacency(into, to, label);
    const far = isOut ? to : from;
    for (let i = 1; i < pairs.length; i += 2) if (pairs[i] === far) return true;
    return false;
  }

  /**
   * Creates an element from a record that is complete up to `end` except for its uuid, which is filled in:
   * `own`, or a generated one. Until the transaction ends, the bytes are read again and the space after the
   * record is written.
   */
  create(label: Label, { bytes, start }: BytesAt, end: number, own?: Uint8Array): number {
    const { totals, uuids } = this.context;
    const at = start + uuidAt.own;
    if (own) {
      const last = this.#last;
      totals.noteOwnUuid(own, last?.bytes.subarray(last.start, last.start + 16));
      bytes.set(own, at);
    } else {
      uuids.write(bytes, at, this.nowMs);
      totals.noteUuid(bytes.subarray(at, at + 16));
      this.#last ??= { bytes, start: 0 };
      this.#last.bytes = bytes;
      this.#last.start = at;
    }
    const id = totals.state.nextId++;
    assert(id <= lastId, 'ids are not used up');
    this.#records.add(id, bytes, start, end);
    const list = this.#lists.get(label.id);
    if (list) list.push(id);
    else this.#lists.set(label.id, [id]);
    return id;
  }

  /** Adds a new element to the value whose list is under `key`. */
  addEntry(key: Uint8Array, id: number): void {
    addNewEntry(this.env.index, key, id);
  }

  link(label: Label, edge: number, from: number, to: number): void {
    const isUnique = label.type.kind === 'edge' && label.type.unique;
    // The check for pairs reads the lists, so the edges of unique types are not deferred.
    const edges = isUnique ? this.#edges : (this.deferred ?? this.#edges);
    edges.add(label.id, edge, from, to);
    if (isUnique) edges.notePair(label.id, from, to);
  }

  /** Fails VECTOR_DIMENSION. */
  checkDimension(label: Label, got: number): void {
    const { totals, vectorTypes } = this.context;
    const known = totals.of(label.id).dimension;
    const expected = known || (vectorTypes[label.name]?.dimensions ?? got);
    if (got !== expected) fail('VECTOR_DIMENSION', { type: label.name, expected, got });
  }

  putVector(label: Label, id: number, vector: Float64Array): void {
    const { env, log, totals, vectorTypes } = this.context;
    if (totals.of(label.id).dimension === 0) {
      totals.change(label.id, { dimension: vector.length });
    }
    const width = vectorTypes[label.name]?.store ?? 'f64';
    assert(appendVector(env.vectors, id, vector, width), 'new ids are above all others');
    const stored = storedVector(vector, width);
    const change: VectorChange = { kind: 'put', label: label.id, id, vector: stored };
    logChange(log, env.vlog, totals.state.nextSeq++, change);
    this.changes.push(change);
  }

  putDerived(key: Uint8Array, value: Uint8Array): void {
    this.env.derived.put(key, value);
  }

  /** Deletes up to `max` entries from `start` up to `end`. Returns their number. */
  clearDerived(start: Uint8Array, end: Uint8Array, max = Number.MAX_SAFE_INTEGER): number {
    const keys = this.env.derived.keys({ start, end, limit: max });
    for (const key of keys) this.env.derived.remove(key);
    return keys.length;
  }

  /**
   * Replaces all embeddings of a type, whose dimension may change. Logs only the last one: the caller replaces
   * the index. Returns its sequence.
   */
  replaceVectors(label: Label, rows: Iterable<{ id: number; vector: Float64Array }>): number {
    const { env, log, totals, vectorTypes } = this.context;
    const width = vectorTypes[label.name]?.store ?? 'f64';
    let change: VectorChange | undefined;
    for (const { id, vector } of rows) {
      env.vectors.put(id, encodeVector(vector, width));
      change = { kind: 'put', label: label.id, id, vector };
    }
    assert(change?.kind === 'put', 'a type whose vectors are replaced has vectors');
    totals.change(label.id, { dimension: change.vector.length });
    const seq = totals.state.nextSeq++;
    logChange(log, env.vlog, seq, change);
    this.changes.push(change);
    return seq;
  }

  deleteDerived(key: Uint8Array): void {
    this.env.derived.remove(key);
  }

  /** Writes all collected entries. */
  finish(): void {
    const { env, hints, totals } = this.context;
    this.#records.flush();
    if (this.#last) {
      const { bytes, start } = this.#last;
      totals.state.lastUuid = bytes.slice(start, start + 16);
    }
    for (const [label, ids] of this.#lists) {
      addAllToList(env.labels, label, ids);
      totals.change(label, { count: totals.of(label).count + ids.length });
    }
    this.#edges.write(env, hints, this.nextId - 1);
    if (this.deferred) noteDeferred(env, this.deferred);
  }
}
