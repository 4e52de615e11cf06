// One segment of an index on one thread: a kernel instance over the shared memory, this thread's scratch
// memory, and views of fields that the host uses. Views of shared memory stay valid when it grows.
import {
  FORMAT_VERSION,
  H_ALLOCATOR,
  H_BEAM,
  H_BREAK,
  H_BULK_DONE,
  H_BULK_END,
  H_BULK_NEXT,
  H_BYTES_MAX,
  H_CAPACITY,
  H_CURSOR,
  H_DELETED,
  H_DIMENSION,
  H_HARD,
  H_INPUT_SCALE,
  H_SCRATCH_LOCK,
  H_SCRATCH_TABLE,
  H_LAYOUT,
  H_LINKED,
  H_LIVE,
  H_MAGIC,
  H_MARKING,
  H_METRIC,
  H_PADDED,
  H_PHASE,
  H_SLOTS,
  H_STATE,
  H_STRIDE,
  H_VERSION,
  H_WIDTH,
  H_WIDTH_MANY,
  H_ZERO_LOCK,
  HAS_EDGE_CODES,
  HAS_GRAPH,
  L_ALLOW,
  L_ALLOW_ROOM,
  L_DISTANCES,
  L_IDS,
  L_QUERY,
  L_VISITED,
  SCRATCH_HEADER,
  SCRATCHES_MAX,
  MAGIC,
  METRIC_DOT,
  PAGE_BYTES,
  PHASE_RESET,
  RESULT_MAX,
  STATE_GRAPH,
} from '../../wasm/layout.js';
import { assert } from '../base/assert.js';
import { fail } from '../base/errors.js';
import type { AllowList, IndexOptions } from './index.js';
import { layoutFlags } from './options.js';
import { hardEdges, insertionPool } from './search-params.js';
import { instantiate, type Kernel } from './wasm.js';

interface Scratch {
  address: number;
  query: Float32Array;
  ids: Uint32Array;
  distances: Float32Array;
  visited: Uint32Array;
}

export class Segment {
  readonly kernel: Kernel;
  readonly header: Int32Array;
  #scratch: Scratch | undefined;
  #allow: AllowList | undefined;

  constructor(readonly memory: WebAssembly.Memory) {
    this.kernel = instantiate(memory);
    this.header = new Int32Array(memory.buffer, 0, 1024);
  }

  /** Returns an unsigned field of the header. */
  field(offset: number): number {
    return Atomics.load(this.header, offset >> 2) >>> 0;
  }

  get formatted(): boolean {
    return this.field(H_MAGIC) === MAGIC;
  }
  get live(): number {
    return this.field(H_LIVE);
  }
  get deleted(): number {
    return this.field(H_DELETED);
  }
  get slots(): number {
    return this.field(H_SLOTS);
  }
  get bytes(): number {
    return this.field(H_BREAK);
  }
  get stride(): number {
    return this.field(H_STRIDE);
  }
  /** One byte per page, 1 after a change; undefined while changes are not marked. */
  get marks(): Uint8Array | undefined {
    const at = this.field(H_MARKING);
    if (at === 0) return undefined;
    const length = Math.floor(this.field(H_BYTES_MAX) / PAGE_BYTES) + 1;
    return new Uint8Array(this.buffer(at + length), at, length);
  }
  /** Whether the first graph is being built. */
  get isLinking(): boolean {
    return this.field(H_LINKED) !== 0;
  }
  get hasGraph(): boolean {
    return this.field(H_STATE) === STATE_GRAPH;
  }
  get padded(): number {
    return this.field(H_PADDED);
  }
  /**
   * Whether a search may follow the estimates of edge codes. Their error under dot is a part of the edge's
   * length, and many edges under dot are as long as the vectors.
   */
  get canFollow(): boolean {
    return (this.field(H_LAYOUT) & HAS_EDGE_CODES) !== 0 && this.field(H_METRIC) !== METRIC_DOT;
  }
  /**
   * Returns the largest standard deviation of a distance in this thread's last result of `count` candidates.
   * It is 0 before the graph is complete, because distances are exact.
   */
  noiseOf(count: number): number {
    if (!this.hasGraph) return 0;
    return this.kernel.answerNoise(this.scratch.address, count);
  }
  /** Calibrated search width for few results; 0 before the calibration. */
  get width(): number {
    return this.field(H_WIDTH);
  }
  set width(width: number) {
    Atomics.store(this.header, H_WIDTH >> 2, width);
  }
  /**
   * Calibrated search width for many results; 0 before the calibration, and in snapshots of older versions.
   */
  get widthForMany(): number {
    return this.field(H_WIDTH_MANY);
  }
  set widthForMany(width: number) {
    Atomics.store(this.header, H_WIDTH_MANY >> 2, width);
  }
  /** Number of vectors that this thread's last scan scored. */
  get scored(): number {
    return this.scratch.visited[0]!;
  }
  get wantsGraph(): boolean {
    return (this.field(H_LAYOUT) & HAS_GRAPH) !== 0;
  }
  /** Number of vectors that still fit. */
  get room(): number {
    return this.field(H_CAPACITY) - this.live;
  }

  /** Returns the buffer up to an address, even if another thread has grown the memory. */
  buffer(end: number): SharedArrayBuffer {
    if (this.memory.buffer.byteLength < end) this.memory.grow(0);
    const { buffer } = this.memory;
    assert(buffer.byteLength >= end, 'an address lies inside its memory');
    return buffer;
  }

  get scratch(): Scratch {
    if (this.#scratch) return this.#scratch;
    const address = this.kernel.openScratch() >>> 0;
    assert(address !== 0, 'a scratch memory is free');
    const fields = new Uint32Array(
      this.buffer(address + SCRATCH_HEADER),
      address,
      SCRATCH_HEADER / 4,
    );
    const view = <T>(
      field: number,
      length: number,
      make: (b: SharedArrayBuffer, at: number) => T,
    ): T => {
      const at = fields[field >> 2]!;
      return make(this.buffer(at + length * 4), at);
    };
    const padded = this.field(H_PADDED);
    this.#scratch = {
      address,
      query: view(L_QUERY, padded, (b, at) => new Float32Array(b, at, padded)),
      ids: view(L_IDS, RESULT_MAX, (b, at) => new Uint32Array(b, at, RESULT_MAX)),
      distances: view(L_DISTANCES, RESULT_MAX, (b, at) => new Float32Array(b, at, RESULT_MAX)),
      visited: fields.subarray(L_VISITED >> 2, (L_VISITED >> 2) + 1),
    };
    return this.#scratch;
  }

  /**
   * Prepares a memory that was read from a file. Returns undefined, or the reason why its layout does not
   * fit.
   */
  restore(options: IndexOptions, dimension: number): string | undefined {
    const layout = layoutFlags(options, dimension);
    if (!this.formatted || this.field(H_VERSION) !== FORMAT_VERSION) {
      return 'it has another memory format';
    }
    if (this.field(H_LAYOUT) !== layout) return 'it has another layout';
    if (this.field(H_DIMENSION) !== dimension) return 'its dimension is wrong';
    for (const lock of [H_ALLOCATOR, H_SCRATCH_LOCK, H_ZERO_LOCK]) this.header[lock >> 2] = 0;
    this.header[H_HARD >> 2] = hardEdges(options.m);
    this.header[H_BEAM >> 2] = insertionPool(options.efConstruction);
    for (const field of [H_BULK_NEXT, H_BULK_END, H_BULK_DONE]) this.header[field >> 2] = 0;
    this.header[H_MARKING >> 2] = 0;
    if (this.field(H_PHASE) >= PHASE_RESET) {
      this.header[H_PHASE >> 2] = PHASE_RESET;
      this.header[H_CURSOR >> 2] = 0;
    }
    this.#checkLanes();
    this.kernel.freeScratch();
    return undefined;
  }

  /**
   * Removes scratch memories and filters that were allocated while the snapshot was made: they lie beyond its
   * end.
   */
  #checkLanes(): void {
    const end = this.bytes;
    const words = new Uint32Array(this.buffer(end), 0, end >>> 2);
    for (
      let entry = H_SCRATCH_TABLE >> 2;
      entry < (H_SCRATCH_TABLE >> 2) + SCRATCHES_MAX;
      entry++
    ) {
      const scratch = (words[entry]! & ~1) >>> 0;
      if (scratch === 0) continue;
      if (scratch + SCRATCH_HEADER > end) words[entry] = 0;
      else if (words[(scratch + L_ALLOW) >> 2]! + words[(scratch + L_ALLOW_ROOM) >> 2]! * 4 > end) {
        words[(scratch + L_ALLOW_ROOM) >> 2] = 0;
      }
    }
  }

  /** Factor by which the components of vectors are scaled (l2, dot); 0 while all components are zero. */
  get scale(): number {
    return new Float64Array(this.memory.buffer, H_INPUT_SCALE, 1)[0]!;
  }
  set scale(scale: number) {
    new Float64Array(this.memory.buffer, H_INPUT_SCALE, 1)[0] = scale;
  }

  /** Releases the scratch memory for other threads. */
  close(): void {
    if (this.#scratch) this.kernel.closeScratch(this.#scratch.address);
    this.#scratch = undefined;
  }

  /**
   * Writes a vector, each number times `factor`, to where `put` and `beginQuery` read it. Returns the address
   * of the scratch memory.
   */
  load(vector: ArrayLike<number>, factor: number): number {
    const { address, query } = this.scratch;
    const dimension = this.field(H_DIMENSION);
    for (let i = 0; i < dimension; i++) query[i] = vector[i]! * factor;
    for (let i = dimension; i < query.length; i++) query[i] = 0;
    return address;
  }

  /**
   * Copies a filter to the scratch memory; the same list object only once. Fails QUERY_MEMORY if the
   * segment's memory is full.
   */
  filter(allow: AllowList | undefined): void {
    if (allow === undefined) {
      this.kernel.openAllow(this.scratch.address, 0);
      this.#allow = undefined;
      return;
    }
    const words = allow.words.length;
    const at = this.kernel.openAllow(this.scratch.address, words) >>> 0;
    // Address 0 is the header: the segment's memory is full.
    if (at === 0) fail('QUERY_MEMORY', { max: words * 4 });
    if (this.#allow === allow) return;
    new Uint32Array(this.buffer(at + words * 4), at, words).set(allow.words);
    this.#allow = allow;
  }
}
