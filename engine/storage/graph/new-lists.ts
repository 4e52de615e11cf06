// The edges that a load adds, in both directions under all labels. What writes them is the caller's
// transaction; until then lists in LMDB lack them.
import type { Env } from '../table/env.js';
import type { EdgeHints } from './edge-hints.js';
import { NewEdges } from './new-edges.js';

type EdgesByLabel = Map<number, NewEdges>;

export class NewLists {
  readonly #edges: Record<'out' | 'in', EdgesByLabel> = { out: new Map(), in: new Map() };
  /** Of all labels. */
  count = 0;
  /** The oldest edge; 0 while there is none. */
  first = 0;

  add(label: number, edge: number, from: number, to: number): void {
    this.count++;
    if (this.first === 0) this.first = edge;
    edgesOf(this.#edges.out, label).add(from, edge, to);
    edgesOf(this.#edges.in, label).add(to, edge, from);
  }

  /** Notes an edge for `hasPair`. */
  notePair(label: number, from: number, to: number): void {
    edgesOf(this.#edges.out, label).notePair(from, to);
  }

  hasPair(label: number, from: number, to: number): boolean {
    return this.#edges.out.get(label)?.has(from, to) === true;
  }

  /** Adds what another has collected, all of it newer, but for its pairs. */
  addAll(newer: NewLists): void {
    this.count += newer.count;
    if (this.first === 0) this.first = newer.first;
    for (const direction of ['out', 'in'] as const) {
      for (const [label, edges] of newer.#edges[direction]) {
        edgesOf(this.#edges[direction], label).addAll(edges);
      }
    }
  }

  /** Writes all; `lastId`: the newest element. */
  write(env: Env, hints: EdgeHints, lastId: number): void {
    for (const direction of ['out', 'in'] as const) {
      for (const [label, edges] of this.#edges[direction]) {
        edges.write(env[direction], label, hints.bitsFor(direction, label, lastId));
      }
    }
    this.#forget();
  }

  /**
   * Writes all by and by: each step does it for up to `most` elements, in a transaction of its own. Without
   * hints, some of the edges may be in the lists already.
   */
  *steps(env: Env, most: number, hints?: { of: EdgeHints; lastId: number }): Generator<() => void> {
    for (const direction of ['out', 'in'] as const) {
      for (const [label, edges] of this.#edges[direction]) {
        for (let isMore = true; isMore; ) {
          yield () => {
            const bits = hints?.of.bitsFor(direction, label, hints.lastId);
            isMore = edges.writeSome(env[direction], { label, most }, bits);
          };
        }
      }
    }
    this.#forget();
  }

  #forget(): void {
    for (const all of Object.values(this.#edges)) all.clear();
    this.count = this.first = 0;
  }
}

function edgesOf(all: EdgesByLabel, label: number): NewEdges {
  let edges = all.get(label);
  if (edges === undefined) all.set(label, (edges = new NewEdges()));
  return edges;
}
