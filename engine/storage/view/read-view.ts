// Reads of one LMDB snapshot: that of the last `refresh` on a reading thread, or the open transaction on the
// writer thread.
import type { Scalar, ScalarList } from '../../base/value.js';
import { readAdjacency, readAdjacencyAfter, readDegree } from '../graph/adjacency.js';
import type { Env, Table } from '../table/env.js';
import { EdgeCache } from '../graph/edge-cache.js';
import { blockIds, scanList } from '../graph/label-bitmap.js';
import { LabelRank } from '../graph/label-rank.js';
import { readLabelState } from '../graph/label-state.js';
import { readCommits, readTotal } from '../table/meta.js';
import { readRisenFrom } from './uuid-order.js';
import { prefixOf } from '../index/index-key.js';
import { idsWithin } from '../index/index-scan.js';
import { idsUnder, batchesUnder } from '../index/property-index.js';
import { RecordCache } from '../record/record-cache.js';
import type {
  Catalog,
  CommittedReads,
  Direction,
  IdWindow,
  IndexBounds,
  ReadView,
  StoredProperty,
} from '../table/view-types.js';
import { VectorReader, readVector } from '../record/vector-record.js';
import { getWord } from '../table/little-endian.js';

const entriesPerRead = 64;

/**
 * Yields ids in the order of their uuids. Reads grow from 16 to 1,024 entries, so a caller that stops early
 * has read little.
 */
function* idsFrom(table: Table<Uint8Array>, first: Uint8Array): Generator<Uint32Array> {
  const end = new Uint8Array(17).fill(255);
  for (let from = first, limit = 16; ; limit = Math.min(4 * limit, 1024)) {
    const entries = table.entries({ start: from, end, limit });
    yield Uint32Array.from(entries, ({ value }) => getWord(value, 0));
    if (entries.length < limit) return;
    from = new Uint8Array(17);
    from.set(entries[entries.length - 1]!.key);
  }
}

/** A read view that can move to the newest commit. */
export interface RefreshableView extends ReadView {
  /**
   * Moves to the newest commit. Call it once per batch, before its first read, on a thread that returns to
   * its event loop.
   */
  refresh(): void;
}

export class LmdbView implements RefreshableView, CommittedReads {
  constructor(
    protected readonly env: Env,
    readonly catalog: Catalog,
  ) {}

  refresh(): void {
    this.env.refresh();
  }

  idOf(uuid: Uint8Array): number {
    return this.env.uuid.peekWord(uuid);
  }

  record(id: number): Uint8Array | undefined {
    return this.env.records.get(id);
  }

  recordShared(id: number): Uint8Array | undefined {
    return this.env.records.peek(id);
  }

  #records: RecordCache | undefined;

  get committed(): CommittedReads | undefined {
    return this;
  }

  commits(): number {
    return readCommits(this.env.meta);
  }

  recordCache(): RecordCache {
    this.#records ??= new RecordCache((id) => this.env.records.peek(id), this.env.notes?.since());
    return this.#records.moveTo(readCommits(this.env.meta));
  }

  #edges: EdgeCache | undefined;

  edgeCache(): EdgeCache {
    this.#edges ??= new EdgeCache(
      (id, label, direction) => this.adjacency(id, label, direction),
      this.env.notes?.since(),
    );
    return this.#edges.moveTo(readCommits(this.env.meta));
  }

  #rank: LabelRank | undefined;

  scan(label: number, skip = 0): Iterable<Uint32Array> {
    const { labels, meta } = this.env;
    if (this.committed === undefined) return scanList(labels, label, undefined, skip);
    const count = this.count(label);
    if (skip < blockIds) return scanList(labels, label, count, skip);
    this.#rank ??= new LabelRank(labels);
    return scanList(labels, label, count, skip, this.#rank.find(label, skip, readLabelState(meta)));
  }

  byUuid(from: Uint8Array): Iterable<Uint32Array> {
    return idsFrom(this.env.uuid, from);
  }

  risenFrom(): number {
    return readRisenFrom(this.env.meta);
  }

  count(label: number): number {
    return readTotal(this.env.meta, label).count;
  }

  dimension(label: number): number {
    return readTotal(this.env.meta, label).dimension;
  }

  adjacency(id: number, edgeLabel: number, direction: Direction): Uint32Array {
    return readAdjacency(this.env[direction], id, edgeLabel);
  }

  adjacencyAfter(
    id: number,
    edgeLabel: number,
    direction: Direction,
    { after, max }: { after: number; max: number },
  ): Uint32Array {
    return readAdjacencyAfter(this.env[direction], { id, label: edgeLabel }, after, max);
  }

  degree(id: number, edgeLabel: number, direction: Direction): number {
    return readDegree(this.env[direction], id, edgeLabel);
  }

  lookup(property: StoredProperty, value: Scalar | ScalarList): Uint32Array {
    return idsUnder(this.env.index, prefixOf(property, value));
  }

  lookupBatches(
    property: StoredProperty,
    value: Scalar | ScalarList,
    window?: IdWindow,
  ): Iterable<Uint32Array> {
    return batchesUnder(this.env.index, prefixOf(property, value), window);
  }

  range(
    property: StoredProperty,
    bounds: IndexBounds,
    descending = false,
    skip = 0,
  ): Iterable<Uint32Array> {
    return idsWithin(this.env.index, property, bounds, descending, skip);
  }

  vector(id: number): Float64Array | undefined {
    return readVector(this.env.vectors, id);
  }

  #vectors: VectorReader | undefined;

  vectorShared(id: number): Float64Array | undefined {
    this.#vectors ??= new VectorReader(this.env.vectors);
    return this.#vectors.read(id);
  }

  getDerived(key: Uint8Array): Uint8Array | undefined {
    return this.env.derived.get(key);
  }

  *scanDerived(
    start: Uint8Array,
    end: Uint8Array,
  ): Generator<{ key: Uint8Array; value: Uint8Array }> {
    for (let from = start; ; ) {
      const entries = this.env.derived.entries({ start: from, end, limit: entriesPerRead });
      yield* entries;
      if (entries.length < entriesPerRead) return;
      const last = entries[entries.length - 1]!.key;
      from = new Uint8Array(last.length + 1);
      from.set(last);
    }
  }
}
