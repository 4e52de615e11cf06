// The write transaction of a bulk load. It is undone as a whole or not at all, so that nothing is
// noted for undoing; label lists and adjacency are collected in memory and written once, in key
// order, when the load of the transaction ends, records and uuids at the latest when they are read.
//
// Invariant: after `finish` the store is as single requests would have left it, but for lists of edges
// that are left to later (deferred-adjacency.ts). Until then label lists and adjacency in LMDB lack what was
// collected.
import { assert } from '../../base/assert.js';
import { fail } from '../../base/errors.js';
import type { FullCatalog } from '../catalog/catalog.js';
import { readAdjacency, readDegree } from '../graph/adjacency.js';
import type { Place } from '../record/record-template.js';
import { addAllToList } from '../graph/label-bitmap.js';
import { addNewEntry, claimValue, disclaimValue } from '../index/bulk-index-entry.js';
import { AdjacencyBuffer } from '../graph/adjacency-buffer.js';
import { NewRecords } from '../record/new-records.js';
import { LmdbView } from './read-view.js';
import { uuidAt } from '../record/record.js';
import type { Label, PropertyValues, VectorChange } from '../table/view-types.js';
import { idsUnder } from '../index/property-index.js';
import { noteUnlisted } from './deferred-adjacency.js';
import { appendVector, storedVector } from '../record/vector-record.js';
import { logChange } from '../record/vector-log.js';
import type { WriteContext } from './write-context.js';
import { LmdbWriteView } from './write-view.js';

const lastId = 0xffff_fffe;

export class LoadView extends LmdbView {
  /** Vector changes so far, in sequence order. */
  readonly changes: VectorChange[] = [];
  readonly #lists = new Map<number, number[]>();
  readonly #edges = new AdjacencyBuffer();
  /** Edges that are left to whoever called; absent: none is. */
  readonly unlisted: AdjacencyBuffer | undefined;
  readonly #records: NewRecords;
  #requests: LmdbWriteView | undefined;
  /** Where the last uuid of our own stands. */
  #last: Place | undefined;

  constructor(
    private readonly context: WriteContext,
    private readonly full: FullCatalog,
    private readonly nowMs: number,
    isAlone = false,
  ) {
    super(context.env, full);
    if (isAlone) this.unlisted = new AdjacencyBuffer();
    this.#records = new NewRecords(context.env);
  }

  /** The id that the next element gets. */
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
   * Notes that the next element has a value that no other has, by the key of the value's list; false
   * when some element has it.
   */
  claim(key: Uint8Array): boolean {
    return claimValue(this.env.index, key, this.nextId);
  }

  /** Takes back what `claim` noted for an element that is not made after all. */
  disclaim(key: Uint8Array): void {
    disclaimValue(this.env.index, key, this.nextId);
  }

  /** Id of the element that alone has the value whose list is under `key`; 0 when none has. */
  holder(key: Uint8Array): number {
    return idsUnder(this.env.index, key.slice(0, -4))[0] ?? 0;
  }

  /** Gives an element other properties: those of `values` and no others. */
  change(id: number, values: PropertyValues): void {
    this.#records.flush();
    this.#changing.update([{ id, values }]);
    this.#changing.finish();
  }

  /** All edges at an element. */
  incident(id: number): Uint32Array {
    this.#records.flush();
    return this.#changing.incident(id);
  }

  /** Removes elements that are there, ascending; the edges of nodes and vectors are among them. */
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

  /** The way in which requests change what is there. */
  get #changing(): LmdbWriteView {
    return (this.#requests ??= new LmdbWriteView(this.context, this.full, this.nowMs));
  }

  /** Whether an edge of the label goes from one to the other. */
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
   * Adds an element whose record, up to `end`, is ready but for its uuid, which is filled in: `own`,
   * or a new one. The bytes are read once more, and room behind the record is written, until the
   * load of the transaction ends.
   */
  create(label: Label, { bytes, start }: Place, end: number, own?: Uint8Array): number {
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

  /** Adds a new element to the list of a value that is under `key`. */
  addEntry(key: Uint8Array, id: number): void {
    addNewEntry(this.env.index, key, id);
  }

  link(label: Label, edge: number, from: number, to: number): void {
    const isUnique = label.type.kind === 'edge' && label.type.unique;
    // Whether a pair is there, the lists are asked.
    const edges = isUnique ? this.#edges : (this.unlisted ?? this.#edges);
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

  deleteDerived(key: Uint8Array): void {
    this.env.derived.remove(key);
  }

  /** Writes what was collected. */
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
    if (this.unlisted) noteUnlisted(env, this.unlisted);
  }
}
