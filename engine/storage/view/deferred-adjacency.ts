// Edges that the lists of their ends lack for a while. Where ends are at random, nearly every edge of a
// load has a page of the lists of its own, and each transaction would write them all: ten million nodes
// have 300,000 such pages. A load that has the data to itself leaves its edges to later, so that pages
// are written once for millions of edges, by ascending element and in transactions of few pages (LMDB's
// list of the pages that a transaction changes is sorted by insertion).
//
// Invariant: `metaKey.unlisted` has, while lists may lack edges, the oldest one that they may lack. The
// edges that a list lacks are newer than all it has: whoever finds the note adds what is missing of the
// records, from that edge on, as often as need be.
import { failpoint } from '../../base/failpoint.js';
import { AdjacencyBuffer } from '../graph/adjacency-buffer.js';
import { fromOf, kindOf, labelOf, toOf } from '../record/record.js';
import type { Env } from '../table/env.js';
import { metaKey } from '../table/meta.js';
import { getWord, putWord } from '../table/little-endian.js';
import type { WriteContext } from './write-context.js';

const room = {
  /** So many are kept in memory, 24 bytes each. */
  edges: 8 * 1024 * 1024,
  /** Elements whose lists one transaction writes: 10,000 pages and more. */
  elements: 512 * 1024,
};

/** Records that are read at a time where the note was found. */
const recordsAtOnce = 4096;

/** Of an open store: the oldest edge that lists may lack, 0 when they are whole. */
export function oldestDeferredEdge({ meta }: Env): number {
  const value = meta.get(metaKey.unlisted);
  return value === undefined ? 0 : getWord(value, 0);
}

/** Notes, in the transaction that adds them, that these edges are not listed. */
export function noteUnlisted(env: Env, lists: AdjacencyBuffer): void {
  if (lists.count === 0 || oldestDeferredEdge(env) > 0) return;
  const value = new Uint8Array(4);
  putWord(value, 0, lists.first);
  env.meta.put(metaKey.unlisted, value);
}

export class DeferredAdjacency {
  #lists = new AdjacencyBuffer();
  /** A list may lack edges that are here no more: a transaction failed. */
  #isTorn = false;

  constructor(
    private readonly context: WriteContext,
    /** One transaction of the writer's. */
    private readonly transact: (work: () => void) => void,
    private readonly most = room,
  ) {}

  /** Takes the edges of a transaction that was committed, and noted them. */
  take(lists: AdjacencyBuffer): void {
    this.#lists.addAll(lists);
    if (this.#lists.count >= this.most.edges) this.list();
  }

  /** Writes them into the lists. */
  list(): void {
    if (this.#isTorn) this.listFound();
    if (this.#lists.count === 0) return;
    const { hints, totals } = this.context;
    this.#isTorn = true;
    this.#write({ of: hints, lastId: totals.state.nextId - 1 });
    this.#end();
    this.#isTorn = false;
  }

  /** Lists the edges of a load that was cut off; returns how many it may be. */
  listFound(): number {
    const { env } = this.context;
    const first = oldestDeferredEdge(env);
    this.#lists = new AdjacencyBuffer();
    this.#isTorn = first > 0;
    if (first === 0) return 0;
    let count = 0;
    const end = this.context.totals.state.nextId;
    for (let start = first; start < end; start += recordsAtOnce) {
      const last = Math.min(end, start + recordsAtOnce);
      for (const { key, value } of env.records.entries({ start, end: last })) {
        if (kindOf(value) !== 'edge') continue;
        this.#lists.add(labelOf(value), key, fromOf(value), toOf(value));
        count++;
      }
      if (this.#lists.count >= this.most.edges) this.#write();
    }
    this.#write();
    this.#end();
    this.#isTorn = false;
    return count;
  }

  #write(hints?: { of: WriteContext['hints']; lastId: number }): void {
    const steps = this.#lists.steps(this.context.env, this.most.elements, hints);
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
