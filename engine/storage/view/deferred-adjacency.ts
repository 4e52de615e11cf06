// Defers the adjacency entries of a load. If endpoints are random, nearly every edge of a load changes a
// different page of the lists, and each transaction would write them all. Ten million nodes have 300,000 such
// pages. A load with exclusive access therefore defers its edges. Pages are then written once for millions of
// edges, by ascending element and in transactions of few pages, because LMDB sorts the list of a
// transaction's changed pages by insertion.
//
// Invariant: while lists may lack edges, `metaKey.unlisted` is the oldest edge that they may lack. The edges
// that a list lacks are newer than all that it has. A process that finds this key adds the missing edges from
// the records, starting with that edge, as often as necessary.
import { failpoint } from '../../base/failpoint.js';
import { AdjacencyBuffer } from '../graph/adjacency-buffer.js';
import { fromOf, kindOf, labelOf, toOf } from '../record/record.js';
import type { Env } from '../table/env.js';
import { metaKey } from '../table/meta.js';
import { getWord, putWord } from '../table/little-endian.js';
import type { WriteContext } from './write-context.js';

const room = {
  /** Largest number of edges in memory, 24 bytes each. */
  edges: 8 * 1024 * 1024,
  /** Number of elements whose lists one transaction writes: 10,000 pages and more. */
  elements: 512 * 1024,
};

/** Records per read during recovery. */
const recordsPerRead = 4096;

/** Returns the oldest edge that lists may lack; 0 if they are complete. */
export function oldestDeferredEdge({ meta }: Env): number {
  const value = meta.get(metaKey.unlisted);
  return value === undefined ? 0 : getWord(value, 0);
}

/** Stores, in the transaction that adds these edges, that lists may lack them. */
export function noteDeferred(env: Env, lists: AdjacencyBuffer): void {
  if (lists.count === 0 || oldestDeferredEdge(env) > 0) return;
  const value = new Uint8Array(4);
  putWord(value, 0, lists.first);
  env.meta.put(metaKey.unlisted, value);
}

export class DeferredAdjacency {
  #lists = new AdjacencyBuffer();
  /** Whether lists may lack edges that are no longer in memory, because a transaction failed. */
  #isIncomplete = false;

  constructor(
    private readonly context: WriteContext,
    /** Runs one transaction of the writer. */
    private readonly transact: (work: () => void) => void,
    private readonly capacity = room,
  ) {}

  /** Takes over the deferred edges of a committed transaction. */
  take(lists: AdjacencyBuffer): void {
    this.#lists.addAll(lists);
    if (this.#lists.count >= this.capacity.edges) this.flush();
  }

  /** Writes the deferred edges into the adjacency lists. */
  flush(): void {
    if (this.#isIncomplete) this.recover();
    if (this.#lists.count === 0) return;
    const { hints, totals } = this.context;
    this.#isIncomplete = true;
    this.#write({ of: hints, lastId: totals.state.nextId - 1 });
    this.#end();
    this.#isIncomplete = false;
  }

  /** Lists the edges of an interrupted load. Returns the number of edges that may have been missing. */
  recover(): number {
    const { env } = this.context;
    const first = oldestDeferredEdge(env);
    this.#lists = new AdjacencyBuffer();
    this.#isIncomplete = first > 0;
    if (first === 0) return 0;
    let count = 0;
    const end = this.context.totals.state.nextId;
    for (let start = first; start < end; start += recordsPerRead) {
      const last = Math.min(end, start + recordsPerRead);
      for (const { key, value } of env.records.entries({ start, end: last })) {
        if (kindOf(value) !== 'edge') continue;
        this.#lists.add(labelOf(value), key, fromOf(value), toOf(value));
        count++;
      }
      if (this.#lists.count >= this.capacity.edges) this.#write();
    }
    this.#write();
    this.#end();
    this.#isIncomplete = false;
    return count;
  }

  #write(hints?: { of: WriteContext['hints']; lastId: number }): void {
    const steps = this.#lists.steps(this.context.env, this.capacity.elements, hints);
    for (const step of steps) this.#transact(step);
  }

  #end(): void {
    this.#transact(() => void this.context.env.meta.remove(metaKey.unlisted));
  }

  #transact(work: () => void): void {
    this.transact(() => {
      work();
      failpoint('listEdges');
    });
  }
}
