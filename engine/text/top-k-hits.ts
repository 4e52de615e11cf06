// Keeps the k best of the hits offered to it: a binary heap with the worst on top. Hits are offered
// by ascending id, so one that only equals the worst kept is worse than it.
import type { TextHit } from './text-index-types.js';

export class TopHits {
  readonly #heap: TextHit[] = [];

  constructor(private readonly k: number) {}

  /** A score has to be above this to get in. */
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

  /** Best first. */
  take(): TextHit[] {
    return this.#heap.sort((a, b) => b.score - a.score || a.id - b.id);
  }
}

function isWorse(a: TextHit, b: TextHit): boolean {
  return a.score < b.score || (a.score === b.score && a.id > b.id);
}
