// Buffers the edges that a load or a request adds, for one direction and one label, in order of arrival. They
// are grouped by element when they are written. Sorting (radix-sort.ts) takes 0.1 us per edge; lists or maps
// by element take 2 us.
import { assert } from '../../base/assert.js';
import { doubled } from '../../base/u32-array.js';
import type { AdjacencyKey } from '../table/keys.js';
import { appendEdges, insertEdges, readAdjacencyAfter } from './adjacency.js';
import type { UndoLog } from '../table/undo-log.js';
import type { HintBits } from './no-edges-hint.js';
import type { Table } from '../table/env.js';
import { orderOf } from '../table/radix-sort.js';

export class EdgeBuffer {
  #ids: Uint32Array;
  /** [edge, far] in order of arrival, so edges ascend. */
  #pairs: Uint32Array;
  #count = 0;
  /** Positions by ascending element, once writing has begun, and the number of those written. */
  #order: Uint32Array | undefined;
  #written = 0;
  /** Far ends by element, for pairs that must be unique. */
  readonly #fars = new Map<number, Set<number>>();

  /** `room`: initial capacity, in edges. */
  constructor(room = 1024) {
    this.#ids = new Uint32Array(room);
    this.#pairs = new Uint32Array(2 * room);
  }

  add(id: number, edge: number, far: number): void {
    assert(this.#order === undefined, 'what is being written is whole');
    const at = this.#count++;
    if (at === this.#ids.length) this.#grow();
    this.#ids[at] = id;
    this.#pairs[2 * at] = edge;
    this.#pairs[2 * at + 1] = far;
  }

  /** Records a pair for `has`. */
  notePair(id: number, far: number): void {
    const fars = this.#fars.get(id);
    if (fars) fars.add(far);
    else this.#fars.set(id, new Set([far]));
  }

  has(id: number, far: number): boolean {
    return this.#fars.get(id)?.has(far) === true;
  }

  /** Adds all edges of another buffer, which are newer, without their pairs. */
  addAll(newer: EdgeBuffer): void {
    assert(this.#order === undefined, 'what is being written is whole');
    const count = this.#count + newer.#count;
    while (count > this.#ids.length) this.#grow();
    this.#ids.set(newer.#ids.subarray(0, newer.#count), this.#count);
    this.#pairs.set(newer.#pairs.subarray(0, 2 * newer.#count), 2 * this.#count);
    this.#count = count;
  }

  #grow(): void {
    this.#ids = doubled(this.#ids);
    this.#pairs = doubled(this.#pairs);
  }

  /**
   * Appends the edges of the next `max` elements to their lists, one write per element, by ascending element.
   * Returns false, and clears the buffer, when no edge is left. Records the undo steps in `log`, if given.
   */
  write(
    table: Table<AdjacencyKey>,
    label: number,
    hints: HintBits,
    { max = Number.POSITIVE_INFINITY, log }: { max?: number; log?: UndoLog | undefined } = {},
  ): boolean {
    const key = { id: 0, label };
    return this.#take(max, (id, pairs, size) => {
      key.id = id;
      if (hints.take(id) && insertEdges(table, key, pairs, size, log)) return;
      appendEdges(table, key, pairs, size, log);
    });
  }

  /** Like `write`, for elements whose list may already contain their oldest edges. */
  writeMissing(table: Table<AdjacencyKey>, label: number, max: number): boolean {
    const key = { id: 0, label };
    return this.#take(max, (id, pairs, size) => {
      key.id = id;
      const there = readAdjacencyAfter(table, key, pairs[0]! - 1, size / 2).length;
      if (there < size) appendEdges(table, key, pairs.subarray(there), size - there);
    });
  }

  /**
   * Calls `give` for each of the next `max` elements. The first `size` words of `pairs` are the element's
   * and are valid until the next call. Returns false when no element is left.
   */
  #take(max: number, give: (id: number, pairs: Uint32Array, size: number) => void): boolean {
    const order = (this.#order ??= orderOf(this.#ids, this.#count));
    const of: Uint32Array = this.#ids;
    const pairs = this.#pairs;
    let own = new Uint32Array(16);
    let at = this.#written;
    for (let elements = 0; at < order.length && elements < max; elements++) {
      const id = of[order[at]!]!;
      let size = 0;
      for (; at < order.length && of[order[at]!] === id; at++) {
        if (size === own.length) own = doubled(own);
        const pair = 2 * order[at]!;
        own[size++] = pairs[pair]!;
        own[size++] = pairs[pair + 1]!;
      }
      give(id, own, size);
    }
    this.#written = at;
    if (at < order.length) return true;
    this.#count = this.#written = 0;
    this.#order = undefined;
    return false;
  }
}
