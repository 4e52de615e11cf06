// One execution of a built plan: its slots, its arguments, what it may touch, and what it has used
// up so far. Invariant: every loop of the executor and every walk of a value passes through `tick`, every
// materialised row through `charge`, every printed item through `countItem` and every printed member
// through `countMember`, so that no plan outruns its limits: what a value holds twice, in two members
// of each of forty records, is printed 2^40 times.
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

/** Steps between two looks at the cancel word. */
const pollInterval = 1024;

/** Printed bytes that count as one step: a megabyte is copied between two looks, at most. */
const bytesPerStep = 1024;

/** The longest key there may be; a string holds a little more. */
const keyLengthMax = 2 ** 28;

/** Rough bytes of a materialised row without its record. */
export const rowBytes = 64;

/** From so many records on, asking for the cache is worth its cost. */
const fewReads = 2;

/** Likewise of lists of edges. */
const fewLists = 4;

/** An attempt has cost what it may: never seen outside of `attempt`. */
const budgetExceeded = new DefectError('an attempt took too much');

const records = new ByteArena();

/** What an end of a new edge has led to. */
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
  #kept: RecordCacheView | undefined;
  /** Ids that filters let through, while searches with the same one are fused. */
  allowed: Map<number, Uint32Array> | undefined;
  /** Elements were dropped: ids of before may lead nowhere. */
  hasDropped = false;
  /** The ends of the last edge that was made. */
  lastEnds: { from?: ResolvedEnd; to?: ResolvedEnd } | undefined;
  /** What bindings have computed for their items, by key. */
  readonly #images = new WeakMap<object, Map<number, Value>>();
  #reads = 0;
  #edgeCache: EdgeCacheView | undefined;
  #lists = 0;
  #left: number;
  #interval: number;
  #visited = 0;
  /** How many had been visited when it was last asked whether to go on. */
  #polled = 0;
  #allowance = Number.POSITIVE_INFINITY;
  #memory = 0;
  #items = 0;
  /** Length of the reply when it was last looked at. */
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
   * The record of an element, not to be written to; undefined when there is no such element. From
   * the first few on, they come out of the view's cache.
   */
  readRecord(id: number): Uint8Array | undefined {
    if (this.#kept !== undefined) return this.expected(this.#kept.get(id), id);
    if (++this.#reads === fewReads) this.#kept = this.view.recordCache?.();
    const shared = this.expected(this.view.recordShared(id), id);
    return shared && records.copy(shared);
  }

  /**
   * What this state of the data has led to must be there: only items of a session, which an earlier
   * state named, and what this very request has dropped may be gone.
   */
  expected<T>(found: T | undefined, id: number): T | undefined {
    if (found === undefined && !this.hasDropped && this.context.items === undefined) {
      fail('DATA_CORRUPT', { what: `element ${id} is missing` });
    }
    return found;
  }

  /** The cache of the view, for whoever is going to read many records; undefined while writing. */
  records(): RecordCacheView | undefined {
    return (this.#kept ??= this.view.recordCache?.());
  }

  /** As `readRecord`, for a look: the bytes are only valid until the next read. */
  peekRecord(id: number): Uint8Array | undefined {
    if (this.#kept !== undefined) return this.expected(this.#kept.get(id), id);
    if (++this.#reads === fewReads) this.#kept = this.view.recordCache?.();
    return this.expected(this.view.recordShared(id), id);
  }

  /** Lists of edges of before, for whoever is going to walk many; undefined at first and while writing. */
  edges(): EdgeCacheView | undefined {
    if (this.#edgeCache === undefined && ++this.#lists === fewLists) {
      this.#edgeCache = this.view.edgeCache?.();
    }
    return this.#edgeCache;
  }

  /** [edge, far, …] of an element, oldest first; not to be written to. */
  adjacency(id: number, label: number, direction: Direction): Uint32Array {
    const kept = this.edges();
    return kept === undefined
      ? this.view.adjacency(id, label, direction)
      : kept.of(label, direction).get(id);
  }

  degree(id: number, label: number, direction: Direction): number {
    const lists = this.#edgeCache?.of(label, direction);
    const known = lists?.known(id) ?? 0;
    return known === 0 ? this.view.degree(id, label, direction) : lists!.words[known]! >> 1;
  }

  /** Remembers what was computed for an item of a binding. */
  retain(item: object, key: number, value: Value): void {
    let images = this.#images.get(item);
    if (images === undefined) this.#images.set(item, (images = new Map()));
    images.set(key, value);
    this.reserveMemory(rowBytes);
    this.tick(1);
  }

  /** What was computed for an item; undefined when nothing was. */
  retainedValue(item: object, key: number): Value | undefined {
    return this.#images.get(item)?.get(key);
  }

  /** Lets a copy of an item show what was computed for it. */
  copyRetained(item: object, copy: object): void {
    const images = this.#images.get(item);
    if (images !== undefined) this.#images.set(copy, images);
  }

  /** Items printed so far. */
  get rows(): number {
    return this.#items;
  }

  /** Elements visited so far, and other steps of loops. */
  get visits(): number {
    return this.#visited + this.#interval - this.#left;
  }

  /** The view as the write transaction it is in plans that write. */
  get write(): WriteView {
    return this.view as WriteView;
  }

  /** Counts visited elements or other steps of a loop. */
  tick(count: number): void {
    this.#left -= count;
    if (this.#left <= 0) this.#poll();
  }

  /**
   * What `run` gives, unless it takes more than so many visits: then undefined, and what it was building is
   * forgotten. Whoever goes on lazily behind it is not bounded.
   */
  tryWithin<T>(visits: number, run: () => T): T | undefined {
    const before = this.#allowance;
    const most = this.visits + visits;
    // Within another attempt that ends sooner, that one ends both.
    if (most >= before) return run();
    const memory = this.#memory;
    this.#allow(most);
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

  /** Ends an attempt that the edges of an element would end, before any of them is read. */
  checkAllowance(id: number, edgeLabel: number, direction: Direction): void {
    if (this.#allowance === Number.POSITIVE_INFINITY) return;
    if (this.visits + this.degree(id, edgeLabel, direction) > this.#allowance) throw budgetExceeded;
  }

  #allow(most: number): void {
    this.#visited = this.visits;
    this.#allowance = most;
    this.#left = this.#interval = this.#nextInterval();
  }

  #nextInterval(): number {
    const most = this.context.limits.query_visits;
    const left = Math.min(most === 0 ? this.#allowance : most, this.#allowance) - this.#visited;
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

  /** Counts bytes kept by materialised rows. */
  reserveMemory(bytes: number): void {
    this.#memory += bytes;
    const most = this.context.limits.query_memory;
    if (this.#memory > most) fail('QUERY_MEMORY', { max: most });
  }

  /** Counts one printed item and looks at the size of the reply so far. */
  countItem(out: ByteWriter): void {
    const { limits } = this.context;
    if (++this.#items > limits.result_items)
      fail('RESULT_TOO_LARGE', { max: limits.result_items, unit: 'items' });
    this.countMember(out);
  }

  /** Looks at the size of the reply so far and counts what was printed since. */
  countMember(out: ByteWriter): void {
    const { length } = out;
    const most = this.context.limits.result_bytes;
    if (length > most) fail('RESULT_TOO_LARGE', { max: most, unit: 'bytes' });
    this.tick(1 + Math.max(0, Math.trunc((length - this.#printed) / bytesPerStep)));
    this.#printed = length;
  }

  /** Counts the making of a key of several values. */
  countKey(values: number, length: number): void {
    const most = this.context.limits.query_memory;
    if (2 * length > most || length > keyLengthMax) fail('QUERY_MEMORY', { max: most });
    this.tick(values + Math.trunc(length / bytesPerStep));
  }

  /** Elements created, changed and deleted so far. */
  get writes(): number {
    return this.#writes;
  }

  /** Counts created, changed and deleted elements. */
  countWrites(count: number): void {
    this.expectWrites(count);
    this.#writes += count;
    this.tick(count);
  }

  /** Counts edges that are deleted, those of nodes that go included. */
  countDrops(edges: number): void {
    this.expectDrops(edges);
    this.#drops += edges;
  }

  /** Refuses deletions that hold the writer for too long before they are begun. */
  expectDrops(edges: number): void {
    const most = this.context.limits.drop_edges;
    if (this.#drops + edges > most) fail('DROP_TOO_LARGE', { max: most });
  }

  /** Refuses what is going to be too much before it is begun. */
  expectWrites(count: number): void {
    const most = this.context.limits.txn_writes;
    if (this.#writes + count > most) fail('TXN_TOO_LARGE', { max: most, unit: 'writes' });
  }
}
