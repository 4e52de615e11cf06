// The edges that a load adds in one transaction, in one direction under one label: collected as they
// come, grouped by element when they are written. Sorting (id-order.ts) beats chains or maps by element:
// 0.1 us an edge against 2.
import { doubled } from '../../base/words.js';
import type { AdjacencyKey } from '../table/keys.js';
import { appendEdges, insertEdges } from './adjacency.js';
import type { HintBits } from './edge-hints.js';
import type { Table } from '../table/env.js';
import { orderOf } from '../table/id-order.js';

export class NewEdges {
  #ids = new Uint32Array(1024);
  /** [edge, far] in the order of coming: edges ascend. */
  #pairs = new Uint32Array(2048);
  #count = 0;
  /** Far ends by element, where somebody asks for pairs. */
  readonly #fars = new Map<number, Set<number>>();

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

  /** Writes all of them behind what the elements have, by ascending element. */
  write(table: Table<AdjacencyKey>, label: number, hints: HintBits): void {
    const order = orderOf(this.#ids, this.#count);
    const of: Uint32Array = this.#ids;
    const pairs = this.#pairs;
    let own = new Uint32Array(1024);
    const key = { id: 0, label };
    for (let at = 0; at < order.length; ) {
      const id = of[order[at]!]!;
      let size = 0;
      for (; at < order.length && of[order[at]!] === id; at++) {
        if (size === own.length) own = doubled(own);
        const pair = 2 * order[at]!;
        own[size++] = pairs[pair]!;
        own[size++] = pairs[pair + 1]!;
      }
      key.id = id;
      if (!hints.take(id) || !insertEdges(table, key, own, size)) {
        appendEdges(table, key, own, size);
      }
    }
  }
}
