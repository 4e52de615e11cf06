// The write transaction of one request: changes elements and all that depends on them (uuid map, label list,
// indexes, adjacency, embedding, log, totals).
//
// New entries are buffered (write-buffer.ts) until they are read or the request ends.
//
// Invariant: a request that fails is undone as a whole, because some of its entries may be written before the
// error is found.
import { assert } from '../../base/assert.js';
import { excerpt, fail } from '../../base/errors.js';
import { checkIntegrity } from '../../base/integrity.js';
import { distinct } from '../../base/u32-array.js';
import { readAdjacency, readDegree } from '../graph/adjacency.js';
import { type Endpoint, EndpointCache } from '../graph/endpoint-cache.js';
import type { FullCatalog } from '../catalog/catalog.js';
import type { Table } from '../table/env.js';
import type { DeferredWork, DeferredTask } from '../table/deferred-work.js';
import { type Entry, checkKeySize, entriesOf } from '../index/index-entry.js';
import type { AdjacencyKey } from '../table/keys.js';
import { prefixOf } from '../index/index-key.js';
import { printDate } from '../../base/date.js';
import { Instant, type Scalar, type ScalarList, Uuid } from '../../base/value.js';
import { claim } from '../index/unique-value.js';
import { IndexEntryBuffer } from '../index/index-entry-buffer.js';
import { removeEntries } from '../index/property-index.js';
import { LmdbView } from './read-view.js';
import { labelOf } from '../record/record.js';
import { decodeFormer } from '../record/stored-float.js';
import { Removal } from './remove-elements.js';
import { type RecordHead, encodeRecord, headOf } from '../record/record-writer.js';
import type {
  Direction,
  ElementRemoval,
  IdWindow,
  IndexBounds,
  Label,
  PropertyValues,
  StoredProperty,
  VectorChange,
  WriteView,
} from '../table/view-types.js';
import { encodeVector, storedVector } from '../record/vector-record.js';
import type { WriteContext } from './write-context.js';
import { logChange } from '../record/vector-log.js';
import { WriteBuffer } from './write-buffer.js';

export class LmdbWriteView extends LmdbView implements WriteView {
  pending: VectorChange[] = [];
  unpublished: readonly VectorChange[] = [];
  /** Created with the first element. */
  #buffer: WriteBuffer | undefined;
  /** Created with the first edge. */
  #ends: EndpointCache | undefined;
  readonly #lists = new Map<number, { table: Table<AdjacencyKey>; label: number }[]>();

  constructor(
    private readonly context: WriteContext,
    private readonly full: FullCatalog,
    private readonly nowMs: number,
    /** Absent in transactions of one request. */
    private readonly group?: DeferredWork,
  ) {
    super(context.env, full);
  }

  defer<T extends DeferredTask>(make: () => T): T | undefined {
    return this.group?.getOrCreate(make);
  }

  flushDeferred(): void {
    this.group?.flushDeferred(this);
  }

  override get committed(): undefined {
    return undefined;
  }

  /** Writes all buffered entries, before the request counts as complete. */
  finish(): void {
    this.#buffer?.finish();
  }

  override idOf(uuid: Uint8Array): number {
    this.#buffer?.flushUuid(uuid);
    return super.idOf(uuid);
  }

  override record(id: number): Uint8Array | undefined {
    return this.#buffer?.peek(id)?.slice() ?? super.record(id);
  }

  override recordShared(id: number): Uint8Array | undefined {
    return this.#buffer?.peek(id) ?? super.recordShared(id);
  }

  override scan(label: number, skip?: number): Iterable<Uint32Array> {
    this.#buffer?.flushLists();
    return super.scan(label, skip);
  }

  override adjacency(id: number, edgeLabel: number, direction: Direction): Uint32Array {
    this.#buffer?.flushEdges();
    return super.adjacency(id, edgeLabel, direction);
  }

  override adjacencyAfter(
    id: number,
    edgeLabel: number,
    direction: Direction,
    window: { after: number; max: number },
  ): Uint32Array {
    this.#buffer?.flushEdges();
    return super.adjacencyAfter(id, edgeLabel, direction, window);
  }

  override degree(id: number, edgeLabel: number, direction: Direction): number {
    this.#buffer?.flushEdges();
    return super.degree(id, edgeLabel, direction);
  }

  override lookup(property: StoredProperty, value: Scalar | ScalarList): Uint32Array {
    this.#buffer?.flushEntries(property.indexId);
    return super.lookup(property, value);
  }

  override lookupBatches(
    property: StoredProperty,
    value: Scalar | ScalarList,
    window?: IdWindow,
  ): Iterable<Uint32Array> {
    this.#buffer?.flushEntries(property.indexId);
    return super.lookupBatches(property, value, window);
  }

  override range(
    property: StoredProperty,
    bounds: IndexBounds,
    descending?: boolean,
    skip?: number,
  ): Iterable<Uint32Array> {
    this.#buffer?.flushEntries(property.indexId);
    return super.range(property, bounds, descending, skip);
  }

  override count(label: number): number {
    this.#buffer?.flushLists();
    return this.context.totals.of(label).count;
  }

  override dimension(label: number): number {
    return this.context.totals.of(label).dimension;
  }

  createNode(label: Label, values: PropertyValues): number {
    return this.#create(label, values);
  }

  createEdge(label: Label, from: number, to: number, values: PropertyValues): number {
    if (label.type.kind === 'edge' && label.type.unique) this.#checkPair(label, from, to);
    const fromUuid = this.#endUuid(from, label.from);
    const ends = { from, to, fromUuid, toUuid: this.#endUuid(to, label.to) };
    const id = this.#create(label, values, ends);
    this.#newBuffer.link(label, id, from, to);
    return id;
  }

  endOf(id: number, named?: Endpoint): Endpoint | undefined {
    this.#ends ??= new EndpointCache(this.env.labels, (id) => this.recordShared(id));
    return this.#ends.of(id, named);
  }

  createVector(label: Label, vector: Float64Array, values: PropertyValues): number {
    this.#checkDimension(label, vector.length);
    const id = this.#create(label, values);
    this.#putVector(label, id, vector, true);
    return id;
  }

  update(changes: readonly { id: number; values: PropertyValues }[]): void {
    const { log, env, limits } = this.context;
    const leaving = new IndexEntryBuffer();
    const added: { label: Label; id: number; property: StoredProperty; values: PropertyValues }[] =
      [];
    log.expect(changes.length);
    this.#buffer?.flushRecords();
    this.#buffer?.flushEntries();
    for (const { id, values } of changes) {
      const former = this.#existing(id);
      const label = this.catalog.label(labelOf(former));
      const record = encodeRecord(headOf(former), label.properties, values, limits, former);
      const next = entriesOf(label, (property) => values.get(property.name) ?? null);
      const had = entriesOf(label, (property) => decodeFormer(former, property));
      for (const { property, prefix } of without(had, next)) {
        leaving.add(property.indexId, prefix, id);
      }
      for (const { property } of without(next, had)) added.push({ label, id, property, values });
      log.replace(env.records, id, former, record);
    }
    leaving.take((_, key, ids) => removeEntries(log, env.index, key, ids));
    for (const { label, id, property, values } of added) {
      this.#enter(label, property, values.get(property.name)!, id);
    }
  }

  replaceVector(id: number, vector: Float64Array): void {
    const label = this.catalog.label(labelOf(this.#existing(id)));
    this.#checkDimension(label, vector.length);
    this.#putVector(label, id, vector, false);
  }

  remove(id: number): void {
    this.removeAll(Uint32Array.of(id), () => undefined);
  }

  removal(tick: (count: number) => void): ElementRemoval {
    this.finish();
    this.#ends?.forget();
    const onVector = (label: number, id: number): void => {
      this.#change({ kind: 'delete', label, id });
    };
    return new Removal(this.context, this.catalog, tick, onVector);
  }

  removeAll(ids: Uint32Array, tick: (count: number) => void): void {
    const removal = this.removal(tick);
    for (const id of ids) {
      checkIntegrity(removal.add(id), 'an element that is to be removed is missing');
    }
    removal.apply();
  }

  incidentCount(id: number, own = labelOf(this.#existing(id))): number {
    let count = 0;
    this.#buffer?.flushEdges();
    for (const { table, label } of this.#listsAt(own)) count += readDegree(table, id, label);
    return count;
  }

  incident(id: number): Uint32Array {
    const edges: number[] = [];
    this.#buffer?.flushEdges();
    for (const { table, label } of this.#listsAt(labelOf(this.#existing(id)))) {
      const pairs = readAdjacency(table, id, label);
      for (let i = 0; i < pairs.length; i += 2) edges.push(pairs[i]!);
    }
    return distinct(Uint32Array.from(edges));
  }

  /** Returns the adjacency lists that elements of a label may have. */
  #listsAt(own: number): { table: Table<AdjacencyKey>; label: number }[] {
    let lists = this.#lists.get(own);
    if (lists !== undefined) return lists;
    lists = (['out', 'in'] as const).flatMap((direction) =>
      [...this.full.edgesAt(own, direction)].map((label) => ({
        table: this.env[direction],
        label,
      })),
    );
    this.#lists.set(own, lists);
    return lists;
  }

  putDerived(key: Uint8Array, value: Uint8Array, former?: Uint8Array): void {
    const { log } = this.context;
    if (former === undefined) log.put(this.env.derived, key, value);
    else log.replace(this.env.derived, key, former, value);
  }

  deleteDerived(key: Uint8Array, former?: Uint8Array): void {
    const { log } = this.context;
    if (former === undefined) log.remove(this.env.derived, key);
    else log.cut(this.env.derived, key, former);
  }

  #create(label: Label, values: PropertyValues, ends?: RecordHead['ends']): number {
    const { uuids, totals } = this.context;
    const { nextId, lastUuid: uuid } = totals.state;
    for (const property of label.properties) {
      if (property.indexId === 0) continue;
      const value = values.get(property.name) ?? null;
      if (value !== null) this.#enter(label, property, value, nextId);
    }
    uuids.write(uuid, 0, this.nowMs);
    totals.noteUuid(uuid);
    const head: RecordHead = { label: label.id, kind: label.kind, uuid };
    if (ends !== undefined) head.ends = ends;
    return this.#newBuffer.create(label, head, values);
  }

  get #newBuffer(): WriteBuffer {
    return (this.#buffer ??= new WriteBuffer(this.context));
  }

  #putVector(label: Label, id: number, vector: Float64Array, isNew: boolean): void {
    const { log, env, vectorTypes } = this.context;
    const width = vectorTypes[label.name]?.store ?? 'f64';
    const value = encodeVector(vector, width);
    if (isNew) log.insert(env.vectors, id, value);
    else log.put(env.vectors, id, value);
    const stored = storedVector(vector, width);
    this.#change({ kind: 'put', label: label.id, id, vector: stored });
  }

  #change(change: VectorChange): void {
    const { log, env, totals } = this.context;
    logChange(log, env.vlog, totals.state.nextSeq++, change);
    this.pending.push(change);
  }

  /** Returns a record, valid until the next read or put. */
  #existing(id: number): Uint8Array {
    const record = this.recordShared(id);
    assert(record, 'the caller checked that the element exists');
    return record;
  }

  #endUuid(id: number, label: number | undefined): Uint8Array {
    const end = this.endOf(id);
    assert(end?.label === label, 'the caller checked both ends');
    return end!.uuid;
  }

  /** Adds an index entry. Fails UNIQUE_VIOLATION, INDEX_KEY_TOO_LONG, TXN_TOO_LARGE. */
  #enter(label: Label, property: StoredProperty, value: Scalar | ScalarList, id: number): void {
    if (property.index !== 'unique') return this.#newBuffer.enter(property, value, id);
    const { limits, log, env } = this.context;
    const prefix = prefixOf(property, value);
    checkKeySize(prefix.length, property, limits);
    if (claim(log, env.index, prefix, id)) return;
    const got = textOf(value);
    const args = { type: label.name, property: property.name, value: got };
    fail('UNIQUE_VIOLATION', args, { hint: `The value ${got} is taken.` });
  }

  /** Fails UNIQUE_VIOLATION if the pair exists; searches the shorter of the two lists. */
  #checkPair(label: Label, from: number, to: number): void {
    const isOut = readDegree(this.env.out, from, label.id) <= readDegree(this.env.in, to, label.id);
    const pairs = isOut
      ? readAdjacency(this.env.out, from, label.id)
      : readAdjacency(this.env.in, to, label.id);
    const far = isOut ? to : from;
    let isTwice = this.#buffer?.hasPair(label.id, from, to) === true;
    for (let i = 1; i < pairs.length && !isTwice; i += 2) isTwice = pairs[i] === far;
    if (isTwice) fail('UNIQUE_VIOLATION', { type: label.name, property: 'From, To' });
  }

  #checkDimension(label: Label, got: number): void {
    const { totals, vectorTypes } = this.context;
    const known = totals.of(label.id).dimension;
    const expected = known || (vectorTypes[label.name]?.dimensions ?? got);
    if (got !== expected) fail('VECTOR_DIMENSION', { type: label.name, expected, got });
    if (known === 0) totals.change(label.id, { dimension: got });
  }
}

/** Returns the entries of `a` that `b` lacks. Both have at most one per property, in the same order. */
function without(a: readonly Entry[], b: readonly Entry[]): Entry[] {
  return a.filter(
    ({ property, prefix }) =>
      !b.some((other) => other.property === property && Buffer.compare(other.prefix, prefix) === 0),
  );
}

/** Returns a value for a message. */
function textOf(value: Scalar | ScalarList): string {
  if (value instanceof Uuid) return value.text;
  if (value instanceof Instant) return printDate(value);
  return typeof value === 'string' ? JSON.stringify(excerpt(value)) : excerpt(String(value));
}
