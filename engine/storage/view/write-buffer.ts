// Buffers what one request has created and not yet put into the tables: records and uuids, label lists,
// adjacency entries, and index entries of values that need not be unique. A thousand edges of one request
// cost one put for each list that they lengthen, and their records are written in sequence.
//
// Invariant: before a read of one of these tables, the caller writes the entries that concern it
// (`flush...`). After `finish` the buffer is empty. The undo log records every entry as it is written, so
// entries that are never written need no undo.
import { ByteWriter } from '../../base/bytes.js';
import { assert } from '../../base/assert.js';
import type { Scalar, ScalarList } from '../../base/value.js';
import { addAllToList } from '../graph/label-bitmap.js';
import { AdjacencyBuffer } from '../graph/adjacency-buffer.js';
import { IndexEntryBuffer } from '../index/index-entry-buffer.js';
import { checkKeySize } from '../index/index-entry.js';
import { addEntries } from '../index/property-index.js';
import { RecordBuffer } from '../record/new-records.js';
import { type RecordHead, appendRecord } from '../record/record-writer.js';
import { checksumSize } from '../table/checksum.js';
import type { Label, PropertyValues, StoredProperty } from '../table/view-types.js';
import type { WriteContext } from './write-context.js';

/** Highest id that can be assigned. The one above it is the end of scans. */
const lastId = 0xffff_fffe;

/** Largest size of the buffered records in bytes, without the last one. */
const recordBytesMax = 1 << 20;

/** Puts that are certain for each new element: its record and its uuid. */
const ownPuts = 2;

/** Bytes of an index entry, as the limit counts them. */
const entryBytes = 4;

/** Initial capacity for edges, enough for most requests. */
const fewEdges = 4;

/** Memory of buffered records. Requests run one after the other. */
const arena = new ByteWriter(16_384);

export class WriteBuffer {
  readonly #records: RecordBuffer;
  readonly #lists = new Map<number, number[]>();
  readonly #entries = new IndexEntryBuffer();
  readonly #edges = new AdjacencyBuffer(fewEdges);
  /** Lowest buffered uuid: the uuids of a request ascend. */
  #firstUuid: Uint8Array | undefined;

  constructor(private readonly context: WriteContext) {
    this.#records = new RecordBuffer(context.env, context.log);
    arena.length = 0;
  }

  /** Adds an element. Returns its id, the next one. Fails VALUE_TOO_LARGE, TXN_TOO_LARGE. */
  create(label: Label, head: RecordHead, values: PropertyValues): number {
    const { totals, limits, log } = this.context;
    if (this.#records.isFull || arena.length > recordBytesMax) this.flushRecords();
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

  /** Adds an element to those that have a value. Fails INDEX_KEY_TOO_LONG, TXN_TOO_LARGE. */
  enter(property: StoredProperty, value: Scalar | ScalarList, id: number): void {
    const { limits, log } = this.context;
    checkKeySize(this.#entries.addValue(property, value, id), property, limits);
    log.count(1, entryBytes);
  }

  /** Adds an edge to the lists of its endpoints. */
  link(label: Label, edge: number, from: number, to: number): void {
    this.#edges.add(label.id, edge, from, to);
    if (label.type.kind === 'edge' && label.type.unique) this.#edges.notePair(label.id, from, to);
  }

  /** Whether an edge of a UNIQUE type between these endpoints is buffered. */
  hasPair(label: number, from: number, to: number): boolean {
    return this.#edges.hasPair(label, from, to);
  }

  /**
   * Returns a buffered record without a copy, valid until the next change; undefined if it is not buffered.
   */
  peek(id: number): Uint8Array | undefined {
    return this.#records.has(id) ? this.#records.peek(id) : undefined;
  }

  /** Writes the buffered uuids if this may be one of them. */
  flushUuid(uuid: Uint8Array): void {
    const first = this.#firstUuid;
    if (first !== undefined && Buffer.compare(first, uuid) <= 0) this.flushRecords();
  }

  flushRecords(): void {
    if (this.#records.isEmpty) return;
    this.#records.flush();
    this.#firstUuid = undefined;
    arena.length = 0;
  }

  /** Writes the entries of one index, or of all. */
  flushEntries(indexId?: number): void {
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

  flushLists(): void {
    const { log, env, totals } = this.context;
    for (const [label, ids] of this.#lists) {
      addAllToList(env.labels, label, ids, log);
      totals.change(label, { count: totals.of(label).count + ids.length });
    }
    this.#lists.clear();
  }

  flushEdges(): void {
    const { env, hints, log, totals } = this.context;
    this.#edges.write(env, hints, totals.state.nextId - 1, log);
  }

  finish(): void {
    this.flushRecords();
    this.flushLists();
    this.flushEntries();
    this.flushEdges();
  }
}
