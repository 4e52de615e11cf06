// Keeps the k best of the hits offered to it, in a binary heap with the worst hit on top. Hits are offered by
// ascending id, so a hit that equals the worst one in score ranks below it.
import type { TextHit } from './text-index-types.js';

export class TopHits {
  readonly #heap: TextHit[] = [];

  constructor(private readonly k: number) {}

  /** Only a score above this enters the heap; -1 while it has fewer than k hits. */
  get threshold(): number {
    return this.#heap.length < this.k ? -1 : this.#heap[0]!.score;
  }

  offer(id: number, score: number): void {
    const heap = this.#heap;
    if (score <= this.threshold) return;
    const hit = { id, score };
    if (heap.length < this.k) {
      let at = heap.length;
      heap.push(hit);
      for (let up = (at - 1) >> 1; at > 0 && isWorse(hit, heap[up]!); up = (at - 1) >> 1) {
        heap[at] = heap[up]!;
        heap[up] = hit;
        at = up;
      }
    } else {
      this.#replaceWorst(hit);
    }
  }

  #replaceWorst(hit: TextHit): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isWorse(heap[child + 1]!, heap[child]!)) child++;
      if (!isWorse(heap[child]!, hit)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = hit;
  }

  /** Returns the hits, best first. */
  take(): TextHit[] {
    return this.#heap.sort((a, b) => b.score - a.score || a.id - b.id);
  }
}

function isWorse(a: TextHit, b: TextHit): boolean {
  return a.score < b.score || (a.score === b.score && a.id > b.id);
}
