// The walk back from known elements, made a little further whenever there is time for it.
//
// Invariant: no piece takes more visits than it is given, but for one; what was read is not read again, and
// what an element's edges would take is known before any of them is read.
import { IdSet } from '../../base/id-set.js';
import type { Direction } from '../../plan/expression.js';
import type { Frame } from '../runtime/frame.js';
import { IdBuffer } from '../runtime/id-buffer.js';
import { startIds, bothWays, readCost, type ReverseTraversal } from './reverse-traversal.js';

interface Hop {
  ways: readonly { label: number; direction: Direction }[];
  /** Where in a pair of edge and far end it is what is met. */
  at: 0 | 1;
}

export interface Walk {
  /** Goes on for so many visits: what it leads to, if that is all of it. */
  step(frame: Frame, visits: number): IdSet | undefined;
  /** So many visits bring it further. */
  readonly needs: number;
}

/** A walk that goes a way back, for every execution anew. */
export function incremental(way: ReverseTraversal): () => Walk {
  const begin = startIds(way.known);
  const hops = way.back.map(({ labels, direction, take }): Hop => {
    const directions = direction === 'both' ? bothWays : [direction];
    const ways = directions.flatMap((each) => labels.map((label) => ({ label, direction: each })));
    return { ways, at: take === 'edge' ? 0 : 1 };
  });
  return () => new WalkInPieces(begin, hops, way.reads);
}

class WalkInPieces implements Walk {
  #from: Uint32Array | undefined;
  #hop = 0;
  #element = 0;
  #way = 0;
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

  /** Whether it is known where the walk begins. That is read as a whole, or anew with more time. */
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

  /** Whether the elements of before have all been left behind. */
  #isMade(frame: Frame, { ways, at }: Hop, end: number): boolean {
    const from = this.#from!;
    for (; this.#element < from.length; this.#element++) {
      const id = from[this.#element]!;
      for (; this.#way < ways.length; this.#way++) {
        const { label, direction } = ways[this.#way]!;
        this.needs = 1 + frame.degree(id, label, direction);
        if (frame.visits + this.needs > end) return false;
        const pairs = frame.adjacency(id, label, direction);
        frame.tick(1 + (pairs.length >>> 1));
        for (let i = at; i < pairs.length; i += 2)
          if (this.#met.add(pairs[i]!)) this.#found.push(pairs[i]!);
      }
      this.#way = 0;
    }
    return true;
  }
}
