// The edges that a load or a request adds, in both directions under all labels. What writes them is the
// caller's transaction; until then lists in LMDB lack them.
import type { UndoLog } from '../table/undo-log.js';
import type { Env } from '../table/env.js';
import type { NoEdgesHint } from './no-edges-hint.js';
import { EdgeBuffer } from './edge-buffer.js';

type EdgesByLabel = Map<number, EdgeBuffer>;

export class AdjacencyBuffer {
  readonly #edges: Record<'out' | 'in', EdgesByLabel> = { out: new Map(), in: new Map() };
  /** Of all labels. */
  count = 0;
  /** The oldest edge; 0 while there is none. */
  first = 0;

  /** `room`: for how many edges of a label, at first. */
  constructor(private readonly room = 1024) {}

  add(label: number, edge: number, from: number, to: number): void {
    this.count++;
    if (this.first === 0) this.first = edge;
    edgesOf(this.#edges.out, label, this.room).add(from, edge, to);
    edgesOf(this.#edges.in, label, this.room).add(to, edge, from);
  }

  /** Notes an edge for `hasPair`. */
  notePair(label: number, from: number, to: number): void {
    edgesOf(this.#edges.out, label, this.room).notePair(from, to);
  }

  hasPair(label: number, from: number, to: number): boolean {
    return this.#edges.out.get(label)?.has(from, to) === true;
  }

  /** Adds what another has collected, all of it newer, but for its pairs. */
  addAll(newer: AdjacencyBuffer): void {
    this.count += newer.count;
    if (this.first === 0) this.first = newer.first;
    for (const [direction, label, edges] of newer.#all())
      edgesOf(this.#edges[direction], label, this.room).addAll(edges);
  }

  /** Writes all; `lastId`: the newest element. Notes in `log`, where there is one, what undoes it. */
  write(env: Env, hints: NoEdgesHint, lastId: number, log?: UndoLog): void {
    for (const [direction, label, edges] of this.#all()) {
      edges.write(env[direction], label, hints.bitsFor(direction, label, lastId), { log });
    }
    this.#forget();
  }

  /**
   * Writes all by and by: each step does it for up to `most` elements, in a transaction of its own. Without
   * hints, some of the edges may be in the lists already.
   */
  *steps(
    env: Env,
    most: number,
    hints?: { of: NoEdgesHint; lastId: number },
  ): Generator<() => void> {
    for (const [direction, label, edges] of this.#all()) {
      const table = env[direction];
      for (let isMore = true; isMore; ) {
        yield () => {
          const bits = hints?.of.bitsFor(direction, label, hints.lastId);
          isMore =
            bits === undefined
              ? edges.writeMissing(table, label, most)
              : edges.write(table, label, bits, { most });
        };
      }
    }
    this.#forget();
  }

  *#all(): Generator<[direction: 'out' | 'in', label: number, edges: EdgeBuffer]> {
    for (const direction of ['out', 'in'] as const) {
      for (const [label, edges] of this.#edges[direction]) yield [direction, label, edges];
    }
  }

  #forget(): void {
    for (const all of Object.values(this.#edges)) all.clear();
    this.count = this.first = 0;
  }
}

function edgesOf(all: EdgesByLabel, label: number, room: number): EdgeBuffer {
  let edges = all.get(label);
  if (edges === undefined) all.set(label, (edges = new EdgeBuffer(room)));
  return edges;
}
