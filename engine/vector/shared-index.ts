// A vector index over shared memory, on any thread. The opening thread creates it; others attach with its
// handle. One thread at a time writes, any number search. Until a thread receives a memory
// (`addMemory`), its searches miss the vectors in that memory.
import { HALF_CODES, HAS_EDGE_CODES, HAS_GRAPH, KEEP_VECTORS } from '../../wasm/layout.js';
import { assert } from '../base/assert.js';
import { helpLink, linkRows, type Rows } from './bulk.js';
import type { Candidates, IndexHandle, IndexOptions, VectorIndex, SearchOptions } from './index.js';
import { calibrationDue, EfCalibration } from './calibrate-ef.js';
import { graphFrom, layoutFlags, metricNumber, segmentBytesMax } from './options.js';
import { hardEdges, insertionPool } from './search-params.js';
import { search } from './search.js';
import { Segment } from './segment.js';
import { exponentOf, scaleFor, storedFactor, acceptsScale } from './vector-scale.js';
import { createMemory } from './wasm.js';

/** Fields of the control block that all threads share, i32 each. */
const cDimension = 0;
const cSegments = 1;
const cBulk = 2;
const cSegmentBytes = 3;
const cDisabled = 4;
const controlBytes = 20;

/** Slots of one step of maintenance: well below a millisecond. */
const maintainSlots = 16;

export interface IndexHooks {
  /** Writer: called with a new handle after a segment was added, before a vector is put into it. */
  onSegment?: (handle: IndexHandle) => void;
  /** Writer: called when a bulk build has begun, which other threads may help with. */
  onBuild?: (handle: IndexHandle) => void;
  /** Largest size of a segment's memory in bytes; tests make it small. */
  segmentBytes?: number;
}

export class SharedIndex implements VectorIndex {
  readonly number: number;
  readonly name: string;
  readonly options: IndexOptions;
  readonly segments: Segment[];
  readonly #control: Int32Array;
  readonly #hooks: IndexHooks;
  /** Calibrations in progress. */
  readonly #calibrations = new Map<Segment, EfCalibration>();

  constructor(handle: IndexHandle, hooks: IndexHooks) {
    this.number = handle.number;
    this.name = handle.name;
    this.options = handle.options;
    this.#control = new Int32Array(handle.control);
    this.#hooks = hooks;
    this.segments = handle.memories.map((memory) => new Segment(memory));
  }

  get dimension(): number {
    return Atomics.load(this.#control, cDimension);
  }

  get count(): number {
    return this.#usable().reduce((sum, segment) => sum + segment.live, 0);
  }

  get isDisabled(): boolean {
    return Atomics.load(this.#control, cDisabled) === 1;
  }

  /** Writer only. From now on no thread searches the index. */
  disable(): void {
    Atomics.store(this.#control, cDisabled, 1);
  }

  /** Number of deleted or replaced vectors whose slot is not reclaimed. */
  get tombstones(): number {
    return this.#usable().reduce((sum, segment) => sum + segment.deleted, 0);
  }

  /** Calibrated search width that suffices for every segment; 0 before the calibration. */
  get calibratedWidth(): number {
    return Math.max(0, ...this.#usable().map((segment) => segment.width));
  }

  /** Bytes of allocated memory. */
  get bytes(): number {
    return this.#usable().reduce((sum, segment) => sum + segment.bytes, 0);
  }

  #usable(): Segment[] {
    return this.dimension === 0 ? [] : this.segments.filter((segment) => segment.formatted);
  }

  handle(): IndexHandle {
    return {
      number: this.number,
      name: this.name,
      options: this.options,
      memories: this.segments.map((segment) => segment.memory),
      control: this.#control.buffer as SharedArrayBuffer,
    };
  }

  /** Whether other threads have created segments that this one has not received. */
  segmentsNeeded(): boolean {
    return Atomics.load(this.#control, cSegments) > this.segments.length;
  }

  /** Adds the memories of a newer handle. */
  addMemory(handle: IndexHandle): void {
    for (let i = this.segments.length; i < handle.memories.length; i++) {
      this.segments.push(new Segment(handle.memories[i]!));
    }
  }

  /** Releases this thread's scratch memory. The index exists as long as its memories are referenced. */
  close(): void {
    for (const segment of this.segments) segment.close();
  }

  put(id: number, vector: ArrayLike<number>): void {
    this.#begin(vector);
    const exponent = exponentOf(vector);
    for (let segment = this.#segmentFor(exponent); ; segment = this.#openSegment()) {
      segment.load(vector, this.#factorIn(segment, exponent));
      if (segment.kernel.put(segment.scratch.address, id))
        return this.#removeFromOthers(id, segment);
      assert(segment.slots > 0, 'a segment holds at least one vector');
    }
  }

  /** Returns the newest segment that accepts vectors of this scale. */
  #segmentFor(exponent: number | undefined): Segment {
    const { metric } = this.options;
    const found = this.segments.findLast(({ scale }) => acceptsScale(metric, scale, exponent));
    return found ?? this.#openSegment();
  }

  /** Returns the factor for a vector in a segment. The first vector determines the segment's scale. */
  #factorIn(segment: Segment, exponent: number | undefined): number {
    const { metric } = this.options;
    if (segment.scale === 0 && exponent !== undefined) segment.scale = scaleFor(exponent);
    return storedFactor(metric, segment.scale, exponent);
  }

  delete(id: number): void {
    for (const segment of this.#usable()) if (segment.kernel.remove(id)) return;
  }

  hasRoom(more: number, dimension: number): boolean {
    const usable = this.#usable();
    const flags = layoutFlags(this.options, dimension);
    const stride = usable[0]?.stride ?? strideOf(flags, dimension);
    const used = usable.reduce((sum, segment) => sum + segment.live, 0);
    return (used + more) * stride <= this.options.memoryBytes;
  }

  search(query: Float64Array, k: number, options: SearchOptions = {}): Candidates {
    const { metric, efSearch } = this.options;
    const { ef, allow } = options;
    const width = { ef: ef ?? efSearch, isExplicit: ef !== undefined };
    return search(this.#usable(), metric, query, k, width, allow);
  }

  /**
   * Writer only, before a snapshot: starts marking changed pages, so that its passes need not compare. A
   * segment without space for the marks is compared.
   */
  openMarks(): void {
    for (const segment of this.#usable()) segment.kernel.openMarks();
  }

  closeMarks(): void {
    for (const segment of this.#usable()) segment.kernel.closeMarks();
  }

  /**
   * Writer only. Reclaims deleted slots, repairs links and calibrates the search width for about `budgetMs`
   * milliseconds. Returns whether more is to do. Searches continue meanwhile.
   */
  maintain(budgetMs: number): boolean {
    const until = performance.now() + budgetMs;
    for (const segment of this.#usable()) {
      while (
        segment.wantsGraph &&
        segment.kernel.maintain(segment.scratch.address, maintainSlots)
      ) {
        if (performance.now() >= until) return true;
      }
      if (segment.wantsGraph && this.#calibrate(segment, until)) return true;
    }
    return false;
  }

  /** Calibrates the search width if that is due. Returns true if more is to do. */
  #calibrate(segment: Segment, until: number): boolean {
    for (;;) {
      let calibration = this.#calibrations.get(segment);
      const k = calibration?.k ?? calibrationDue(segment);
      if (k === undefined) return false;
      calibration ??= new EfCalibration(segment, k);
      this.#calibrations.set(segment, calibration);
      while (calibration.step()) if (performance.now() >= until) return true;
      this.#calibrations.delete(segment);
    }
  }

  /** Writer only. Inserts many vectors, together with all threads in `helpBuild`. The ids must differ. */
  insertBatch(ids: Uint32Array, rows: Rows): void {
    this.#announceBuild(1);
    this.#hooks.onBuild?.(this.handle());
    try {
      for (let done = 0; done < ids.length; ) done = this.#insertRound(ids, rows, done);
    } finally {
      this.#announceBuild(0);
    }
  }

  /** Writer only. Completes the first graph if it has begun, while no request waits. */
  finishGraph(): void {
    for (const segment of this.#usable()) {
      while (segment.isLinking) segment.kernel.maintain(segment.scratch.address, maintainSlots);
    }
  }

  #announceBuild(state: 0 | 1): void {
    Atomics.store(this.#control, cBulk, state);
    Atomics.notify(this.#control, cBulk);
  }

  /** Inserts one vector or one round of them; returns the next row. */
  #insertRound(ids: Uint32Array, rows: Rows, from: number): number {
    const first = rows(from);
    if (!first) return from + 1;
    this.#begin(first);
    const segment = this.#segmentFor(exponentOf(first));
    // A large batch should not link a few at a time. With a complete graph, all threads help.
    if (segment.isLinking && ids.length - from >= graphFrom) this.finishGraph();
    if (!segment.hasGraph) {
      this.put(ids[from]!, first);
      return from + 1;
    }
    const factorOf = (row: ArrayLike<number>): number | undefined => {
      const exponent = exponentOf(row);
      const isTaken = acceptsScale(this.options.metric, segment.scale, exponent);
      return isTaken ? this.#factorIn(segment, exponent) : undefined;
    };
    const { next, strays, isFull } = linkRows(segment, ids, rows, from, ids.length, factorOf);
    for (let i = from; i < next; i++) this.#removeFromOthers(ids[i]!, segment);
    for (const i of strays) this.put(ids[i]!, rows(i)!);
    if (isFull) this.#openSegment();
    return next;
  }

  /** Whether the writer runs a bulk build. */
  get isBuilding(): boolean {
    return Atomics.load(this.#control, cBulk) === 1;
  }

  /**
   * Helps with another thread's bulk build for `budgetMs` milliseconds (one row longer at most) or until its
   * end. Returns whether the build continues. Blocks the calling thread.
   */
  helpBuild(budgetMs = Number.POSITIVE_INFINITY): boolean {
    const until = performance.now() + budgetMs;
    while (this.isBuilding) {
      for (const segment of this.segmentsNeeded() ? [] : this.#usable()) {
        if (segment.hasGraph) helpLink(segment, until);
      }
      if (performance.now() >= until) return true;
      Atomics.wait(this.#control, cBulk, 1, 0.1);
    }
    return false;
  }

  /** Formats the first segment when the first vector determines the dimension. */
  #begin(vector: ArrayLike<number>): void {
    const { dimension } = this;
    if (dimension !== 0) {
      assert(vector.length === dimension, 'a vector has the dimension of its index');
      return;
    }
    this.#format(this.segments[0]!, vector.length);
    Atomics.store(this.#control, cDimension, vector.length);
  }

  #format(segment: Segment, dimension: number): void {
    const { options } = this;
    const layout = layoutFlags(options, dimension);
    const formatted = segment.kernel.format(
      metricNumber(options.metric),
      layout,
      dimension,
      Atomics.load(this.#control, cSegmentBytes) >>> 0,
      hardEdges(options.m),
      insertionPool(options.efConstruction),
      graphFrom,
    );
    assert(formatted, 'a segment holds its tables');
  }

  #openSegment(): Segment {
    const segment = new Segment(createMemory());
    this.#format(segment, this.dimension);
    this.segments.push(segment);
    this.#hooks.onSegment?.(this.handle());
    Atomics.store(this.#control, cSegments, this.segments.length);
    return segment;
  }

  /** Removes an id from all segments but the one that it was put into. */
  #removeFromOthers(id: number, segment: Segment): void {
    for (const other of this.segments) if (other !== segment) other.kernel.remove(id);
  }
}

/** Whether a rebuilt index would have space for this many vectors. */
export const fitsIn = (options: IndexOptions, count: number, dimension: number): boolean =>
  count * strideOf(layoutFlags(options, dimension), dimension) <= options.memoryBytes;

/** Returns the bytes of a vector before a segment exists. */
function strideOf(flags: number, dimension: number): number {
  const padded = Math.ceil(dimension / 32) * 32;
  if (flags & HALF_CODES) return 64 + padded / 2 + 128;
  return (
    64 +
    (flags & KEEP_VECTORS ? padded * 4 : 0) +
    (flags & HAS_GRAPH ? 2 * padded + 192 : 0) +
    (flags & HAS_EDGE_CODES ? padded * 4 + 128 : 0)
  );
}

let lastNumber = 0;

/**
 * Creates an empty index. It takes little memory until the first `put`, which also determines the dimension.
 */
export function createVectorIndex(
  name: string,
  options: IndexOptions,
  hooks: IndexHooks = {},
): SharedIndex {
  const control = new SharedArrayBuffer(controlBytes);
  const words = new Int32Array(control);
  words[cSegments] = 1;
  words[cSegmentBytes] = hooks.segmentBytes ?? segmentBytesMax;
  return new SharedIndex(
    { number: ++lastNumber, name, options, memories: [createMemory()], control },
    hooks,
  );
}

/** Returns the index under another name, with options that its memory does not depend on. Writer only. */
export function renamedIndex(
  index: SharedIndex,
  name: string,
  options: IndexOptions,
  hooks: IndexHooks,
): SharedIndex {
  const handle = index.handle();
  index.close();
  return new SharedIndex({ ...handle, number: ++lastNumber, name, options }, hooks);
}

/** Content of a snapshot. */
export interface Restored {
  name: string;
  options: IndexOptions;
  memories: WebAssembly.Memory[];
  dimension: number;
}

/**
 * Creates an index over memories that were read from a file. Returns the reason if they do not fit the
 * options.
 */
export function restoreIndex(restored: Restored, hooks: IndexHooks): SharedIndex | string {
  const { name, options, memories, dimension } = restored;
  const control = new SharedArrayBuffer(controlBytes);
  const words = new Int32Array(control);
  words[cDimension] = dimension;
  words[cSegments] = memories.length;
  words[cSegmentBytes] = hooks.segmentBytes ?? segmentBytesMax;
  const index = new SharedIndex({ number: ++lastNumber, name, options, memories, control }, hooks);
  for (const segment of index.segments) {
    const why = segment.restore(options, dimension);
    if (why) return why;
  }
  return index;
}

/** Returns the index of a handle, on another thread. */
export function attachVectorIndex(handle: IndexHandle, hooks: IndexHooks = {}): SharedIndex {
  return new SharedIndex(handle, hooks);
}
