// The edges that a load or a request adds, in one direction under one label: collected as they come,
// grouped by element when they are written. Sorting (id-order.ts) beats chains or maps by element:
// 0.1 us an edge against 2.
import { doubled } from '../../base/words.js';
import type { AdjacencyKey } from '../table/keys.js';
import { appendEdges, insertEdges } from './adjacency.js';
import type { ChangeLog } from '../table/change-log.js';
import type { HintBits } from './edge-hints.js';
import type { Table } from '../table/env.js';
import { orderOf } from '../table/id-order.js';

export class NewEdges {
  #ids: Uint32Array;
  /** [edge, far] in the order of coming: edges ascend. */
  #pairs: Uint32Array;
  #count = 0;
  /** Far ends by element, where somebody asks for pairs. */
  readonly #fars = new Map<number, Set<number>>();

  /** `room`: for how many edges, at first. */
  constructor(room = 1024) {
    this.#ids = new Uint32Array(room);
    this.#pairs = new Uint32Array(2 * room);
  }

  add(id: number, edge: number, far: number): void {
    const at = this.#count++;
    if (at === this.#ids.length) this.#grow();
    this.#ids[at] = id;
    this.#pairs[2 * at] = edge;
    this.#pairs[2 * at + 1] = far;
  }

  /** Notes a pair for `has`. */
  notePair(id: number, far: number): void {
    const fars = this.#fars.get(id);
    if (fars) fars.add(far);
    else this.#fars.set(id, new Set([far]));
  }

  has(id: number, far: number): boolean {
    return this.#fars.get(id)?.has(far) === true;
  }

  #grow(): void {
    this.#ids = doubled(this.#ids);
    this.#pairs = doubled(this.#pairs);
  }

  /**
   * Writes all of them behind what the elements have, those of an element at once, by ascending element;
   * they are collected no longer. Notes in `log`, where there is one, what undoes it.
   */
  write(table: Table<AdjacencyKey>, label: number, hints: HintBits, log?: ChangeLog): void {
    const key = { id: 0, label };
    this.#take((id, pairs, size) => {
      key.id = id;
      if (hints.take(id) && insertEdges(table, key, pairs, size, log)) return;
      appendEdges(table, key, pairs, size, log);
    });
  }

  /** Gives out all of them: the first `size` words of `pairs` are the element's, until the next call. */
  #take(give: (id: number, pairs: Uint32Array, size: number) => void): void {
    const order = orderOf(this.#ids, this.#count);
    const of: Uint32Array = this.#ids;
    const pairs = this.#pairs;
    let own = new Uint32Array(16);
    this.#count = 0;
    for (let at = 0; at < order.length; ) {
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
  }
}
