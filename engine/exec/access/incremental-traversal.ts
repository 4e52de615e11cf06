// Runs a traversal backwards from known elements in bounded steps.
//
// Invariant: no step exceeds its visits by more than one. Nothing is read twice. The number of an element's
// edges is known before any of them is read.
import { IdSet } from '../../base/id-set.js';
import type { Direction } from '../../plan/expression.js';
import type { Frame } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { startIds, bothDirections, readCost, type ReverseTraversal } from './reverse-traversal.js';

interface Hop {
  expansions: readonly { label: number; direction: Direction }[];
  /** Index, in a pair of edge and far end, of the id to collect. */
  at: 0 | 1;
}

export interface Traversal {
  /**
   * Continues for at most this many visits. Returns the complete result when the traversal has ended,
   * otherwise undefined.
   */
  step(frame: Frame, visits: number): IdSet | undefined;
  /** Number of visits that the next step needs to make progress. */
  readonly needs: number;
}

/** Returns a function that starts the traversal again for each execution. */
export function incremental(traversal: ReverseTraversal): () => Traversal {
  const begin = startIds(traversal.known);
  const hops = traversal.back.map(({ labels, direction, take }): Hop => {
    const directions = direction === 'both' ? bothDirections : [direction];
    const expansions = directions.flatMap((each) =>
      labels.map((label) => ({ label, direction: each })),
    );
    return { expansions, at: take === 'edge' ? 0 : 1 };
  });
  return () => new IncrementalTraversal(begin, hops, traversal.reads);
}

class IncrementalTraversal implements Traversal {
  #from: Uint32Array | undefined;
  #hop = 0;
  #element = 0;
  #traversal = 0;
  #met = new IdSet();
  #found = new IdBuffer();
  needs = 1;

  constructor(
    private readonly begin: (frame: Frame) => Uint32Array,
    private readonly hops: readonly Hop[],
    private readonly reads: ReverseTraversal['reads'],
  ) {}

  step(frame: Frame, visits: number): IdSet | undefined {
    const end = frame.visits + visits;
    if (this.#from === undefined && !this.#isBegun(frame, visits)) return undefined;
    for (; this.#hop < this.hops.length; this.#hop++) {
      if (!this.#isMade(frame, this.hops[this.#hop]!, end)) return undefined;
      this.#from = this.#found.take();
      frame.reserveMemory(4 * this.#from.length);
      this.#element = 0;
      if (this.#hop < this.hops.length - 1) this.#met = new IdSet();
    }
    return this.#met;
  }

  /**
   * Finds the start elements. Returns false when the visits do not suffice; then it starts again with more.
   */
  #isBegun(frame: Frame, visits: number): boolean {
    const reading = this.reads === undefined ? 0 : readCost(frame, this.reads);
    this.needs = Math.max(reading, 2 * visits);
    if (reading > visits) return false;
    const from = frame.tryWithin(visits, () => this.begin(frame));
    if (from === undefined) return false;
    this.#from = from;
    if (this.hops.length === 0) for (const id of from) this.#met.add(id);
    return true;
  }

  /** Returns true when all elements of the current hop are done. */
  #isMade(frame: Frame, { expansions, at }: Hop, end: number): boolean {
    const from = this.#from!;
    for (; this.#element < from.length; this.#element++) {
      const id = from[this.#element]!;
      for (; this.#traversal < expansions.length; this.#traversal++) {
        const { label, direction } = expansions[this.#traversal]!;
        this.needs = 1 + frame.degree(id, label, direction);
        if (frame.visits + this.needs > end) return false;
        const pairs = frame.adjacency(id, label, direction);
        frame.tick(1 + (pairs.length >>> 1));
        for (let i = at; i < pairs.length; i += 2)
          if (this.#met.add(pairs[i]!)) this.#found.push(pairs[i]!);
      }
      this.#traversal = 0;
    }
    return true;
  }
}
