// What one request has made and has not yet put into the tables: records and uuids, the lists of types,
// the edges at their ends, index entries but for those of values that must be unique. A thousand edges of one
// request cost a put for each list they lengthen, not one each, and their records follow each other.
//
// Invariant: whoever reads one of these tables has what concerns it written before (`settle...`); after
// `finish` nothing waits. All of it is noted in the change log as it is written: what never is needs no
// undoing.
import { ByteWriter } from '../../base/bytes.js';
import { assert } from '../../base/assert.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { addAllToList } from '../graph/label-bitmap.js';
import { AdjacencyBuffer } from '../graph/adjacency-buffer.js';
import { IndexEntryBuffer } from '../index/index-entry-buffer.js';
import { checkKeySize } from '../index/index-entry.js';
import { addEntries } from '../index/property-index.js';
import { NewRecords } from '../record/new-records.js';
import { type RecordHead, appendRecord } from '../record/record-writer.js';
import { checksumSize } from '../table/checksum.js';
import type { Label, PropertyValues, StoredProperty } from '../table/view-types.js';
import type { WriteContext } from './write-context.js';

/** Highest id that can be given out: the one above it serves as the end of scans. */
const lastId = 0xffff_fffe;

/** Bytes of records that wait at most, but for the last one. */
const waitingBytes = 1 << 20;

/** Puts that are certain for each new element: its record, its uuid. */
const ownPuts = 2;

/** Of an index entry, as the limit of bytes counts it. */
const entryBytes = 4;

/** Room for the edges of most requests. */
const fewEdges = 4;

/** Where records wait; requests run one after the other. */
const arena = new ByteWriter(16_384);

export class WriteBuffer {
  readonly #records: NewRecords;
  readonly #lists = new Map<number, number[]>();
  readonly #entries = new IndexEntryBuffer();
  readonly #edges = new AdjacencyBuffer(fewEdges);
  /** The least uuid whose entry waits: uuids of a request rise. */
  #firstUuid: Uint8Array | undefined;

  constructor(private readonly context: WriteContext) {
    this.#records = new NewRecords(context.env, context.log);
    arena.length = 0;
  }

  /** Adds an element with the next id, which is returned. Fails VALUE_TOO_LARGE, TXN_TOO_LARGE. */
  create(label: Label, head: RecordHead, values: PropertyValues): number {
    const { totals, limits, log } = this.context;
    if (this.#records.isFull || arena.length > waitingBytes) this.settleRecords();
    const start = arena.length;
    appendRecord(arena, head, label.properties, values, limits);
    const end = arena.length;
    log.count(ownPuts, end - start);
    arena.reserve(checksumSize);
    arena.length += checksumSize;
    const id = totals.state.nextId++;
    assert(id <= lastId, 'ids are not used up');
    this.#firstUuid ??= head.uuid.slice();
    this.#records.add(id, arena.bytes, start, end);
    const list = this.#lists.get(label.id);
    if (list) list.push(id);
    else this.#lists.set(label.id, [id]);
    return id;
  }

  /** Adds an element to those that have a value; fails INDEX_KEY_TOO_LONG, TXN_TOO_LARGE. */
  enter(property: StoredProperty, value: Scalar | ScalarList, id: number): void {
    const { limits, log } = this.context;
    checkKeySize(this.#entries.addValue(property, value, id), property, limits);
    log.count(1, entryBytes);
  }

  /** Adds an edge to the lists of its ends. */
  link(label: Label, edge: number, from: number, to: number): void {
    this.#edges.add(label.id, edge, from, to);
    if (label.type.kind === 'edge' && label.type.unique) this.#edges.notePair(label.id, from, to);
  }

  /** Whether an edge of a UNIQUE type from one to the other waits. */
  hasPair(label: number, from: number, to: number): boolean {
    return this.#edges.hasPair(label, from, to);
  }

  /** The record of an element, if it waits: without a copy, until the next change. */
  peek(id: number): Uint8Array | undefined {
    return this.#records.has(id) ? this.#records.peek(id) : undefined;
  }

  /** Writes the uuids that wait when this may be one of them. */
  settleUuid(uuid: Uint8Array): void {
    const first = this.#firstUuid;
    if (first !== undefined && Buffer.compare(first, uuid) <= 0) this.settleRecords();
  }

  settleRecords(): void {
    if (this.#records.isEmpty) return;
    this.#records.flush();
    this.#firstUuid = undefined;
    arena.length = 0;
  }

  /** Those of one index, or of all of them. */
  settleEntries(indexId?: number): void {
    this.#entries.take(this.#writeEntries, indexId);
  }

  readonly #writeEntries = (indexId: number, key: Uint8Array, ids: Uint32Array): void => {
    const { log, env, newValues } = this.context;
    const isOne = ids.length === 1;
    if (isOne && newValues.has(indexId) && log.insertWord(env.index, key, ids[0]!)) return;
    const isNew = addEntries(log, env.index, key, ids);
    if (isNew) newValues.add(indexId);
    else newValues.delete(indexId);
  };

  settleLists(): void {
    const { log, env, totals } = this.context;
    for (const [label, ids] of this.#lists) {
      addAllToList(env.labels, label, ids, log);
      totals.change(label, { count: totals.of(label).count + ids.length });
    }
    this.#lists.clear();
  }

  settleEdges(): void {
    const { env, hints, log, totals } = this.context;
    this.#edges.write(env, hints, totals.state.nextId - 1, log);
  }

  finish(): void {
    this.settleRecords();
    this.settleLists();
    this.settleEntries();
    this.settleEdges();
  }
}
