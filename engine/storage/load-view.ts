// The write transaction of a bulk load. It is undone as a whole or not at all, so that nothing is
// noted for undoing; label lists and adjacency are collected in memory and written once, in key
// order, when the load of the transaction ends.
//
// Invariant: after `finish` the store is as single requests would have left it. Until then label
// lists and adjacency in LMDB lack what was collected.
import { assert } from '../base/assert.js';
import { fail } from '../base/errors.js';
import type { FullCatalog } from './catalog.js';
import { appendEdges, readAdjacency, readDegree } from './adjacency.js';
import { fillUuid } from './blank-record.js';
import { addAllToList } from './label-list.js';
import { indexKey } from './index-key.js';
import { addNewEntry, isTaken } from './property-index.js';
import { LmdbView } from './read-view.js';
import type { Label, VectorChange } from './store.js';
import { encodeVector, storedVector } from './vector-record.js';
import { logChange } from './vlog.js';
import { putWord } from './word.js';
import type { WriteContext } from './write-view.js';

const lastId = 0xffff_fffe;

/** Edges of one direction and label, collected: chains of [edge, far] per element, newest first. */
class Collected {
  readonly last = new Map<number, number>();
  #pairs = new Uint32Array(1024);
  #before = new Int32Array(512);
  #count = 0;

  add(id: number, edge: number, far: number): void {
    if (this.#count === this.#before.length) this.#grow();
    const at = this.#count++;
    this.#pairs[2 * at] = edge;
    this.#pairs[2 * at + 1] = far;
    this.#before[at] = this.last.get(id) ?? -1;
    this.last.set(id, at);
  }

  #grow(): void {
    const pairs = new Uint32Array(this.#pairs.length * 2);
    pairs.set(this.#pairs);
    const before = new Int32Array(this.#before.length * 2);
    before.set(this.#before);
    [this.#pairs, this.#before] = [pairs, before];
  }

  /** The pairs of an element, oldest first. */
  pairsOf(id: number): Uint32Array {
    const last = this.last.get(id)!;
    let count = 0;
    for (let at = last; at >= 0; at = this.#before[at]!) count++;
    const pairs = new Uint32Array(2 * count);
    for (let at = last; at >= 0; at = this.#before[at]!) {
      pairs[2 * --count] = this.#pairs[2 * at]!;
      pairs[2 * count + 1] = this.#pairs[2 * at + 1]!;
    }
    return pairs;
  }

  has(id: number, far: number): boolean {
    for (let at = this.last.get(id) ?? -1; at >= 0; at = this.#before[at]!) {
      if (this.#pairs[2 * at + 1] === far) return true;
    }
    return false;
  }
}

export class LoadView extends LmdbView {
  /** Vector changes so far, in sequence order. */
  readonly changes: VectorChange[] = [];
  readonly #lists = new Map<number, number[]>();
  readonly #out = new Map<number, Collected>();
  readonly #in = new Map<number, Collected>();
  readonly #idBytes = new Uint8Array(4);

  constructor(
    private readonly context: WriteContext,
    full: FullCatalog,
    private readonly nowMs: number,
  ) {
    super(context.env, full);
  }

  /** The id that the next element gets. */
  get nextId(): number {
    return this.context.totals.state.nextId;
  }

  /** What is known of the value of an index prefix: new to the index, free, or some element's. */
  judge(prefix: Uint8Array): 'unknown' | 'free' | 'taken' {
    if (!this.env.index.has(indexKey(prefix, 0))) return 'unknown';
    return isTaken(this.env.index, prefix) ? 'taken' : 'free';
  }

  /** Whether an edge of the label goes from one to the other. */
  hasPair(label: number, from: number, to: number): boolean {
    if (this.#out.get(label)?.has(from, to)) return true;
    const { out, in: into } = this.env;
    const isOut = readDegree(out, from, label) <= readDegree(into, to, label);
    const pairs = isOut ? readAdjacency(out, from, label) : readAdjacency(into, to, label);
    const far = isOut ? to : from;
    for (let i = 1; i < pairs.length; i += 2) if (pairs[i] === far) return true;
    return false;
  }

  /**
   * Adds an element whose record is ready but for its uuid, which is filled in: `own`, or a new one.
   */
  create(label: Label, record: Uint8Array, own: Uint8Array | undefined): number {
    const { env, totals, uuids } = this.context;
    const uuid = own ?? uuids.next(this.nowMs);
    fillUuid(record, uuid);
    const id = totals.state.nextId++;
    assert(id <= lastId, 'ids are not used up');
    if (!own) totals.state.lastUuid = uuid;
    putWord(this.#idBytes, 0, id);
    env.uuid.put(uuid, this.#idBytes);
    env.records.put(id, record);
    const list = this.#lists.get(label.id);
    if (list) list.push(id);
    else this.#lists.set(label.id, [id]);
    return id;
  }

  /** Adds the index entry of a new element; `isUnknown` as judged just before. */
  addEntry(prefix: Uint8Array, id: number, isUnknown = false): void {
    addNewEntry(this.env.index, prefix, id, isUnknown);
  }

  link(label: number, edge: number, from: number, to: number): void {
    collectedOf(this.#out, label).add(from, edge, to);
    collectedOf(this.#in, label).add(to, edge, from);
  }

  /** Fails VECTOR_DIMENSION. */
  checkDimension(label: Label, got: number): void {
    const { totals, vectorTypes } = this.context;
    const known = totals.of(label.id).dimension;
    const expected = known || (vectorTypes[label.name]?.dimensions ?? got);
    if (got !== expected) fail('VECTOR_DIMENSION', { type: label.name, expected, got });
    if (known === 0) totals.change(label.id, { dimension: got });
  }

  putVector(label: Label, id: number, vector: Float64Array): void {
    const { env, log, totals, vectorTypes } = this.context;
    const width = vectorTypes[label.name]?.store ?? 'f64';
    env.vectors.put(id, encodeVector(vector, width));
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
    const { env, totals } = this.context;
    for (const [label, ids] of this.#lists) {
      addAllToList(env.labels, label, ids);
      totals.change(label, { count: totals.of(label).count + ids.length });
    }
    for (const [table, all] of [
      [env.out, this.#out],
      [env.in, this.#in],
    ] as const) {
      for (const [label, collected] of all) {
        for (const id of Uint32Array.from(collected.last.keys()).sort()) {
          appendEdges(table, { id, label }, collected.pairsOf(id));
        }
      }
    }
  }
}

function collectedOf(all: Map<number, Collected>, label: number): Collected {
  let collected = all.get(label);
  if (collected === undefined) all.set(label, (collected = new Collected()));
  return collected;
}
