// Buffers the edges that a load or a request adds, in both directions, for all labels. The caller's
// transaction writes them; until then the lists in LMDB lack them.
import type { UndoLog } from '../table/undo-log.js';
import type { Env } from '../table/env.js';
import type { NoEdgesHint } from './no-edges-hint.js';
import { EdgeBuffer } from './edge-buffer.js';

type EdgesByLabel = Map<number, EdgeBuffer>;

export class AdjacencyBuffer {
  readonly #edges: Record<'out' | 'in', EdgesByLabel> = { out: new Map(), in: new Map() };
  /** Number of edges over all labels. */
  count = 0;
  /** Id of the oldest edge; 0 while the buffer is empty. */
  first = 0;

  /** `room`: initial capacity, in edges of a label. */
  constructor(private readonly room = 1024) {}

  add(label: number, edge: number, from: number, to: number): void {
    this.count++;
    if (this.first === 0) this.first = edge;
    bufferOf(this.#edges.out, label, this.room).add(from, edge, to);
    bufferOf(this.#edges.in, label, this.room).add(to, edge, from);
  }

  /** Records a pair for `hasPair`. */
  notePair(label: number, from: number, to: number): void {
    bufferOf(this.#edges.out, label, this.room).notePair(from, to);
  }

  hasPair(label: number, from: number, to: number): boolean {
    return this.#edges.out.get(label)?.has(from, to) === true;
  }

  /** Adds all edges of another buffer, which are newer, without their pairs. */
  addAll(newer: AdjacencyBuffer): void {
    this.count += newer.count;
    if (this.first === 0) this.first = newer.first;
    for (const [direction, label, edges] of newer.#all())
      bufferOf(this.#edges[direction], label, this.room).addAll(edges);
  }

  /** Writes all edges. `lastId`: id of the newest element. Records the undo steps in `log`, if given. */
  write(env: Env, hints: NoEdgesHint, lastId: number, log?: UndoLog): void {
    for (const [direction, label, edges] of this.#all()) {
      edges.write(env[direction], label, hints.bitsFor(direction, label, lastId), { log });
    }
    this.#forget();
  }

  /**
   * Yields steps that together write all edges. Each step writes up to `max` elements and runs in a separate
   * transaction. Without `hints`, some of the edges may already be in the lists.
   */
  *steps(
    env: Env,
    max: number,
    hints?: { of: NoEdgesHint; lastId: number },
  ): Generator<() => void> {
    for (const [direction, label, edges] of this.#all()) {
      const table = env[direction];
      for (let isMore = true; isMore; ) {
        yield () => {
          const bits = hints?.of.bitsFor(direction, label, hints.lastId);
          isMore =
            bits === undefined
              ? edges.writeMissing(table, label, max)
              : edges.write(table, label, bits, { max });
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

function bufferOf(all: EdgesByLabel, label: number, room: number): EdgeBuffer {
  let edges = all.get(label);
  if (edges === undefined) all.set(label, (edges = new EdgeBuffer(room)));
  return edges;
}
