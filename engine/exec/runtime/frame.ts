// Defines the state of one execution of a built plan: its slots, its arguments, what it may use, and what it
// has used.
// Invariant: every loop of the executor and every traversal of a value calls `tick`. Every materialized row
// calls `reserveMemory`, every printed item `countItem`, and every printed member `countMember`. So no plan
// exceeds its limits. Members matter: if each of forty nested records contains the same value in two members,
// the value prints 2^40 times.
import { DefectError } from '../../base/assert.js';
import type { ByteWriter } from '../../base/bytes.js';
import { fail } from '../../base/errors.js';
import type {
  Direction,
  EdgeCacheView,
  RecordCacheView,
  Label,
  WriteView,
} from '../../storage/table/view-types.js';
import { ByteArena } from './byte-arena.js';
import type { Argument, ExecutionContext } from './execute.js';
import type { Value } from './value.js';

/** Steps between two checks for cancellation. */
const pollInterval = 1024;

/** Printed bytes that count as one step, so that at most a megabyte is copied between two checks. */
const bytesPerStep = 1024;

/** Maximum length of a key. The maximum of a string is slightly larger. */
const keyLengthMax = 2 ** 28;

/** Approximate bytes of a materialized row without its record. */
export const rowBytes = 64;

/** Number of records read after which the cache is used. */
const fewReads = 2;

/** Number of edge lists read after which the cache is used. */
const fewLists = 4;

/** Thrown when a bounded attempt exceeds its budget. It never leaves `tryWithin`. */
const budgetExceeded = new DefectError('an attempt took too much');

const records = new ByteArena();

/** A resolved endpoint of a new edge. */
interface ResolvedEnd {
  value: Value;
  edge: Label;
  id: number;
}

export class Frame {
  readonly slots: Value[];
  readonly args: readonly Argument[];
  readonly context: ExecutionContext;
  readonly view: ExecutionContext['view'];
  #recordCache: RecordCacheView | undefined;
  /** Ids that pass a filter, while searches with the same filter are fused. */
  allowed: Map<number, Uint32Array> | undefined;
  /** True after elements were deleted: earlier ids may have no element. */
  hasDropped = false;
  /** Endpoints of the last created edge. */
  lastEnds: { from?: ResolvedEnd; to?: ResolvedEnd } | undefined;
  /** Values that bindings have computed for their items, by key. */
  #images: WeakMap<object, Map<number, Value>> | undefined;
  #reads = 0;
  #edgeCache: EdgeCacheView | undefined;
  #lists = 0;
  #left: number;
  #interval: number;
  #visited = 0;
  /** Number of visits at the last check for cancellation. */
  #polled = 0;
  #allowance = Number.POSITIVE_INFINITY;
  #memory = 0;
  #items = 0;
  /** Length of the reply at the last check. */
  #printed = 0;
  #writes = 0;
  #drops = 0;

  constructor(slotCount: number, args: readonly Argument[], context: ExecutionContext) {
    this.slots = new Array<Value>(slotCount).fill(null);
    this.args = args;
    this.context = context;
    this.view = context.view;
    this.#left = this.#interval = this.#nextInterval();
  }

  /**
   * Returns the record of an element, which must not be changed. Returns undefined when there is no such
   * element. After the first few records, they come from the view's cache.
   */
  readRecord(id: number): Uint8Array | undefined {
    if (this.#recordCache !== undefined) return this.expected(this.#recordCache.get(id), id);
    if (++this.#reads === fewReads) this.#recordCache = this.view.committed?.recordCache();
    const shared = this.expected(this.view.recordShared(id), id);
    return shared && records.copy(shared);
  }

  /**
   * Fails DATA_CORRUPT unless `found` is defined: an id that this view returned must have an element.
   * Exceptions are items of a session, which come from an earlier view, and elements that this request has
   * deleted.
   */
  expected<T>(found: T | undefined, id: number): T | undefined {
    if (found === undefined && !this.hasDropped && this.context.items === undefined) {
      fail('DATA_CORRUPT', { what: `element ${id} is missing` });
    }
    return found;
  }

  /** Returns the record cache of the view, for code that reads many records. Undefined while writing. */
  records(): RecordCacheView | undefined {
    return (this.#recordCache ??= this.view.committed?.recordCache());
  }

  /** Like `readRecord`, but the bytes are valid only until the next read. */
  peekRecord(id: number): Uint8Array | undefined {
    if (this.#recordCache !== undefined) return this.expected(this.#recordCache.get(id), id);
    if (++this.#reads === fewReads) this.#recordCache = this.view.committed?.recordCache();
    return this.expected(this.view.recordShared(id), id);
  }

  /**
   * Returns the cache of edge lists, for code that reads many lists. Undefined at first and while writing.
   */
  edges(): EdgeCacheView | undefined {
    if (this.#edgeCache === undefined && ++this.#lists === fewLists) {
      this.#edgeCache = this.view.committed?.edgeCache();
    }
    return this.#edgeCache;
  }

  /** Whether these slots still have the values `held`, so that a result computed from the slots is valid. */
  slotsEqual(slots: readonly number[], held: readonly Value[]): boolean {
    for (let i = 0; i < slots.length; i++) if (this.slots[slots[i]!] !== held[i]) return false;
    return true;
  }

  /** Returns [edge, far, …] of an element, oldest first. The array must not be changed. */
  adjacency(id: number, label: number, direction: Direction): Uint32Array {
    const cache = this.edges();
    return cache === undefined
      ? this.view.adjacency(id, label, direction)
      : cache.of(label, direction).get(id);
  }

  degree(id: number, label: number, direction: Direction): number {
    const lists = this.#edgeCache?.of(label, direction);
    const known = lists?.known(id) ?? 0;
    return known === 0 ? this.view.degree(id, label, direction) : lists!.words[known]! >> 1;
  }

  /** Remembers what was computed for an item of a binding. */
  retain(item: object, key: number, value: Value): void {
    this.#images ??= new WeakMap();
    let images = this.#images.get(item);
    if (images === undefined) this.#images.set(item, (images = new Map()));
    images.set(key, value);
    this.reserveMemory(rowBytes);
    this.tick(1);
  }

  /** Returns what was computed for an item, or undefined when nothing was. */
  retainedValue(item: object, key: number): Value | undefined {
    return this.#images?.get(item)?.get(key);
  }

  /** Gives a copy of an item the computed values of the original. */
  copyRetained(item: object, copy: object): void {
    const images = this.#images?.get(item);
    if (images !== undefined) this.#images!.set(copy, images);
  }

  /** Number of items printed so far. */
  get rows(): number {
    return this.#items;
  }

  /** Number of elements visited so far, including other steps of loops. */
  get visits(): number {
    return this.#visited + this.#interval - this.#left;
  }

  /** The view as a write transaction, for plans that write. */
  get write(): WriteView {
    return this.view as WriteView;
  }

  /** Counts visited elements or other steps of a loop. */
  tick(count: number): void {
    this.#left -= count;
    if (this.#left <= 0) this.#poll();
  }

  /**
   * Returns the result of `run`, or undefined when it takes more than this many visits; a partial result is
   * dropped. Rows that the caller reads lazily after the return are not bounded.
   */
  tryWithin<T>(visits: number, run: () => T): T | undefined {
    const before = this.#allowance;
    const max = this.visits + visits;
    // If an outer attempt has a smaller budget, it ends both attempts.
    if (max >= before) return run();
    const memory = this.#memory;
    this.#allow(max);
    try {
      return run();
    } catch (error) {
      if (error !== budgetExceeded) throw error;
      this.#memory = memory;
      return undefined;
    } finally {
      this.#allow(before);
    }
  }

  /**
   * Ends the attempt if reading the edges of an element would exceed its budget, before any of them is read.
   */
  checkAllowance(id: number, edgeLabel: number, direction: Direction): void {
    if (this.#allowance === Number.POSITIVE_INFINITY) return;
    if (this.visits + this.degree(id, edgeLabel, direction) > this.#allowance) throw budgetExceeded;
  }

  #allow(max: number): void {
    this.#visited = this.visits;
    this.#allowance = max;
    this.#left = this.#interval = this.#nextInterval();
  }

  #nextInterval(): number {
    const max = this.context.limits.query_visits;
    const left = Math.min(max === 0 ? this.#allowance : max, this.#allowance) - this.#visited;
    const unseen = this.#visited - this.#polled;
    return Math.max(1, Math.min(pollInterval - unseen, left + 1));
  }

  #poll(): void {
    const { limits, cancelled, budgetMs } = this.context;
    this.#visited += this.#interval - this.#left;
    if (limits.query_visits > 0 && this.#visited > limits.query_visits)
      fail('QUERY_WORK', { max: limits.query_visits });
    if (cancelled()) fail('QUERY_TIMEOUT', { ms: budgetMs });
    this.#polled = this.#visited;
    this.#left = this.#interval = this.#nextInterval();
    if (this.#visited > this.#allowance) throw budgetExceeded;
  }

  /** Counts bytes of materialized rows. */
  reserveMemory(bytes: number): void {
    this.#memory += bytes;
    const max = this.context.limits.query_memory;
    if (this.#memory > max) fail('QUERY_MEMORY', { max });
  }

  /** Counts one printed item and checks the size of the reply. */
  countItem(out: ByteWriter): void {
    const { limits } = this.context;
    if (++this.#items > limits.result_items)
      fail('RESULT_TOO_LARGE', { max: limits.result_items, unit: 'items' });
    this.countMember(out);
  }

  /** Checks the size of the reply and counts the bytes printed since the last check. */
  countMember(out: ByteWriter): void {
    const { length } = out;
    const max = this.context.limits.result_bytes;
    if (length > max) fail('RESULT_TOO_LARGE', { max, unit: 'bytes' });
    this.tick(1 + Math.max(0, Math.trunc((length - this.#printed) / bytesPerStep)));
    this.#printed = length;
  }

  /** Counts the creation of a key of several values. */
  countKey(values: number, length: number): void {
    const max = this.context.limits.query_memory;
    if (2 * length > max || length > keyLengthMax) fail('QUERY_MEMORY', { max });
    this.tick(values + Math.trunc(length / bytesPerStep));
  }

  /** Number of elements created, changed and deleted so far. */
  get writes(): number {
    return this.#writes;
  }

  /** Counts created, changed and deleted elements. */
  countWrites(count: number): void {
    this.expectWrites(count);
    this.#writes += count;
    this.tick(count);
  }

  /** Counts deleted edges, including the edges of deleted nodes. */
  countDrops(edges: number): void {
    this.expectDrops(edges);
    this.#drops += edges;
  }

  /** Fails before the start of a deletion that would block the writer for too long. */
  expectDrops(edges: number): void {
    const max = this.context.limits.drop_edges;
    if (this.#drops + edges > max) fail('DROP_TOO_LARGE', { max });
  }

  /** Fails before the start of writes that would exceed the limit. */
  expectWrites(count: number): void {
    const max = this.context.limits.txn_writes;
    if (this.#writes + count > max) fail('TXN_TOO_LARGE', { max, unit: 'writes' });
  }
}
